// The response to a call of the explorer: its status, headers and body, and a link to its request, whose detail has its events and deliveries.

import { unmaskedBodyLines } from "../details/detail-lines.ts";
import { openReference } from "../keys/detail-keys.ts";
import { duration, statusStyles } from "../view/format.ts";
import type { DashboardProps } from "./browser-dashboard.ts";
import { WIDTH } from "./detail-panel.tsx";
import type { Answer } from "./fetch-calls.ts";
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
    </section>
  );
}
