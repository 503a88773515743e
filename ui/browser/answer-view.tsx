// The response to a call of the explorer: its status, headers and body, with links to its request, events and deliveries.

import { useEffect, useState } from "preact/hooks";
import type { LoggedAttempt, RequestDetail } from "../../generated/control-api.ts";
import { unmaskedBodyLines } from "../details/detail-lines.ts";
import { causedAttemptsCall, causedLines, requestCall } from "../details/request.ts";
import { openReference } from "../keys/detail-keys.ts";
import { duration, statusStyles } from "../view/format.ts";
import type { DashboardProps } from "./browser-dashboard.ts";
import { Line, WIDTH } from "./detail-panel.tsx";
import { type Answer, perform } from "./fetch-calls.ts";
import { Definitions } from "./shared-parts.tsx";
import { StyledLines } from "./styled-text.tsx";

/** `answer` is a text while the call waits for its response, or why it failed. */
export function AnswerView({ dashboard, answer }: DashboardProps & { answer: Answer | string }) {
  if (typeof answer === "string")
    return (
      <p class="answer hint" role="status">
        {answer}
      </p>
    );
  const { status, ms, headers, body, request } = answer;
  const open = () => dashboard.change((before) => openReference({ ...before, overlays: [] }, { pane: "requests", id: request ?? "" }));
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
      {request !== undefined && <Caused key={request} dashboard={dashboard} request={request} />}
    </section>
  );
}

/** Links to the events that the call emitted and to their deliveries. Later attempts are added as they happen. `request` is the id of the call. */
function Caused({ dashboard, request: id }: DashboardProps & { request: string }) {
  const { state } = dashboard;
  const [found, setFound] = useState<{ request: RequestDetail; attempts: LoggedAttempt[] }>();
  const [problem, setProblem] = useState("");
  useEffect(() => {
    const { target } = dashboard.state;
    Promise.all([perform(target, requestCall(id)), perform(target, causedAttemptsCall(id))]).then(
      ([request, attempts]) => setFound({ request: request.body, attempts: attempts.body.data }),
      ({ message }: Error) => setProblem(message),
    );
  }, [id]);
  const lines = found ? causedLines(state, found.request, found.attempts, WIDTH) : [];
  return (
    <section class="caused" aria-label="Events and deliveries">
      <h3>Events and deliveries</h3>
      {problem !== "" && <p class="problem">{problem}</p>}
      {found && lines.length === 0 && <p class="hint">The call emitted no event.</p>}
      {lines.map((line, index) => (
        <Line key={index} dashboard={dashboard} line={line} drawn={typeof line === "string" ? line : line.text} isCurrent={false} />
      ))}
    </section>
  );
}
