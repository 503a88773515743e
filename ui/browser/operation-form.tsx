// One operation in the explorer: its parameters, key and body as inputs, the call as curl, and the response.

import { useState } from "preact/hooks";
import { type Call, curlOf } from "../../src/client/curl.ts";
import { CONTROL_PREFIX } from "../../src/contracts/paths.ts";
import { machineTime } from "../../src/kernel/clock.ts";
import { allApiKeys, toOptions } from "../panes/controls/form-fields.ts";
import { unmaskedBodyLines } from "../panes/details/detail-lines.ts";
import type { FormValues } from "../panes/overlays/field.ts";
import { copyText } from "../state/updates.ts";
import { sanitize, sanitizeLines } from "../text/cells.ts";
import type { Theme } from "../text/style.ts";
import { AnswerView, NOT_SENT, type Sending } from "./answer-view.tsx";
import { type ApiOperation, filledPath, typeText } from "./api-document.ts";
import { BodyFields } from "./body-fields.tsx";
import type { DashboardProps } from "./browser-dashboard.ts";
import { sendCall } from "./fetch-calls.ts";
import { Field } from "./form-field.tsx";
import { Definitions, WithCode } from "./shared-parts.tsx";
import { StyledLines, WIDTH } from "./styled-text.tsx";

const API_KEY = "api-key";
const IDEMPOTENCY_KEY = "idempotency-key";
const BODY = "body";

/** The calls that were sent since the page was loaded, newest first. A click on one fills in the form again. */
const sent: { operation: ApiOperation; values: FormValues; path: string; status: number | string }[] = [];
const MAX_SENT = 50;

export function OperationForm({ dashboard, operation }: DashboardProps & { operation: ApiOperation }) {
  const { state } = dashboard;
  const keys = allApiKeys(state);
  const [written, setWritten] = useState<FormValues>(() => firstValues(operation));
  const [sending, setSending] = useState<Sending>(NOT_SENT);
  // The keys may be loaded after the form is shown.
  const values: FormValues = { [API_KEY]: keys[0] ?? "", ...written };
  const write = (name: string, text: string) => setWritten((before) => ({ ...before, [name]: text }));
  const inputOf = (name: string, id = name) => ({
    id,
    value: values[name] ?? "",
    onWrite: (text: string) => write(name, text),
  });
  const call = callOf(operation, values);
  const send = async (event: SubmitEvent) => {
    event.preventDefault();
    setSending((last) => ({ ...last, isWaiting: true }));
    const answered = await sendCall(state.target, call).catch(({ message }: Error) => message);
    sent.unshift({
      operation,
      values,
      path: call.path,
      status: typeof answered === "string" ? "no answer" : answered.status,
    });
    sent.splice(MAX_SENT);
    setSending(({ calls }) => ({ calls: calls + 1, isWaiting: false, answer: answered, at: machineTime() }));
  };
  return (
    <form class="operation" onSubmit={(event) => void send(event)}>
      <div class="call">
        <header>
          <h2>{operation.summary}</h2>
          <p>
            <MethodName name={operation.method} /> <code>{operation.path}</code>
          </p>
          <p class="hint">
            <WithCode text={operation.description.replace(`${operation.summary}.`, "").trim()} />
          </p>
        </header>
        {operation.parameters.map(({ name, description = "", required }) => (
          <Field
            key={name}
            field={{ name, help: description }}
            isRequired={required}
            {...inputOf(name, `parameter-${name}`)}
          />
        ))}
        {operation.api === "service" && (
          <Field
            field={{
              name: "API key",
              help: "The merchant that makes the call",
              options: [...toOptions(keys), { value: "", label: "none" }],
            }}
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
        {operation.body !== undefined && <BodyFields fields={operation.fields} {...inputOf(BODY)} />}
        <div class="send">
          <button type="submit" class="primary">
            Send
          </button>
          <button type="button" onClick={() => setWritten(firstValues(operation))}>
            Fill in the example
          </button>
        </div>
      </div>
      <div class="outcome">
        <AnswerView dashboard={dashboard} sending={sending} />
        <SentBefore operation={operation} onChoose={setWritten} />
        <Code dashboard={dashboard} curl={curlOf(state.target, call)} />
        <Responses theme={state.theme} operation={operation} />
      </div>
    </form>
  );
}

function SentBefore({ operation, onChoose }: { operation: ApiOperation; onChoose(values: FormValues): void }) {
  const before = sent.filter((one) => one.operation === operation);
  if (before.length === 0) return null;
  return (
    <details>
      <summary>Sent before</summary>
      <nav class="operation-list" aria-label="Sent before">
        {before.map(({ status, path, values }, index) => (
          <button key={before.length - index} type="button" onClick={() => onChoose(values)}>
            {status} {path} <code>{sanitize((values[BODY] ?? "").replaceAll(/\s+/g, " "))}</code>
          </button>
        ))}
      </nav>
    </details>
  );
}

function Code({ dashboard, curl }: DashboardProps & { curl: string }) {
  const copy = () => dashboard.change((before) => copyText(before, curl, "the call as curl"));
  return (
    <section aria-label="Code">
      <h3>
        As curl <span class="space" />
        <button type="button" onClick={copy}>
          Copy
        </button>
      </h3>
      <pre tabIndex={0}>{sanitizeLines(curl)}</pre>
    </section>
  );
}

/** The documented responses of an operation, each with its fields and an example. */
function Responses({ theme, operation }: { theme: Theme; operation: ApiOperation }) {
  return (
    <section aria-label="Responses">
      <h3>Responses</h3>
      {operation.responses.map(({ status, description, fields, example }) => (
        <details key={status} open={status < "300"}>
          <summary>
            {status} {description}
          </summary>
          <Definitions
            rows={fields.map(({ name, description, schema }) => ({
              name,
              note: typeText(schema),
              text: <WithCode text={description} />,
            }))}
          />
          {example !== undefined && (
            <pre tabIndex={0}>
              <StyledLines lines={unmaskedBodyLines(theme, WIDTH, example)} />
            </pre>
          )}
        </details>
      ))}
    </section>
  );
}

/** The name of a method, shortened so that all names have the same width. */
export const MethodName = ({ name }: { name: string }) => (
  <code class="method">{name === "DELETE" ? "DEL" : name}</code>
);

/** Keys are random, so that no two calls share one by accident. */
const newIdempotencyKey = () =>
  `ui-${Array.from(crypto.getRandomValues(new Uint8Array(8)), (byte) => byte.toString(16).padStart(2, "0")).join("")}`;

const firstValues = ({ parameters, body = "" }: ApiOperation): FormValues => ({
  ...Object.fromEntries(
    parameters.flatMap(({ name, example }) => (example === undefined ? [] : [[name, String(example)]])),
  ),
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
  return {
    method,
    path,
    key: values[API_KEY] || null,
    headers: idempotencyKey ? { "Idempotency-Key": idempotencyKey } : {},
    ...body,
  };
}
