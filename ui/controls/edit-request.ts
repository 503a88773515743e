// The form that edits a logged request and sends it again.

import type { RequestDetail } from "../../generated/control-api.ts";
import type { ServiceCall } from "../../src/client/service-call.ts";
import { MASK } from "../../src/kernel/mask.ts";
import { type Form, openForm, submission } from "../overlays/form.ts";
import type { StateUpdate, UiState } from "../state/state.ts";
import { toOptions } from "./form-defaults.ts";
import { apiKeyOf, callOf } from "./request-call.ts";

const METHODS = ["GET", "POST", "PUT", "PATCH", "DELETE"];

/** Masked or truncated parts have to be written again. */
const notMasked = (text: string) => (text.includes(MASK) ? "has a masked part: write the real value" : undefined);

export function editRequest(state: UiState, request: RequestDetail): StateUpdate {
  const sent = callOf(request, null, ["content-type"]);
  const initial = {
    method: request.method,
    path: sent.path,
    body: onOneLine(request.request.body),
    idempotencyKey: request.idempotencyKey ?? "",
    key: apiKeyOf(state, request) ?? "",
  };
  return openForm(state, editForm(request, sent, initial), initial);
}

const editForm = (request: RequestDetail, sent: ServiceCall, initial: Readonly<Record<string, string>>): Form => ({
  title: `Edit and resend ${request.id}`,
  fields: (_, { state }) => [
    { name: "body", label: "body", help: "The body, on one line", validate: notMasked },
    {
      name: "path",
      label: "path",
      help: "The path with its query, such as /v1/payments?limit=3",
      validate: (text) => (/^\/[^\s#]*$/.test(text) ? notMasked(text) : "must be a path such as /v1/payments?limit=3"),
    },
    { name: "method", label: "method", help: "The method", options: toOptions([...new Set([request.method, ...METHODS])]) },
    {
      name: "idempotencyKey",
      label: "Idempotency-Key",
      help: "The same key with another body gets 422; an empty one sends none",
      validate: (text) => (/^[\x21-\x7e ]*$/.test(text) ? notMasked(text) : "must consist of ASCII characters"),
    },
    {
      name: "key",
      label: "API key",
      help: "The API key to send it with",
      options: [...toOptions((state.sandbox?.merchants ?? []).flatMap(({ apiKeys }) => apiKeys)), { value: "", label: "none" }],
      allowOther: true,
    },
  ],
  submission({ method = "", path = "", body = "", idempotencyKey = "", key = "" }) {
    const { "Content-Type": contentType = "application/json" } = sent.headers ?? {};
    // Unless it was edited, the body is sent as it was, line breaks included.
    const text = body === initial.body ? request.request.body : body;
    const hasBody = text !== "" && method !== "GET" && method !== "HEAD";
    const headers = {
      ...(idempotencyKey !== "" && { "Idempotency-Key": idempotencyKey }),
      ...(hasBody && { "Content-Type": contentType }),
    };
    const call: ServiceCall = { method, path, key: key === "" ? null : key, headers, ...(hasBody && { body: text }) };
    return submission(call, () => ({ message: `Sent the edited ${request.id}` }));
  },
});

function onOneLine(body: string): string {
  try {
    return JSON.stringify(JSON.parse(body));
  } catch {
    return body.replace(/\s+/g, " ");
  }
}
