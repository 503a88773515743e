// One operation in the explorer: its parameters, key and body as inputs, the call as curl, and the response with the events that it caused.

import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { CONTROL_PREFIX } from "../../src/contracts/paths.ts";
import { type Call, curlOf } from "../connection/calls.ts";
import { valueOfJson } from "../connection/json-schema.ts";
import { type ApiOperation, filledPath, type Parameter } from "../explorer/api-document.ts";
import { copyText } from "../state/updates.ts";
import { sanitizeLines } from "../view/cells.ts";
import { AnswerView } from "./answer-view.tsx";
import type { DashboardProps } from "./browser-dashboard.ts";
import { type Answer, sendCall } from "./fetch-calls.ts";
import { Definitions } from "./shared-parts.tsx";

/** The values that the user has written. */
interface Input {
  values: Readonly<Record<string, string>>;
  /** Undefined stands for the first key, because the keys may be loaded after the form is shown. */
  key: string | undefined;
  idempotencyKey: string;
  body: string;
}

export function OperationForm({ dashboard, operation }: DashboardProps & { operation: ApiOperation }) {
  const { state } = dashboard;
  const keys = (state.sandbox?.merchants ?? []).flatMap(({ apiKeys }) => apiKeys);
  const [input, setInput] = useState<Input>(() => firstInput(operation));
  const [answer, setAnswer] = useState<Answer | string>();
  const change = (part: Partial<Input>) => setInput((before) => ({ ...before, ...part }));
  const key = input.key ?? keys[0] ?? "";
  const call = callOf(operation, { ...input, key });
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
      {operation.parameters.map((parameter) => (
        <ParameterInput
          key={parameter.name}
          parameter={parameter}
          value={input.values[parameter.name] ?? ""}
          onWrite={(value) => change({ values: { ...input.values, [parameter.name]: value } })}
        />
      ))}
      {operation.api === "service" && <KeyChoice keys={keys} value={key} onWrite={(key) => change({ key })} />}
      {operation.takesIdempotencyKey && (
        <IdempotencyInput value={input.idempotencyKey} onWrite={(idempotencyKey) => change({ idempotencyKey })} />
      )}
      {operation.body !== undefined && <BodyInput operation={operation} value={input.body} onWrite={(body) => change({ body })} />}
      <div class="send">
        <button type="submit" class="primary">
          Send
        </button>
        <button type="button" onClick={() => setInput(firstInput(operation))}>
          Fill in the example
        </button>
      </div>
      {answer !== undefined && <AnswerView dashboard={dashboard} answer={answer} />}
      <Code dashboard={dashboard} call={call} />
      <section aria-label="Responses">
        <h3>Responses</h3>
        <Definitions
          rows={operation.responses.map(({ status, description }) => ({ name: status, text: description.replaceAll("`", "") }))}
        />
      </section>
    </form>
  );
}

const METHOD_STYLES: Readonly<Record<string, string>> = { GET: "cyan", POST: "green", PATCH: "yellow", PUT: "yellow", DELETE: "magenta" };

/** The name of a method, shortened so that all names have the same width. */
export const MethodName = ({ name }: { name: string }) => (
  <code class={`method ${METHOD_STYLES[name] ?? ""}`}>{name === "DELETE" ? "DEL" : name}</code>
);

/** Random, so that no two calls share a key by accident. */
const newIdempotencyKey = () =>
  `ui-${Array.from(crypto.getRandomValues(new Uint8Array(8)), (byte) => byte.toString(16).padStart(2, "0")).join("")}`;

const firstInput = ({ parameters, body = "" }: ApiOperation): Input => ({
  values: Object.fromEntries(
    parameters.filter(({ example }) => example !== undefined).map(({ name, example }): [string, string] => [name, String(example)]),
  ),
  key: undefined,
  idempotencyKey: newIdempotencyKey(),
  body,
});

function callOf(operation: ApiOperation, { values, key = "", idempotencyKey, body: text }: Input): Call {
  const { api, method, takesIdempotencyKey } = operation;
  const path = filledPath(operation, values);
  const body = operation.body === undefined ? {} : { body: text };
  // Sends the text unchanged, even if it is not JSON.
  if (api === "control") return { method, path: path.slice(CONTROL_PREFIX.length), ...body } as unknown as Call;
  const headers: Record<string, string> = takesIdempotencyKey && idempotencyKey !== "" ? { "Idempotency-Key": idempotencyKey } : {};
  return { method, path, key: key === "" ? null : key, headers, ...body };
}

interface InputProps {
  value: string;
  onWrite(value: string): void;
}

interface FieldProps {
  id: string;
  label: string;
  required?: boolean | undefined;
  hint: string;
  problem?: string | undefined;
  children: ComponentChildren;
  /** Shown below the hint. */
  more?: ComponentChildren;
}

const Field = ({ id, label, required, hint, problem, children, more }: FieldProps) => (
  <div class="field">
    <label for={id}>
      {label}
      {required && <span class="red"> *</span>}
    </label>
    <div>
      {children}
      <p class={problem === undefined ? "hint" : "problem"} id={`${id}-help`}>
        {problem ?? hint}
      </p>
      {more}
    </div>
  </div>
);

interface TextInputProps extends InputProps {
  id: string;
  required?: boolean | undefined;
  placeholder?: string;
}

const TextInput = ({ onWrite, ...attributes }: TextInputProps) => (
  <input {...attributes} spellcheck={false} autocomplete="off" onInput={({ currentTarget }) => onWrite(currentTarget.value)} />
);

const ParameterInput = ({ parameter, ...input }: InputProps & { parameter: Parameter }) => {
  const { name, description = "", required, schema } = parameter;
  const id = `parameter-${name}`;
  return (
    <Field id={id} label={name} required={required} hint={description}>
      <TextInput id={id} required={required} placeholder={schema?.type === "integer" ? "integer" : ""} {...input} />
    </Field>
  );
};

const KeyChoice = ({ keys, value, onWrite }: InputProps & { keys: readonly string[] }) => (
  <Field id="api-key" label="API key" hint="The merchant that makes the call">
    <select id="api-key" value={value} onChange={({ currentTarget }) => onWrite(currentTarget.value)}>
      {keys.map((key) => (
        <option key={key} value={key}>
          {key}
        </option>
      ))}
      <option value="">none</option>
    </select>
  </Field>
);

const IdempotencyInput = (input: InputProps) => (
  <Field id="idempotency-key" label="Idempotency-Key" hint="The same key with the same body replays the first response">
    <span class="beside">
      <TextInput id="idempotency-key" {...input} />
      <button type="button" onClick={() => input.onWrite(newIdempotencyKey())}>
        New
      </button>
    </span>
  </Field>
);

const BodyInput = ({ operation: { fields }, value, onWrite }: InputProps & { operation: ApiOperation }) => {
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
  const help = fields.length > 0 && (
    <details>
      <summary>Fields</summary>
      <Definitions rows={rows} />
    </details>
  );
  return (
    <Field id="body" label="body" hint="JSON" problem={problem} more={help}>
      <textarea
        id="body"
        value={value}
        rows={Math.min(16, Math.max(4, value.split("\n").length + 1))}
        spellcheck={false}
        aria-invalid={problem !== undefined}
        aria-describedby="body-help"
        onInput={({ currentTarget }) => onWrite(currentTarget.value)}
      />
    </Field>
  );
};

function Code({ dashboard, call }: DashboardProps & { call: Call }) {
  const code = curlOf(dashboard.state.target, call);
  return (
    <section aria-label="Code">
      <h3>
        As curl <span class="space" />
        <button type="button" onClick={() => dashboard.change((before) => copyText(before, code, "the call as curl"))}>
          Copy
        </button>
      </h3>
      <pre tabIndex={0}>{sanitizeLines(code)}</pre>
    </section>
  );
}
