// One operation in the explorer: its parameters, key and body as inputs, the call as curl, and the response.

import { useState } from "preact/hooks";
import { CONTROL_PREFIX } from "../../src/contracts/paths.ts";
import { type Call, curlOf } from "../connection/calls.ts";
import { valueOfJson } from "../connection/json-schema.ts";
import { allApiKeys, toOptions } from "../controls/form-fields.ts";
import { type ApiOperation, filledPath } from "../explorer/api-document.ts";
import type { FormValues } from "../overlays/field.ts";
import { copyText } from "../state/updates.ts";
import { sanitizeLines } from "../view/cells.ts";
import { AnswerView } from "./answer-view.tsx";
import type { DashboardProps } from "./browser-dashboard.ts";
import { type Answer, sendCall } from "./fetch-calls.ts";
import { Field } from "./form-field.tsx";
import { Definitions } from "./shared-parts.tsx";

const API_KEY = "api-key";
const IDEMPOTENCY_KEY = "idempotency-key";
const BODY = "body";

export function OperationForm({ dashboard, operation }: DashboardProps & { operation: ApiOperation }) {
  const { state } = dashboard;
  const keys = allApiKeys(state);
  const [written, setWritten] = useState<FormValues>(() => firstValues(operation));
  const [answer, setAnswer] = useState<Answer | string>();
  // The keys may be loaded after the form is shown.
  const values: FormValues = { [API_KEY]: keys[0] ?? "", ...written };
  const write = (name: string, text: string) => setWritten((before) => ({ ...before, [name]: text }));
  const inputOf = (name: string, id = name) => ({ id, value: values[name] ?? "", onWrite: (text: string) => write(name, text) });
  const call = callOf(operation, values);
  const curl = curlOf(state.target, call);
  const send = async (event: SubmitEvent) => {
    event.preventDefault();
    setAnswer("Sending …");
    setAnswer(await sendCall(state.target, call).catch(({ message }: Error) => message));
  };
  return (
    <form class="operation" onSubmit={(event) => void send(event)}>
      <header>
        <h2>{operation.summary}</h2>
        <p>
          <MethodName name={operation.method} /> <code>{operation.path}</code>
        </p>
        <p class="hint">{operation.description.replace(`${operation.summary}.`, "").replaceAll("`", "").trim()}</p>
      </header>
      {operation.parameters.map(({ name, description = "", required }) => (
        <Field key={name} field={{ name, help: description }} isRequired={required} {...inputOf(name, `parameter-${name}`)} />
      ))}
      {operation.api === "service" && (
        <Field
          field={{ name: "API key", help: "The merchant that makes the call", options: [...toOptions(keys), { value: "", label: "none" }] }}
          {...inputOf(API_KEY)}
        />
      )}
      {operation.takesIdempotencyKey && (
        <Field
          field={{ name: "Idempotency-Key", help: "The same key with the same body replays the first response" }}
          {...inputOf(IDEMPOTENCY_KEY)}
        >
          <button type="button" onClick={() => write(IDEMPOTENCY_KEY, newIdempotencyKey())}>
            New
          </button>
        </Field>
      )}
      {operation.body !== undefined && <BodyField fields={operation.fields} {...inputOf(BODY)} />}
      <div class="send">
        <button type="submit" class="primary">
          Send
        </button>
        <button type="button" onClick={() => setWritten(firstValues(operation))}>
          Fill in the example
        </button>
      </div>
      {answer !== undefined && <AnswerView dashboard={dashboard} answer={answer} />}
      <section aria-label="Code">
        <h3>
          As curl <span class="space" />
          <button type="button" onClick={() => dashboard.change((before) => copyText(before, curl, "the call as curl"))}>
            Copy
          </button>
        </h3>
        <pre tabIndex={0}>{sanitizeLines(curl)}</pre>
      </section>
      <section aria-label="Responses">
        <h3>Responses</h3>
        <Definitions
          rows={operation.responses.map(({ status, description }) => ({ name: status, text: description.replaceAll("`", "") }))}
        />
      </section>
    </form>
  );
}

/** The name of a method, shortened so that all names have the same width. */
export const MethodName = ({ name }: { name: string }) => <code class="method">{name === "DELETE" ? "DEL" : name}</code>;

/** Random, so that no two calls share a key by accident. */
const newIdempotencyKey = () =>
  `ui-${Array.from(crypto.getRandomValues(new Uint8Array(8)), (byte) => byte.toString(16).padStart(2, "0")).join("")}`;

const firstValues = ({ parameters, body = "" }: ApiOperation): FormValues => ({
  ...Object.fromEntries(parameters.flatMap(({ name, example }) => (example === undefined ? [] : [[name, String(example)]]))),
  [IDEMPOTENCY_KEY]: newIdempotencyKey(),
  [BODY]: body,
});

function callOf(operation: ApiOperation, values: FormValues): Call {
  const { api, method, takesIdempotencyKey } = operation;
  const path = filledPath(operation, values);
  const body = operation.body === undefined ? {} : { body: values[BODY] };
  // Sends the text unchanged, even if it is not JSON.
  if (api === "control") return { method, path: path.slice(CONTROL_PREFIX.length), ...body } as unknown as Call;
  const idempotencyKey = takesIdempotencyKey && values[IDEMPOTENCY_KEY];
  return { method, path, key: values[API_KEY] || null, headers: idempotencyKey ? { "Idempotency-Key": idempotencyKey } : {}, ...body };
}

function BodyField({ fields, ...input }: Pick<ApiOperation, "fields"> & { id: string; value: string; onWrite(text: string): void }) {
  const { value } = input;
  // An invalid body can still be sent, because a user may want to see how the service rejects it.
  const problem = typeof valueOfJson(value) === "object" ? undefined : "must be an object, in JSON";
  const rows = fields.map(({ name, type, description, isRequired }) => ({
    name,
    note: (
      <>
        <span class="dim"> {type}</span>
        {isRequired && <span class="red"> required</span>}
      </>
    ),
    text: description,
  }));
  return (
    <Field field={{ name: BODY, help: "JSON" }} problem={problem} rows={Math.min(16, Math.max(4, value.split("\n").length + 1))} {...input}>
      {rows.length > 0 && (
        <details>
          <summary>Fields</summary>
          <Definitions rows={rows} />
        </details>
      )}
    </Field>
  );
}
