// idempotency.present: a write that may have to be repeated carries an Idempotency-Key from the start.

import { first, type Rule } from "./rule.ts";

export const idempotencyPresent: Rule = {
  id: "idempotency.present",
  severity: "error",
  demands: "Send an Idempotency-Key with every POST and PATCH that you would repeat.",
  hint: "Make one key (a UUID) for each thing that the user wants done, before the first try, and send it with every try.",
  retried({ chain, to }) {
    const call = first(chain);
    if (!call.writes || !call.takesKeys) return undefined;
    const present = call.key !== undefined;
    return {
      verdict: present ? "pass" : "fail",
      says: `${call.request} was repeated as ${to.request}, and was sent with${present ? " an" : "out"} Idempotency-Key.`,
      calls: [call, to],
    };
  },
};
