// Counts of requests, delivery attempts and verdicts: all since the last reset, and those still in the logs.

import { type Static, Type } from "../schema/shapes.ts";

const count = (description?: string) => Type.Integer({ minimum: 0, ...(description && { description }) });

export const VerdictCounts = Type.Object({
  pass: count(),
  fail: count(),
  inconclusive: count(),
  failures: Type.Record(Type.Integer(), { description: "How often each rule failed" }),
});

export type VerdictCounts = Readonly<Static<typeof VerdictCounts>>;

/** A reset of one merchant subtracts its counts. */
export const MadeCounts = Type.Object(
  { requests: count(), attempts: count("Delivery attempts"), verdicts: VerdictCounts },
  { description: "Since the last reset. After a restart with a file, it starts from what the file has" },
);

export type MadeCounts = Readonly<Static<typeof MadeCounts>>;

export const KeptCounts = Type.Object(
  { requests: count(), attempts: count("Delivery attempts"), verdicts: count() },
  { description: "How many of those the logs still have" },
);

export const NO_COUNTS: MadeCounts = { requests: 0, attempts: 0, verdicts: { pass: 0, fail: 0, inconclusive: 0, failures: {} } };
