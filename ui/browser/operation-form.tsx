// One operation in the explorer: its parameters, key and body as inputs, the call as code, and the answer with what it caused.

import { useState } from "preact/hooks";
import { stopwatch } from "../../src/kernel/clock.ts";
import { openReference } from "../keys/references.ts";
import { copyText, type UiState } from "../state/state.ts";
import { duration } from "../view/format.ts";
import { type ApiOperation, filledPath, type Parameter } from "./api-document.ts";
import type { BrowserDashboard } from "./browser-dashboard.ts";
import { type PlainCall, snippets } from "./call-snippets.ts";
import { newIdempotencyKey } from "./idempotency-key.ts";
import { MethodName } from "./method-name.tsx";

interface OperationProps {
  dashboard: BrowserDashboard;
  operation: ApiOperation;
}

/** What the user has written. */
interface Input {
  values: Readonly<Record<string, string>>;
  key: string;
  idempotencyKey: string;
  body: string;
}

interface Answer {
  status: number;
  ms: number;
  body: string;
  /** The id of the request in the journal; the control plane's own have none. */
  request: string | undefined;
}

export function OperationForm({ dashboard, operation }: OperationProps) {
  const { state } = dashboard;
  const keys = (state.sandbox?.merchants ?? []).flatMap(({ apiKeys }) => apiKeys);
  const [input, setInput] = useState<Input>(() => firstInput(operation, keys));
  const [answer, setAnswer] = useState<Answer | string>();
  const change = (part: Partial<Input>) => setInput((before) => ({ ...before, ...part }));
  const call = callOf(state, operation, input);
  const send = async (event: SubmitEvent) => {
    event.preventDefault();
    setAnswer("Sending …");
    const received = await sendCall(call).catch(() => `No sandbox answers at ${state.target.url}`);
    setAnswer(received);
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
      {operation.api === "service" && <KeyChoice keys={keys} value={input.key} onWrite={(key) => change({ key })} />}
      {operation.takesIdempotencyKey && (
        <IdempotencyInput value={input.idempotencyKey} onWrite={(idempotencyKey) => change({ idempotencyKey })} />
      )}
      {operation.body !== undefined && <BodyInput operation={operation} value={input.body} onWrite={(body) => change({ body })} />}
      <div class="send">
        <button type="submit" class="primary">
          Send
        </button>
        <button type="button" onClick={() => setInput(firstInput(operation, keys))}>
          Fill in the example
        </button>
      </div>
      {answer !== undefined && <AnswerView dashboard={dashboard} answer={answer} />}
      <Code dashboard={dashboard} call={call} />
      <Responses operation={operation} />
    </form>
  );
}

const firstInput = ({ parameters, body = "" }: ApiOperation, keys: readonly string[]): Input => ({
  values: Object.fromEntries(
    parameters.filter(({ example }) => example !== undefined).map(({ name, example }): [string, string] => [name, String(example)]),
  ),
  key: keys[0] ?? "",
  idempotencyKey: newIdempotencyKey(),
  body,
});

function callOf(state: UiState, operation: ApiOperation, { values, key, idempotencyKey, body }: Input): PlainCall {
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

async function sendCall({ method, url, headers, body }: PlainCall): Promise<Answer> {
  const elapsed = stopwatch();
  const response = await fetch(url, { method, headers, cache: "no-store", ...(body !== undefined && { body }) });
  const text = await response.text();
  return {
    status: response.status,
    ms: elapsed(),
    body: indented(text),
    request: response.headers.get("x-sandbox-request-id") ?? undefined,
  };
}

function indented(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
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

const BodyInput = ({ operation: { fields }, value, onWrite }: InputProps & { operation: ApiOperation }) => (
  <div class="field">
    <label for="body">body</label>
    <div>
      <textarea
        id="body"
        value={value}
        rows={Math.min(16, Math.max(4, value.split("\n").length + 1))}
        spellcheck={false}
        onInput={({ currentTarget }) => onWrite(currentTarget.value)}
      />
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

function AnswerView({ dashboard, answer }: { dashboard: BrowserDashboard; answer: Answer | string }) {
  if (typeof answer === "string")
    return (
      <p class="answer hint" role="status">
        {answer}
      </p>
    );
  const { status, ms, body, request } = answer;
  const open = () => dashboard.change((before) => openReference({ ...before, overlays: [] }, { pane: "requests", id: request ?? "" }));
  return (
    <section class="answer" aria-label="Answer">
      <h3>
        <span class={status >= 400 ? "failure" : "green"}>{status}</span> <span class="dim">{duration(ms)}</span>
        <span class="space" />
        {request !== undefined && (
          <button type="button" onClick={open}>
            {request}: events and deliveries ›
          </button>
        )}
      </h3>
      <pre tabIndex={0}>{body}</pre>
    </section>
  );
}

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
      <pre tabIndex={0}>{code}</pre>
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
