// One operation in the explorer: its parameters, key and body as inputs, the call as code, and the answer with what it caused.

import { useState } from "preact/hooks";
import { parseJson } from "../connection/json-schema.ts";
import { type ApiOperation, filledPath, type Parameter } from "../explorer/api-document.ts";
import { type PlainCall, snippets } from "../explorer/call-snippets.ts";
import { copyText, type UiState } from "../state/state.ts";
import { sanitizeLines } from "../view/cells.ts";
import { AnswerView } from "./answer-view.tsx";
import type { BrowserDashboard } from "./browser-dashboard.ts";
import { type Answer, sendCall } from "./fetch-calls.ts";

interface OperationProps {
  dashboard: BrowserDashboard;
  operation: ApiOperation;
}

/** The values that the user has written. */
interface Input {
  values: Readonly<Record<string, string>>;
  /** Undefined until another than the first key is chosen: the keys may come later than the form. */
  key: string | undefined;
  idempotencyKey: string;
  body: string;
}

export function OperationForm({ dashboard, operation }: OperationProps) {
  const { state } = dashboard;
  const keys = (state.sandbox?.merchants ?? []).flatMap(({ apiKeys }) => apiKeys);
  const [input, setInput] = useState<Input>(() => firstInput(operation));
  const [answer, setAnswer] = useState<Answer | string>();
  const change = (part: Partial<Input>) => setInput((before) => ({ ...before, ...part }));
  const key = input.key ?? keys[0] ?? "";
  const call = callOf(state, operation, { ...input, key });
  const send = async (event: SubmitEvent) => {
    event.preventDefault();
    setAnswer("Sending …");
    setAnswer(await sendCall(call).catch(({ message }: Error) => message));
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
      <Code dashboard={dashboard} call={withoutToken(call, operation)} />
      <Responses operation={operation} />
    </form>
  );
}

const METHOD_STYLES: Readonly<Record<string, string>> = { GET: "cyan", POST: "green", PATCH: "yellow", PUT: "yellow", DELETE: "magenta" };

/** The method of an operation, as wide as any other. */
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

function callOf(state: UiState, operation: ApiOperation, { values, key = "", idempotencyKey, body }: Input): PlainCall {
  const credential = operation.api === "service" ? key : (state.target.token ?? "");
  return {
    method: operation.method,
    url: state.target.url + filledPath(operation, values),
    headers: {
      ...(credential !== "" && { Authorization: `Bearer ${credential}` }),
      ...(operation.takesIdempotencyKey && idempotencyKey !== "" && { "Idempotency-Key": idempotencyKey }),
      ...(operation.body !== undefined && { "Content-Type": "application/json" }),
    },
    body: operation.body === undefined ? undefined : body,
  };
}

/** The call with a placeholder for the control token: code is shared. An API key of the sandbox is no secret. */
function withoutToken(call: PlainCall, { api }: ApiOperation): PlainCall {
  const { Authorization, ...headers } = call.headers;
  return api === "service" || Authorization === undefined
    ? call
    : { ...call, headers: { Authorization: "Bearer CONTROL_TOKEN", ...headers } };
}

/** The error in a body. The body is sent all the same, because a user may want to see how the service refuses it. */
function bodyProblem(text: string): string | undefined {
  const parsed = parseJson(text, "an object");
  return "problem" in parsed ? parsed.problem : undefined;
}

interface InputProps {
  value: string;
  onWrite(value: string): void;
}

const ParameterInput = ({
  parameter: { name, description = "", required, schema },
  value,
  onWrite,
}: InputProps & { parameter: Parameter }) => (
  <div class="field">
    <label for={`parameter-${name}`}>
      {name}
      {required && <span class="red"> *</span>}
    </label>
    <div>
      <input
        id={`parameter-${name}`}
        value={value}
        required={required}
        spellcheck={false}
        autocomplete="off"
        placeholder={schema?.type === "integer" ? "integer" : ""}
        onInput={({ currentTarget }) => onWrite(currentTarget.value)}
      />
      <p class="hint">{description}</p>
    </div>
  </div>
);

const KeyChoice = ({ keys, value, onWrite }: InputProps & { keys: readonly string[] }) => (
  <div class="field">
    <label for="api-key">API key</label>
    <div>
      <select id="api-key" value={value} onChange={({ currentTarget }) => onWrite(currentTarget.value)}>
        {keys.map((key) => (
          <option key={key} value={key}>
            {key}
          </option>
        ))}
        <option value="">none</option>
      </select>
      <p class="hint">The merchant that makes the call</p>
    </div>
  </div>
);

const IdempotencyInput = ({ value, onWrite }: InputProps) => (
  <div class="field">
    <label for="idempotency-key">Idempotency-Key</label>
    <div>
      <span class="beside">
        <input
          id="idempotency-key"
          value={value}
          spellcheck={false}
          autocomplete="off"
          onInput={({ currentTarget }) => onWrite(currentTarget.value)}
        />
        <button type="button" onClick={() => onWrite(newIdempotencyKey())}>
          New
        </button>
      </span>
      <p class="hint">The same key with the same body replays the first response</p>
    </div>
  </div>
);

const BodyInput = ({ operation: { fields }, value, onWrite }: InputProps & { operation: ApiOperation }) => {
  const problem = bodyProblem(value);
  return (
    <div class="field">
      <label for="body">body</label>
      <div>
        <textarea
          id="body"
          value={value}
          rows={Math.min(16, Math.max(4, value.split("\n").length + 1))}
          spellcheck={false}
          aria-invalid={problem !== undefined}
          aria-describedby="body-help"
          onInput={({ currentTarget }) => onWrite(currentTarget.value)}
        />
        <p class={problem === undefined ? "hint" : "problem"} id="body-help">
          {problem ?? "JSON"}
        </p>
        {fields.length > 0 && (
          <details>
            <summary>Fields</summary>
            <dl>
              {fields.map(({ name, type, description, isRequired }) => (
                <div key={name}>
                  <dt>
                    <code>{name}</code> <span class="dim">{type}</span>
                    {isRequired && <span class="red"> required</span>}
                  </dt>
                  <dd>{description}</dd>
                </div>
              ))}
            </dl>
          </details>
        )}
      </div>
    </div>
  );
};

function Code({ dashboard, call }: { dashboard: BrowserDashboard; call: PlainCall }) {
  const [language, setLanguage] = useState("curl");
  const code = snippets[language]?.(call) ?? "";
  return (
    <section aria-label="Code">
      <h3>
        <fieldset class="choice">
          <legend class="hidden">Language</legend>
          {Object.keys(snippets).map((name) => (
            <button key={name} type="button" aria-pressed={name === language} onClick={() => setLanguage(name)}>
              {name}
            </button>
          ))}
        </fieldset>
        <span class="space" />
        <button type="button" onClick={() => dashboard.change((before) => copyText(before, code, `the call as ${language}`))}>
          Copy
        </button>
      </h3>
      <pre tabIndex={0}>{sanitizeLines(code)}</pre>
    </section>
  );
}

const Responses = ({ operation: { responses } }: { operation: ApiOperation }) => (
  <section aria-label="Responses">
    <h3>Responses</h3>
    <dl>
      {responses.map(({ status, description }) => (
        <div key={status}>
          <dt>
            <code>{status}</code>
          </dt>
          <dd>{description.replaceAll("`", "")}</dd>
        </div>
      ))}
    </dl>
  </section>
);
