// Counts rejected requests that a client sends again unchanged.

import { realNow } from "../kernel/clock.ts";
import type { EventLoopLag } from "../kernel/event-loop.ts";
import { isSameRequest, type ObservedCall } from "./observed-call.ts";
import { startOf } from "./retry-evidence.ts";
import { MAX_EQUAL_REJECTIONS } from "./rules/rule.ts";

/** A rejected request and its repeats. */
export interface Rejections {
  readonly calls: ObservedCall[];
  until: number;
  verdict: string | undefined;
}

const MAX_REQUESTS = 100;
/** After this many milliseconds, the same request counts as a new one. Event loop lag is excluded, because calls wait during it. */
const REPEAT_WITHIN = 10_000;
/** Milliseconds for which lag is measured. A busy event loop can take a minute for work that otherwise takes seconds. */
const MEASURED_FOR = 60_000;

/** `onRejection` returns the id of its verdict. */
export function createRejectionTracker(onRejection: (rejections: Rejections) => string | undefined, lag: EventLoopLag) {
  const all: Rejections[] = [];
  const isOver = ({ until }: Rejections, now: number) => until < now && until + lag.total(until - REPEAT_WITHIN, now) < now;
  const expire = (now: number) => {
    while (all[0] && isOver(all[0], now)) all.shift();
  };
  const measure = () => lag.watch(realNow() + MEASURED_FOR);
  const add = (call: ObservedCall) => {
    if (all.length === MAX_REQUESTS) all.shift();
    all.push({ calls: [call], until: call.answered + REPEAT_WITHIN, verdict: undefined });
    measure();
  };
  return {
    isIdle: () => all.length === 0,
    observe(call: ObservedCall) {
      const repeated = all.find(({ calls: [first] }) => first && isSameRequest(first, call));
      for (const one of all) if (one !== repeated && isFirstSinceRejection(one, call)) one.verdict = onRejection(one);
      expire(call.arrived);
      const same = repeated && all.includes(repeated) ? repeated : undefined;
      if (!same) return void (call.rejected && add(call));
      all.splice(all.indexOf(same), 1);
      const last = same.calls.at(-1) as ObservedCall;
      if (!call.rejected || call.status !== last.status) return void (call.rejected && add(call));
      measure();
      // A call sent before the last response does not repeat it.
      if (startOf(call) >= last.answered) same.calls.push(call);
      same.until = call.answered + REPEAT_WITHIN;
      all.push(same);
      if (same.calls.length === MAX_EQUAL_REJECTIONS) same.verdict = onRejection(same);
    },
  };
}

/** Whether this is the client's first other call after a single rejection. */
const isFirstSinceRejection = ({ calls, verdict }: Rejections, call: ObservedCall) =>
  verdict === undefined && calls.length === 1 && calls[0]?.caller === call.caller && calls[0].answered <= call.arrived;
