// The cost of the faults and the judge while they are unused. The same sandbox is measured with and without them, in
// alternating slices.

import { call } from "../control-call.js";
import { inRounds, inTurn, open, ratio, SLICES, slice } from "../measure.js";
import { GET } from "../sample-record.js";
import { buildVariants, WITHOUT_FAULTS_AND_JUDGE } from "../variants.js";

/** More slices than in other parts, because the difference is small. */
const TURNS = SLICES * 3;

/** Ten rules that do not match the call, each for a different reason. */
const OTHER_RULES = [
  { match: { operation: "payroll.create" }, action: { type: "lost_response" } },
  { match: { operation: "payments.list" }, action: { type: "rate_limit" } },
  { match: { operation: ["payouts.list", "webhooks.*"] }, action: { type: "status", status: 503 } },
  { match: { merchant: "mer_market" }, action: { type: "status", status: 500 } },
  { match: { merchant: "mer_stage", operation: "customers.get" }, action: { type: "latency", ms: 500 } },
  { match: { key: "sk_test_blank" }, action: { type: "auth" } },
  { match: { header: { "Idempotency-Key": { present: true } } }, action: { type: "idempotency" } },
  { match: { operation: "customers.get", header: { "X-Tenant": "other" } }, action: { type: "connection" } },
  { match: { body: { "/amount": { gt: 100 } } }, action: { type: "status", status: 400 } },
  { match: { event: "payment.succeeded" }, action: { type: "duplicate" } },
];

const WITHOUT = "GET a record by id, without faults and judge";

const cases = [
  { name: WITHOUT, variant: "without" },
  { name: "the same measured again, to show the noise", variant: "without" },
  { name: "with faults and judge, no rule armed", variant: "whole", target: "within noise" },
  { name: "with faults and judge, 10 rules armed that do not match", variant: "whole", rules: OTHER_RULES },
];

export const idle = {
  name: "idle",
  rows: cases.slice(1).map(({ name, target }) => ({
    what: name,
    against: WITHOUT,
    target,
    // A third digit, because the difference is small.
    read: (results) => ({
      figure: ratio(results, name, WITHOUT, "rate").toFixed(3),
      cpu: ratio(results, name, WITHOUT, "cpu").toFixed(3),
    }),
  })),
  async measure() {
    const files = await buildVariants({ whole: [], without: WITHOUT_FAULTS_AND_JUDGE });
    const openAll = async () => new Map(await Promise.all(cases.map((one) => openCase(one, files))));
    return inRounds(
      openAll,
      (servers, turns) => inTurn(cases, ({ name }) => slice(servers.get(name), GET), turns),
      TURNS,
    );
  },
};

async function openCase({ name, variant, rules = [] }, files) {
  const server = await open("variant", { words: [files[variant]] });
  for (const rule of rules) await call(server.port, "POST", "/_sandbox/faults", rule);
  return [name, server];
}
