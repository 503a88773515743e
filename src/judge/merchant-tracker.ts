// One merchant before the judge: its clients and its receivers, and every rule asked at each moment.

import type { AttemptMessage } from "../contracts/live-messages.ts";
import type { VerdictMessage } from "../contracts/verdict.ts";
import type { EventLoopLag } from "../kernel/clock.ts";
import type { Call } from "./observed-call.ts";
import { openReceivers, type Ears as ReceiverEars, type Receivers } from "./receivers.ts";
import { type Ears as ClientEars, type Lane, openLane } from "./retry-tracker.ts";
import { rules } from "./rules/index.ts";
import { type Finding, first, type Pace, type Rule, SAMPLE } from "./rules/rule.ts";
import { type About, describeVerdict } from "./verdict-log.ts";

/** Requests of strangers share a place. */
export interface Place {
  readonly lane: Lane;
  readonly receivers: Receivers;
}

export type Add = (rule: Rule, finding: Finding, about: About) => void;

export const openPlace = (add: Add, lateness: EventLoopLag): Place => ({
  lane: openLane(clientEars(add, lateness)),
  receivers: openReceivers(receiverEars(add)),
});

/** Lets every rule look. */
function ask(add: Add, about: About, look: (rule: Rule) => Finding | undefined): void {
  for (const rule of rules) {
    const finding = look(rule);
    if (finding) add(rule, finding, about);
  }
}

function clientEars(add: Add, lateness: EventLoopLag): ClientEars {
  const samples = new Map<string, Pace[]>();
  return {
    retried: (retry) => ask(add, aboutCall(retry.to, [retry.from]), (rule) => rule.retried?.(retry)),
    ended: (chain, gaveUp) => ask(add, aboutCall(first(chain), chain.calls), (rule) => rule.ended?.(chain, gaveUp)),
    refused: (call, repeat) => ask(add, aboutCall(call, [call]), (rule) => rule.refused?.(call, repeat)),
    dropped: ({ call, chain }) => ask(add, aboutCall(call, chain.calls), (rule) => rule.waiting?.(chain, 0)),
    owed: ({ deadline }) => lateness.watch(deadline),
    paced(pace) {
      const sample = samples.get(pace.call.caller) ?? [];
      sample.push({ ...pace, late: lateAtItsEnds(pace, lateness) });
      samples.set(pace.call.caller, sample);
      if (sample.length < SAMPLE) return;
      samples.delete(pace.call.caller);
      ask(add, aboutCall(pace.call, [pace.from]), (rule) => rule.paced?.(sample));
    },
  };
}

/** A pause is measured at its ends: what the machine was late in between changes nothing. */
const NEAR = 50;

const lateAtItsEnds = ({ from: { answered }, call: { arrived } }: Omit<Pace, "late">, { worst }: EventLoopLag) =>
  Math.max(worst(answered, answered + NEAR), worst(arrived - NEAR, arrived));

const receiverEars = (add: Add): ReceiverEars => ({
  delivered: (arrival) => ask(add, aboutAttempt(arrival.attempt, arrival.fault), (rule) => rule.delivered?.(arrival)),
  echoed: (echo) => ask(add, aboutAttempt(echo.again, echo.fault), (rule) => rule.echoed?.(echo)),
});

/** The fault is the first that struck one of the calls. */
const aboutCall = ({ merchant, operation, at }: Call, struck: readonly Call[]): About => ({
  merchant,
  operation,
  at,
  fault: struck.find(({ fault }) => fault !== undefined)?.fault,
});

const aboutAttempt = ({ merchant, at }: AttemptMessage, fault: string | undefined): About => ({
  merchant,
  operation: undefined,
  at,
  fault,
});

/** What is to be said at `now` of what is still open, if nothing more came. */
export function openVerdicts({ lane, receivers }: Place, now: number): VerdictMessage[] {
  const found: VerdictMessage[] = [];
  const add: Add = (rule, finding, about) => found.push(describeVerdict(rule, finding, about, null));
  for (const { call, chain } of lane.debts) ask(add, aboutCall(call, chain.calls), (rule) => rule.waiting?.(chain, now - call.answered));
  const ears = receiverEars(add);
  for (const echo of receivers.open()) ears.echoed(echo);
  return found;
}
