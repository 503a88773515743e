// A delivery attempt in words: how it ended and what comes next, in rows and in the details of what it belongs to.

import type { AttemptMessage } from "../../src/contracts/live-messages.ts";
import { countdown, duration } from "../format-numbers.ts";
import { type State, sandboxNow } from "../state/state.ts";
import { fill, harmless, widthOf } from "../terminal/cells.ts";
import { signs, type Tone, tint } from "../terminal/style.ts";

/** As much of an attempt as a line of it tells. */
export type Told = Pick<
  AttemptMessage,
  "url" | "attempt" | "maxAttempts" | "status" | "responseStatus" | "errorCode" | "durationMs" | "nextAttemptAt"
>;

const SHORT: ReadonlyMap<string | null, string> = new Map([
  ["connection_refused", "refused"],
  ["redirect_not_followed", "redirect"],
  ["target_not_allowed", "blocked"],
]);

/** The answer's status, or why there was none, in eight letters at most. */
export function resultOf({ responseStatus, errorCode }: Pick<Told, "responseStatus" | "errorCode">): string {
  if (responseStatus !== null) return String(responseStatus);
  return SHORT.get(errorCode) ?? errorCode ?? "";
}

/** How it ended, in a sign and words. `isLast` says that no later attempt of the same event is known. */
export function endingOf(state: State, { status, nextAttemptAt }: Told, isLast: boolean): [words: string, tones: Tone[]] {
  const { good, bad, unsure } = signs(state.look);
  if (status === "succeeded" && nextAttemptAt === null) return [`${good} delivered`, ["green"]];
  if (nextAttemptAt === null) return isLast ? [`${bad} given up`, ["red"]] : [`${bad} replayed`, ["yellow"]];
  if (!isLast) return [`${unsure} tried again`, ["yellow"]];
  const wait = nextAttemptAt - sandboxNow(state) / 1_000;
  return [wait > 0 ? `${unsure} next in ${countdown(wait)}` : `${unsure} due now`, ["yellow"]];
}

export function attemptLine(state: State, attempt: Told, width: number, isLast = false): string {
  const [words, tones] = endingOf(state, attempt, isLast);
  const took = attempt.durationMs === null ? "" : duration(attempt.durationMs);
  const start = `    ${attempt.attempt}/${attempt.maxAttempts}  ${fill(harmless(resultOf(attempt)), 8)}  ${took.padStart(9)}  `;
  const room = Math.max(0, width - widthOf(start) - 18);
  return start + tint(state.look, fill(words, 17), ...tones) + (room < 8 ? "" : ` ${fill(harmless(attempt.url), room)}`);
}
