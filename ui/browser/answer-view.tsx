// The answer to a call of the explorer: its status, duration and time, its headers and its body.

import { useLayoutEffect, useRef } from "preact/hooks";
import { unmaskedBodyLines } from "../panes/details/detail-lines.ts";
import { openReference } from "../panes/keys/detail-keys.ts";
import { duration } from "../text/format.ts";
import type { DashboardProps } from "./browser-dashboard.ts";
import type { Answer } from "./fetch-calls.ts";
import { Definitions } from "./shared-parts.tsx";
import { StyledLines, WIDTH } from "./styled-text.tsx";

export interface Sending {
  /** How many calls of this form have ended. */
  calls: number;
  isWaiting: boolean;
  /** The answer to the last call; a text says why there is none. */
  answer: Answer | string | undefined;
  /** When the last call ended, by the clock of the browser. */
  at: string;
}

export const NOT_SENT: Sending = { calls: 0, isWaiting: false, answer: undefined, at: "" };

/**
 * Scrolls itself into view when a call ends. Screen readers announce its first line, and a short highlight shows that a
 * call has ended even if it got the same answer as the previous call.
 */
export function AnswerView({ dashboard, sending }: DashboardProps & { sending: Sending }) {
  const { calls, isWaiting, answer } = sending;
  const section = useRef<HTMLElement>(null);
  useLayoutEffect(() => {
    if (calls > 0) section.current?.scrollIntoView({ block: "nearest" });
  }, [calls]);
  return (
    <section ref={section} class={`answer ${isWaiting ? "waiting" : ""}`} aria-label="Answer">
      <div class="answer-head">
        {/* A new key for each call makes a new element, so the highlight starts again. */}
        {calls > 0 && <span key={calls} class="highlight" aria-hidden="true" />}
        <h3>Answer</h3>
        <StatusLine sending={sending} />
        <span class="space" />
        <RequestLink dashboard={dashboard} answer={answer} />
      </div>
      {typeof answer === "object" && <Content dashboard={dashboard} answer={answer} />}
    </section>
  );
}

/** `output` is a live region: its element stays while its text changes. */
function StatusLine({ sending: { calls, isWaiting, answer, at } }: { sending: Sending }) {
  const time = at.slice(11, 19);
  return (
    <output>
      {isWaiting && "Sending …"}
      {!isWaiting && calls === 0 && <span class="hint">Send the call to see its answer here.</span>}
      {!isWaiting && typeof answer === "string" && <span class="problem">{`${answer} (${time} UTC)`}</span>}
      {!isWaiting && typeof answer === "object" && (
        <>
          <strong class={`chip ${answer.status < 400 ? "green" : "red"}`}>{answer.status}</strong>{" "}
          <span class="dim">
            {duration(answer.ms)}, at {time} UTC
          </span>
        </>
      )}
    </output>
  );
}

/** Opens the request in the log, whose detail has its events and deliveries. */
function RequestLink({ dashboard, answer }: DashboardProps & Pick<Sending, "answer">) {
  const id = typeof answer === "object" ? answer.requestId : undefined;
  if (id === undefined) return null;
  const open = () => dashboard.change((before) => openReference({ ...before, overlays: [] }, { pane: "requests", id }));
  return (
    <button type="button" onClick={open}>
      {id} ›
    </button>
  );
}

function Content({ dashboard, answer: { headers, body } }: DashboardProps & { answer: Answer }) {
  return (
    <>
      {body === "" && <p class="hint">The body is empty.</p>}
      <pre tabIndex={0} hidden={body === ""}>
        <StyledLines lines={unmaskedBodyLines(dashboard.state.theme, WIDTH, body)} />
      </pre>
      <details>
        <summary>{Object.keys(headers).length} headers</summary>
        <Definitions rows={Object.entries(headers).map(([name, value]) => ({ name, text: <code>{value}</code> }))} />
      </details>
    </>
  );
}
