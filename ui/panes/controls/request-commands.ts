// The key that edits a logged request and sends it again.

import type { RequestDetail } from "../../../generated/control-api.ts";
import type { ServiceCall } from "../../../src/client/http-transport.ts";
import { apiKeyOf, callOf } from "../../../src/client/logged-request.ts";
import { MASK } from "../../../src/kernel/mask.ts";
import type { StateUpdate, UiState } from "../../state/state.ts";
import { openForm } from "../overlays/form.ts";
import { type Form, submission } from "../overlays/form-view.ts";
import { allApiKeys, toOptions } from "./form-fields.ts";

const METHODS = ["GET", "POST", "PUT", "PATCH", "DELETE"];

export function editRequest(state: UiState, request: RequestDetail): StateUpdate {
  const sent = callOf(request, null, ["content-type"]);
  const initial = {
    method: request.method,
    path: sent.path,
    body: request.request.body.replace(/\s*\n\s*/g, " "),
    idempotencyKey: request.idempotencyKey ?? "",
    key: apiKeyOf(request, state.sandbox?.merchants) ?? "",
  };
  return openForm(state, editForm(request, sent, initial), initial);
}

const editForm = (request: RequestDetail, sent: ServiceCall, initial: Readonly<Record<string, string>>): Form => ({
  title: `Edit and resend ${request.id}`,
  verb: () => "Resend",
  fields: (_, { state }) => [
    { name: "body", help: "The body, on one line" },
    { name: "path", help: "The path with its query, such as /v1/payments?limit=3" },
    { name: "method", help: "The method", options: toOptions([...new Set([request.method, ...METHODS])]) },
    {
      name: "idempotencyKey",
      label: "Idempotency-Key",
      help: "The same key with another body gets 422; an empty one sends none",
    },
    {
      name: "key",
      label: "API key",
      help: "The API key to send it with",
      options: [...toOptions(allApiKeys(state)), { value: "", label: "none" }],
      allowOther: true,
    },
  ],
  confirm: (values) =>
    Object.values(values).some((text) => text.includes(MASK))
      ? {
          question: `Send it with ${MASK} where the request log has masked a secret? Edit it to write the real value.`,
          action: "Send it masked",
          refusal: "Edit it",
        }
      : undefined,
  submission({ method = "", path = "", body = "", idempotencyKey = "", key = "" }) {
    const { "Content-Type": contentType = "application/json" } = sent.headers ?? {};
    // A body that was not edited is sent unchanged, with its line breaks.
    const text = body === initial.body ? request.request.body : body;
    const hasBody = text !== "" && method !== "GET" && method !== "HEAD";
    const headers = {
      ...(idempotencyKey !== "" && { "Idempotency-Key": idempotencyKey }),
      ...(hasBody && { "Content-Type": contentType }),
    };
    const call: ServiceCall = {
      ...{ method, path: path.replace(/^\/?/, "/"), key: key === "" ? null : key, headers },
      ...(hasBody && { body: text }),
    };
    return submission(call, () => ({ message: `Sent the edited ${request.id}` }));
  },
});
