// What a request costs: the rate and the CPU time of each kind, as ratios to bare node:http measured in turn with it.

import { bytes, load } from "./load.js";
import { cpuOf, median, open, SECONDS, SLICES, table } from "./measure.js";

const key = { Authorization: "Bearer sk_test_lodge" };
const payroll = JSON.stringify({
  periodStart: "2026-01-01",
  periodEnd: "2026-01-31",
  payDate: "2026-02-01",
  items: [{ employeeId: "emp_1", grossAmount: 250_000 }],
});
const rule = JSON.stringify({ name: "Weekend", adjustmentType: "percentage", adjustmentValue: 500 });

const GET = "GET a record by id, file";
const REPLAY = "idempotent replay, file";

const cases = [
  { name: "bare node:http, GET", server: "bare", request: () => bytes("GET", "/v1/customers/cus_zoe", key), baseline: "GET" },
  { name: "bare node:http, POST", server: "bare", request: () => bytes("POST", "/v1/rules", key, rule), baseline: "POST" },
  { name: "bare Express, GET", server: "express", request: () => bytes("GET", "/v1/customers/cus_zoe", key), against: "GET" },
  { name: "bare Express, POST", server: "express", request: () => bytes("POST", "/v1/rules", key, rule), against: "POST" },
  {
    name: GET,
    server: "file",
    request: () => bytes("GET", "/v1/customers/cus_zoe", key),
    against: "GET",
    target: ">= 0.40",
  },
  { name: "GET a list of 25, file", server: "file", request: () => bytes("GET", "/v1/payments", key), against: "GET", target: ">= 0.20" },
  {
    name: "POST a pricing rule, file",
    server: "file",
    request: () => bytes("POST", "/v1/hospitality/pricing-rules", key, rule),
    against: "POST",
    target: ">= 0.12",
  },
  {
    name: "POST a payroll with its key, file",
    server: "file",
    request: (n) => bytes("POST", "/v1/employees/payroll", { ...key, "Idempotency-Key": `run-${process.pid}-${n}` }, payroll),
    against: "POST",
  },
  {
    name: "POST a pricing rule, memory",
    server: "memory",
    request: () => bytes("POST", "/v1/hospitality/pricing-rules", key, rule),
    against: "POST",
  },
  {
    name: REPLAY,
    server: "file",
    request: () => bytes("POST", "/v1/hospitality/pricing-rules", { ...key, "Idempotency-Key": "same" }, rule),
    against: "POST",
    ofGet: 0.9,
  },
];

/** What a server does in one slice of time. */
export async function slice(server, request, seconds = SECONDS) {
  const before = await cpuOf(server);
  const result = await load({
    port: server.port,
    seconds,
    requests: (n) => request(n).replace(":PORT", `:${server.port}`),
  });
  if (result.refused > 0) throw new Error(`${result.refused} of ${result.answered} requests were not answered with 2xx`);
  return { rate: result.rate, cpu: ((await cpuOf(server)) - before) / result.answered };
}

export async function requests() {
  const names = ["bare", "express", "file", "memory"];
  const servers = Object.fromEntries(await Promise.all(names.map(async (name) => [name, await open(name)])));
  const results = new Map(cases.map(({ name }) => [name, []]));
  for (let turn = 0; turn <= SLICES; turn++) {
    for (const { name, server, request } of cases) {
      const measured = await slice(servers[server], request);
      if (turn > 0) results.get(name).push(measured);
    }
  }
  for (const { child } of Object.values(servers)) child.disconnect();

  const figure = (name, field) => median(results.get(name).map((measured) => measured[field]));
  const baselines = Object.fromEntries(cases.filter(({ baseline }) => baseline).map(({ baseline, name }) => [baseline, name]));
  const rows = cases.map(({ name, against, baseline, target }) => {
    const base = baselines[against ?? baseline];
    const [rate, cpu] = ["rate", "cpu"].map((field) => figure(name, field) / figure(base, field));
    return [name, rate.toFixed(2), cpu.toFixed(1), target ?? ""];
  });
  const replay = figure(REPLAY, "rate") / figure(GET, "rate");
  const express = figure(GET, "rate") / figure("bare Express, GET", "rate");
  rows.push(["idempotent replay, against GET by id", replay.toFixed(2), "", ">= 0.9"]);
  rows.push(["GET by id, against bare Express", express.toFixed(2), "", ">= 0.9"]);
  return table(["request", "rate / bare", "CPU per request / bare", "target"], rows);
}
