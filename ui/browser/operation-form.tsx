// One operation in the explorer: its parameters, key and body as inputs, the call as curl, and the response.

import { useState } from "preact/hooks";
import { type Call, curlOf } from "../../src/client/curl.ts";
import { CONTROL_PREFIX } from "../../src/contracts/paths.ts";
import { choicesOf, textOfValue, valueOfJson, valueOfText } from "../connection/json-schema.ts";
import { allApiKeys, toOptions } from "../panes/controls/form-fields.ts";
import { unmaskedBodyLines } from "../panes/details/detail-lines.ts";
import { openReference } from "../panes/keys/detail-keys.ts";
import type { FormField, FormValues } from "../panes/overlays/field.ts";
import { copyText } from "../state/updates.ts";
import { sanitize, sanitizeLines } from "../text/cells.ts";
import { duration, statusStyles } from "../text/format.ts";
import type { Theme } from "../text/style.ts";
import { type ApiField, type ApiOperation, filledPath, typeText } from "./api-document.ts";
import type { DashboardProps } from "./browser-dashboard.ts";
import { type Answer, sendCall } from "./fetch-calls.ts";
import { Field } from "./form-field.tsx";
import { Definitions } from "./shared-parts.tsx";
import { StyledLines, WIDTH } from "./styled-text.tsx";

const API_KEY = "api-key";
const IDEMPOTENCY_KEY = "idempotency-key";
const BODY = "body";

/** The calls that were sent since the page was loaded, newest first: each fills in the form again. */
const sent: { operation: ApiOperation; values: FormValues; path: string; status: number | string }[] = [];
const MAX_SENT = 50;

export function OperationForm({ dashboard, operation }: DashboardProps & { operation: ApiOperation }) {
  const { state } = dashboard;
  const keys = allApiKeys(state);
  const [written, setWritten] = useState<FormValues>(() => firstValues(operation));
  const [answer, setAnswer] = useState<Answer | string>();
  // The keys may be loaded after the form is shown.
  const values: FormValues = { [API_KEY]: keys[0] ?? "", ...written };
  const write = (name: string, text: string) => setWritten((before) => ({ ...before, [name]: text }));
  const inputOf = (name: string, id = name) => ({
    id,
    value: values[name] ?? "",
    onWrite: (text: string) => write(name, text),
  });
  const call = callOf(operation, values);
  const curl = curlOf(state.target, call);
  const send = async (event: SubmitEvent) => {
    event.preventDefault();
    setAnswer("Sending …");
    const answered = await sendCall(state.target, call).catch(({ message }: Error) => message);
    sent.unshift({
      operation,
      values,
      path: call.path,
      status: typeof answered === "string" ? "no answer" : answered.status,
    });
    sent.splice(MAX_SENT);
    setAnswer(answered);
  };
  const before = sent.filter((one) => one.operation === operation);
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
      {answer !== undefined && <AnswerView dashboard={dashboard} answer={answer} />}
      {before.length > 0 && (
        <details>
          <summary>Sent before</summary>
          <nav class="operation-list" aria-label="Sent before">
            {before.map((one, index) => (
              <button key={before.length - index} type="button" onClick={() => setWritten(one.values)}>
                {one.status} {one.path} <code>{sanitize((one.values[BODY] ?? "").replaceAll(/\s+/g, " "))}</code>
              </button>
            ))}
          </nav>
        </details>
      )}
      <section aria-label="Code">
        <h3>
          As curl <span class="space" />
          <button
            type="button"
            onClick={() => dashboard.change((before) => copyText(before, curl, "the call as curl"))}
          >
            Copy
          </button>
        </h3>
        <pre tabIndex={0}>{sanitizeLines(curl)}</pre>
      </section>
      <Responses theme={state.theme} operation={operation} />
    </form>
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
              text: description.replaceAll("`", ""),
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

/** Random, so that no two calls share a key by accident. */
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

/**
 * The response, with a link to its request, whose detail has its events and deliveries. `answer` is a text while the
 * call waits for its response, or why it failed.
 */
function AnswerView({ dashboard, answer }: DashboardProps & { answer: Answer | string }) {
  if (typeof answer === "string")
    return (
      <p class="answer hint" role="status">
        {answer}
      </p>
    );
  const { status, ms, headers, body, request } = answer;
  const open = () =>
    dashboard.change((before) => openReference({ ...before, overlays: [] }, { pane: "requests", id: request ?? "" }));
  return (
    <section class="answer" aria-label="Answer">
      <h3>
        <span class={statusStyles(status).join(" ")}>{status}</span> <span class="dim">{duration(ms)}</span>
        <span class="space" />
        {request !== undefined && (
          <button type="button" onClick={open}>
            {request} ›
          </button>
        )}
      </h3>
      <details>
        <summary>{Object.keys(headers).length} headers</summary>
        <Definitions rows={Object.entries(headers).map(([name, value]) => ({ name, text: <code>{value}</code> }))} />
      </details>
      {body === "" && <p class="hint">The body is empty.</p>}
      <pre tabIndex={0} hidden={body === ""}>
        <StyledLines lines={unmaskedBodyLines(dashboard.state.theme, WIDTH, body)} />
      </pre>
    </section>
  );
}

/**
 * A field for each property, beside the body as text. A text that is not an object can be sent too, to see how the
 * service rejects it.
 */
function BodyFields({
  fields,
  value,
  onWrite,
}: {
  fields: readonly ApiField[];
  value: string;
  onWrite(text: string): void;
}) {
  // The text that was typed into a field, until the body is changed elsewhere: its JSON may be written differently.
  const [typed, setTyped] = useState({ name: "", text: "", body: "" });
  const body = valueOfJson(value) as Readonly<Record<string, unknown>>;
  const isObject = typeof body === "object" && body !== null;
  const textIn = (name: string) =>
    typed.name === name && typed.body === value ? typed.text : textOfValue(body[name] ?? "");
  const write = (field: ApiField, text: string) => {
    const changed = withProperty(body, field, text);
    setTyped({ name: field.name, text, body: changed });
    onWrite(changed);
  };
  const shown = isObject ? fields.filter(({ name }) => !name.includes(".")) : [];
  return (
    <div class="body">
      <div>
        {shown.map((field) => (
          <Field
            key={field.name}
            field={formFieldOf(field)}
            id={`body-${field.name}`}
            isRequired={field.isRequired}
            value={textIn(field.name)}
            onWrite={(text) => write(field, text)}
          />
        ))}
      </div>
      <Field
        field={{ name: BODY, help: "JSON" }}
        problem={isObject ? undefined : "must be an object, in JSON"}
        rows={Math.max(4, value.split("\n").length + 1)}
        {...{ id: BODY, value, onWrite }}
      />
    </div>
  );
}

function formFieldOf({ name, description, schema = {} }: ApiField): FormField {
  const choices = choicesOf(schema);
  const help = `${description}${description && ". "}${choices ? "" : typeText(schema)}`.replaceAll("`", "");
  return {
    name,
    help,
    ...(choices && { options: [{ value: "", label: "-", help }, ...choices.map((value) => ({ value, help }))] }),
  };
}

/** The body with a property of this text; without it if the text is empty. */
function withProperty(body: Readonly<Record<string, unknown>>, { name, schema = {} }: ApiField, text: string): string {
  const { [name]: _, ...others } = body;
  return JSON.stringify(text === "" ? others : { ...body, [name]: valueOfText(schema, text) }, null, 2);
}
