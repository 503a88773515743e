// Idempotency keys as the real service treats them: for how long a response is replayed, and whether it is replayed at all.

import type { Operation } from "../store/operation-context.ts";
import type { AdoptedFacts } from "./adopted-facts.ts";

/** A service that ignores the header gives each call its own effect. */
const IGNORED = "a second effect";

/** A login is replayed at most for as long as its token lasts. */
export function adoptedReplay(operation: Operation, facts: AdoptedFacts): Pick<Operation, "idempotent" | "replayWindow"> {
  const { id, idempotent, replayWindow } = operation;
  const seconds = facts.number("idempotency.seconds", id);
  return {
    idempotent: idempotent && facts.text("idempotency.replay", id) !== IGNORED,
    replayWindow: seconds === undefined ? replayWindow : Math.min(replayWindow ?? Infinity, seconds * 1_000),
  };
}

/** The status with which the service refuses a second call with the key of a first one; undefined if it replays the response. */
export function replayRefusal(facts: AdoptedFacts, operation: string | undefined): number | undefined {
  const status = /^refused with (\d+)$/.exec(facts.text("idempotency.replay", operation) ?? "")?.[1];
  return status === undefined ? undefined : Number(status);
}
