// What the faults and the judge cost while nobody uses them: the same sandbox with and without them, measured in turn.

import { bytes } from "./load.js";
import { median, open, SECONDS, SLICES, table } from "./measure.js";
import { slice } from "./requests.js";
import { buildBoth } from "./without-console.js";

const request = () => bytes("GET", "/v1/customers/cus_zoe", { Authorization: "Bearer sk_test_lodge" });

/** Many short slices, each case in every place of a turn: what else the machine does falls on all alike. */
const TURNS = SLICES * 8;
const SHORT = SECONDS / 5;

/** Ten rules, each of which has a reason of its own not to match the call. */
const STRANGERS = [
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

const cases = [
  { name: "without faults and judge", server: "without" },
  { name: "without them, once more: the noise", server: "without" },
  { name: "with both, no rule armed", server: "whole", target: "within noise" },
  { name: "with both, 10 rules armed that do not match", server: "whole", rules: STRANGERS },
];

async function openCase({ server, rules = [], ...about }) {
  const opened = await open(server);
  for (const rule of rules) {
    const url = `http://127.0.0.1:${opened.port}/_sandbox/faults`;
    const answer = await fetch(url, { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(rule) });
    if (!answer.ok) throw new Error(await answer.text());
  }
  return { ...about, ...opened, measured: [] };
}

export async function idle() {
  await buildBoth();
  const opened = await Promise.all(cases.map(openCase));
  for (const one of opened) await slice(one, request, SECONDS);
  for (let turn = 0; turn < TURNS; turn++) {
    for (let place = 0; place < opened.length; place++) {
      const one = opened[(turn + place) % opened.length];
      one.measured.push(await slice(one, request, SHORT));
    }
  }
  for (const { child } of opened) child.disconnect();

  const [base] = opened;
  // Of each turn its own ratio: what else the machine did then, it did to both.
  const ratio = ({ measured }, field) => median(measured.map((one, turn) => one[field] / base.measured[turn][field]));
  const rows = opened.map((one) => [one.name, ratio(one, "rate").toFixed(3), ratio(one, "cpu").toFixed(3), one.target ?? ""]);
  return table(["GET a record by id, memory", "rate / without", "CPU / without", "target"], rows);
}
