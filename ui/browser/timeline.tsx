// A run as a picture: requests, deliveries and verdicts on one axis, with what failed and what a fault struck.

import type { AttemptMessage, RequestMessage } from "../../src/contracts/live-messages.ts";
import type { VerdictMessage } from "../../src/contracts/verdict.ts";
import { verdictId } from "../details/verdict-lines.ts";
import { sanitize } from "../terminal/cells.ts";
import { count, timeOfDay } from "../view/format.ts";

/** A mark on the timeline. */
export interface Mark {
  at: number;
  id: string;
  pane: string;
  tone: "green" | "red" | "yellow" | "magenta";
  label: string;
}

/** More marks than this in a lane cover each other. */
const MAX_MARKS = 400;
const WIDTH = 1_000;
const LANE_HEIGHT = 46;
const AXIS_HEIGHT = 24;
/** A run of one moment still has an axis. */
const MIN_SPAN_MS = 1_000;

export interface TimelineProps {
  requests: readonly TimelineRequest[];
  attempts: readonly TimelineAttempt[];
  verdicts: readonly VerdictMessage[];
  /** Default: marks cannot be opened. */
  onOpen?(mark: Mark): void;
}

/** The fields that the picture shows; a report has no others of an attempt. */
export type TimelineRequest = Omit<RequestMessage, "query" | "operation" | "merchant">;
export type TimelineAttempt = Pick<
  AttemptMessage,
  "id" | "at" | "eventType" | "attempt" | "status" | "nextAttemptAt" | "responseStatus" | "errorCode"
>;

export function Timeline({ requests, attempts, verdicts, onOpen = () => {} }: TimelineProps) {
  const lanes = [
    { title: "Requests", marks: requests.map(markOfRequest) },
    { title: "Retries and replays", marks: requests.filter(isRepeat(requests)).map(markOfRequest) },
    { title: "Affected by faults", marks: requests.filter(({ fault }) => fault !== null).map(markOfFault) },
    { title: "Deliveries", marks: attempts.map(markOfAttempt) },
    { title: "Verdicts", marks: verdicts.map(markOfVerdict) },
  ].map(({ title, marks }) => ({ title, marks: marks.slice(-MAX_MARKS) }));
  const times = lanes.flatMap(({ marks }) => marks.map(({ at }) => at));
  if (times.length === 0) return <p class="hint">No requests yet. What clients do appears here, as it happens.</p>;
  const start = Math.min(...times);
  const span = Math.max(MIN_SPAN_MS, Math.max(...times) - start);
  return (
    <div class="timeline">
      <Legend />
      {lanes.map((lane) => (
        <Lane key={lane.title} {...lane} start={start} span={span} onOpen={onOpen} />
      ))}
      <Axis start={start} span={span} />
    </div>
  );
}

const Legend = () => (
  <span class="legend">
    <i class="green">succeeded</i> <i class="yellow">4xx, retry pending</i> <i class="red">failed</i> <i class="magenta">fault</i>
  </span>
);

interface LaneProps {
  title: string;
  marks: readonly Mark[];
  start: number;
  span: number;
  onOpen(mark: Mark): void;
}

/** Pointers open a mark; by keyboard, the panes have the same rows. */
function Lane({ title, marks, start, span, onOpen }: LaneProps) {
  const x = (at: number) => 4 + ((at - start) / span) * (WIDTH - 8);
  return (
    <div class="lane">
      <span class="lane-title">
        {title} <span class="dim">{count(marks.length)}</span>
      </span>
      <svg viewBox={`0 0 ${WIDTH} ${LANE_HEIGHT}`} preserveAspectRatio="none" role="img" aria-label={`${title}: ${count(marks.length)}`}>
        <line x1="0" x2={WIDTH} y1={LANE_HEIGHT / 2} y2={LANE_HEIGHT / 2} />
        {marks.map((mark) => (
          <rect
            key={mark.id}
            class={`mark ${mark.tone}`}
            x={x(mark.at) - 2}
            y={mark.tone === "green" ? 14 : 7}
            width="4"
            height={mark.tone === "green" ? 18 : 32}
            rx="1"
            onClick={() => onOpen(mark)}
          >
            <title>{sanitize(mark.label)}</title>
          </rect>
        ))}
      </svg>
    </div>
  );
}

const TICKS = 6;

const Axis = ({ start, span }: { start: number; span: number }) => (
  <div class="lane axis" style={{ height: `${AXIS_HEIGHT}px` }}>
    <span class="lane-title" />
    <span class="ticks">
      {Array.from({ length: TICKS }, (_, index) => (
        <span key={index}>{timeOfDay(start + (span * index) / (TICKS - 1)).slice(0, span < 60_000 ? 12 : 8)}</span>
      ))}
    </span>
  </div>
);

const markOfRequest = ({ id, at, method, path, status, durationMs }: TimelineRequest): Mark => ({
  id,
  at,
  pane: "requests",
  tone: status === 0 || status >= 500 ? "red" : status >= 400 ? "yellow" : "green",
  label: `${timeOfDay(at)} ${method} ${path} ${status || "no response"}, ${durationMs.toFixed(1)} ms`,
});

const markOfFault = (request: TimelineRequest): Mark => ({ ...markOfRequest(request), tone: "magenta" });

function markOfAttempt({ id, at, eventType, attempt, status, nextAttemptAt, responseStatus, errorCode }: TimelineAttempt): Mark {
  const tone = status === "succeeded" ? "green" : nextAttemptAt === null ? "red" : "yellow";
  return {
    id,
    at,
    pane: "deliveries",
    tone,
    label: `${timeOfDay(at)} ${eventType}, attempt ${attempt}: ${responseStatus ?? errorCode ?? ""}`,
  };
}

function markOfVerdict(verdict: VerdictMessage): Mark {
  const { at, rule, says, verdict: judged } = verdict;
  const tone = judged === "pass" ? "green" : judged === "fail" ? "red" : "yellow";
  return { id: verdictId(verdict), at, pane: "verdicts", tone, label: `${rule}: ${judged}. ${says}` };
}

/** Requests that repeat an earlier one under the same Idempotency-Key, or were replayed. */
function isRepeat(requests: readonly TimelineRequest[]): (request: TimelineRequest) => boolean {
  const first = new Map<string, string>();
  for (const { id, idempotencyKey } of requests) if (idempotencyKey !== null && !first.has(idempotencyKey)) first.set(idempotencyKey, id);
  return ({ id, idempotencyKey, replayOf }) => replayOf !== null || (idempotencyKey !== null && first.get(idempotencyKey) !== id);
}
