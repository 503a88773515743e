// Records sessions with the stand-ins for the real service, and reads the results of comparing them with the sandbox.

import type { Comparison } from "../../../src/compare/compare.ts";
import { readHar, readWebhooks } from "../../../src/compare/read-recording.ts";
import type { Recording } from "../../../src/compare/recording.ts";
import { comparedSandbox } from "../../../src/sandbox/documents.ts";
import type { Behaviour } from "./behaviour.ts";
import { type Difference, differences } from "./differences.ts";
import { inOtherHand, type Trait } from "./other-hand.ts";
import { createRealService } from "./service.ts";
import { recordSession } from "./session.ts";

export const sandbox = comparedSandbox();

/** Switches on all chosen differences. */
export const changeTo =
  (chosen: readonly Difference[]) =>
  (to: Behaviour): void => {
    for (const { change } of chosen) change(to);
  };

export const everyDifference = changeTo(differences);

/** The HAR of a session with the changed service. It contains the calls, but no webhooks. */
export const harOf = (change?: (behaviour: Behaviour) => void): object => recordSession(createRealService(change)).har;

/** The recording of a session with the changed service, rewritten with these habits of the second stand-in. */
export function recordingOf(change?: (behaviour: Behaviour) => void, habits: readonly Trait[] = []): Recording {
  const { har, webhooks } = inOtherHand(recordSession(createRealService(change)), habits);
  return {
    ...readHar(JSON.stringify(har), "service.har"),
    deliveries: readWebhooks(`${webhooks.join("\n")}\n`, "received.jsonl"),
  };
}

/** The ids of the contradicted facts. */
export const contradictedIn = ({ verdicts }: Comparison): string[] =>
  verdicts
    .filter(({ verdict }) => verdict === "contradicted" || verdict === "against_document")
    .map(({ fact }) => fact.id);
