// The response to a call of the explorer: its status, headers and body, and the way to its request, events and deliveries.

import { unmaskedBodyLines } from "../details/detail-lines.ts";
import { openReference } from "../keys/references.ts";
import { duration } from "../view/format.ts";
import type { BrowserDashboard } from "./browser-dashboard.ts";
import type { Answer } from "./send-call.ts";
import { StyledText } from "./styled-text.tsx";

/** Wider than any line, because the browser wraps lines itself. */
const WIDTH = 600;

interface AnswerProps {
  dashboard: BrowserDashboard;
  /** A text while there is no response, or why there is none. */
  answer: Answer | string;
}

export function AnswerView({ dashboard, answer }: AnswerProps) {
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
        <span class={status >= 400 ? "failure" : "green"}>{status}</span> <span class="dim">{duration(ms)}</span>
        <span class="space" />
        {request !== undefined && (
          <button type="button" onClick={open}>
            {request}: events and deliveries ›
          </button>
        )}
      </h3>
      <details>
        <summary>{Object.keys(headers).length} headers</summary>
        <dl>
          {Object.entries(headers).map(([name, value]) => (
            <div key={name}>
              <dt>
                <code>{name}</code>
              </dt>
              <dd>
                <code>{value}</code>
              </dd>
            </div>
          ))}
        </dl>
      </details>
      {body === "" && <p class="hint">The body is empty.</p>}
      <pre tabIndex={0} hidden={body === ""}>
        {unmaskedBodyLines(dashboard.state.theme, WIDTH, body).map((line, index) => (
          <div key={index}>
            <StyledText text={line} />
          </div>
        ))}
      </pre>
    </section>
  );
}
