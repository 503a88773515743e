// What keys do with a delivery: replay it, replay all that were given up, copy it, copy the check of its signature.

import type { AttemptMessage } from "../../src/contracts/live-messages.ts";
import { checkOf, isSame, type WholeAttempt, wholeAttempt } from "../details/delivery.ts";
import { count } from "../format-numbers.ts";
import { confirm } from "../overlays/confirm.ts";
import type { Row } from "../state/list.ts";
import { type Action, also, calls, type Effect, just, laid, listOf, type State, type Step, say } from "../state/state.ts";
import { type Call, curlOf, inPath } from "../wire/control-calls.ts";
import { copyKey } from "./copy-key.ts";

type Chosen = (state: State) => AttemptMessage | undefined;

export const deliveryActions = (chosen: Chosen): readonly Action[] => [
  {
    keys: ["r"],
    label: "replay",
    words: "deliver once more: the same event and bytes, to the same endpoint",
    can: (state) => chosen(state) !== undefined,
    run(state) {
      const attempt = chosen(state);
      return attempt ? calls(state, replay(attempt), () => `Replayed ${attempt.eventType} to ${attempt.url}`) : just(state);
    },
  },
  {
    keys: ["R"],
    label: "replay all",
    words: "replay every delivery of the list that was given up",
    can: (state) => givenUp(listOf(state, "deliveries").rows).length > 0,
    run: replayAll,
  },
  {
    keys: ["y"],
    label: "curl",
    words: "copy the delivery as curl, as the receiver got it",
    can: (state) => chosen(state) !== undefined,
    run: (state) => whole(state, chosen(state), "Copied the delivery as curl", curlOfAttempt),
  },
  {
    keys: ["v"],
    label: "check",
    words: "copy a line of openssl that checks the signature",
    can: (state) => chosen(state) !== undefined,
    run: (state) => whole(state, chosen(state), "Copied the check of the signature: it wants WEBHOOK_SECRET", checkOf),
  },
  copyKey((state) => chosen(state)?.merchant),
];

const replay = ({ id }: AttemptMessage): Call => ({ method: "POST", path: `/deliveries/${inPath(id)}/replay`, body: {} });

function replayAll(state: State): Step {
  const dead = givenUp(listOf(state, "deliveries").rows);
  const [first] = dead;
  if (!first) return just(say(state, "No delivery was given up", "yellow"));
  const what = `${count(dead.length)} given-up ${dead.length === 1 ? "delivery" : "deliveries"}`;
  const yes = (later: State): Step => {
    const steps = dead.map((attempt) => calls(later, replay(attempt), () => `Replayed ${what}`));
    return {
      state: say(steps.at(-1)?.state ?? later, `Replaying ${what} …`, "dim"),
      effects: steps.flatMap(({ effects }): readonly Effect[] => effects),
    };
  };
  return just(laid(state, confirm(`Replay ${what}? One call like this for each:`, replay(first), yes)));
}

const known = new WeakMap<readonly Row[], readonly AttemptMessage[]>();

/** Of each event and endpoint the last attempt, where that failed and none follows. */
export function givenUp(rows: readonly Row[]): readonly AttemptMessage[] {
  const before = known.get(rows);
  if (before) return before;
  const last = lastAttempts(rows);
  const dead = [...last.values()].filter(({ status, nextAttemptAt }) => status !== "succeeded" && nextAttemptAt === null);
  known.set(rows, dead);
  return dead;
}

const lasts = new WeakMap<readonly Row[], ReadonlyMap<string, AttemptMessage>>();

function lastAttempts(rows: readonly Row[]): ReadonlyMap<string, AttemptMessage> {
  const before = lasts.get(rows);
  if (before) return before;
  const last = new Map(rows.map(({ value }) => [placeOf(value as AttemptMessage), value as AttemptMessage]));
  lasts.set(rows, last);
  return last;
}

const placeOf = ({ eventId, endpointId }: AttemptMessage) => `${eventId} ${endpointId}`;

/** Whether no later attempt of the same event to the same endpoint is known. */
export function isLast(rows: readonly Row[], attempt: AttemptMessage): boolean {
  const last = lastAttempts(rows).get(placeOf(attempt));
  return last === undefined || last.id === attempt.id || !isSame(last, attempt);
}

/** The log's copy of an attempt, made into text for the clipboard. */
function whole(state: State, attempt: AttemptMessage | undefined, words: string, textOf: (attempt: WholeAttempt) => string): Step {
  if (!attempt) return just(state);
  const done = (later: State, { body }: { body: unknown }): Step =>
    also(say(later, words), { kind: "copy", text: textOf((body as { attempt: WholeAttempt }).attempt) });
  return also(say(state, `Fetching ${attempt.id} …`, "dim"), { kind: "call", call: wholeAttempt(attempt.id), done });
}

/** What curl says of its own accord, or of a connection of its own. */
const CURLS_OWN = new Set(["content-length", "accept-encoding", "user-agent"]);

function curlOfAttempt({ url, requestHeaders, requestBody }: WholeAttempt): string {
  const headers = Object.fromEntries(Object.entries(requestHeaders).filter(([name]) => !CURLS_OWN.has(name.toLowerCase())));
  return curlOf({ url, token: undefined }, { method: "POST", path: "", key: null, headers, body: requestBody });
}
