// Counts rejected requests that a client sends again unchanged.

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
/** The same request later than this counts as a new one. */
const REPEAT_WITHIN = 10_000;

/** `onRejection` returns the id of its verdict. */
export function createRejectionTracker(onRejection: (rejections: Rejections) => string | undefined) {
  const all: Rejections[] = [];
  const expire = (now: number) => {
    while (all[0] && all[0].until < now) all.shift();
  };
  const add = (call: ObservedCall) => {
    if (all.length === MAX_REQUESTS) all.shift();
    all.push({ calls: [call], until: call.answered + REPEAT_WITHIN, verdict: undefined });
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
      // A call that was sent before the last response is no repeat of it.
      if (startOf(call) >= last.answered) same.calls.push(call);
      same.until = call.answered + REPEAT_WITHIN;
      all.push(same);
      if (same.calls.length === MAX_EQUAL_REJECTIONS) same.verdict = onRejection(same);
    },
  };
}

/** Whether the client goes on with another call after one rejection. */
const isFirstSinceRejection = ({ calls, verdict }: Rejections, call: ObservedCall) =>
  verdict === undefined && calls.length === 1 && calls[0]?.caller === call.caller && calls[0].answered <= call.arrived;
