// Prints what the sandbox costs, as ratios to bare node:http measured in turn in the same run. Absolute times mean nothing here.

import { fork } from "node:child_process";
import { once } from "node:events";
import { bytes, load } from "./load.js";

const SLICES = Number(process.env.BENCH_SLICES ?? 7);
const SECONDS = Number(process.env.BENCH_SECONDS ?? 1);

const key = { Authorization: "Bearer sk_test_lodge" };
const payroll = JSON.stringify({
  periodStart: "2026-01-01",
  periodEnd: "2026-01-31",
  payDate: "2026-02-01",
  items: [{ employeeId: "emp_1", grossAmount: 250_000 }],
});
const rule = JSON.stringify({ name: "Weekend", adjustmentType: "percentage", adjustmentValue: 500 });

const cases = [
  { name: "bare node:http, GET", server: "bare", request: () => bytes("GET", "/v1/customers/cus_zoe", key), baseline: "GET" },
  { name: "bare node:http, POST", server: "bare", request: () => bytes("POST", "/v1/rules", key, rule), baseline: "POST" },
  { name: "bare Express, GET", server: "express", request: () => bytes("GET", "/v1/customers/cus_zoe", key), against: "GET" },
  { name: "bare Express, POST", server: "express", request: () => bytes("POST", "/v1/rules", key, rule), against: "POST" },
  {
    name: "GET a record by id, file",
    server: "file",
    request: (_n, ids) => bytes("GET", `/v1/customers/${ids.customer}`, key),
    against: "GET",
    target: 0.4,
  },
  { name: "GET a list of 25, file", server: "file", request: () => bytes("GET", "/v1/payments", key), against: "GET", target: 0.2 },
  {
    name: "POST a pricing rule, file",
    server: "file",
    request: () => bytes("POST", "/v1/hospitality/pricing-rules", key, rule),
    against: "POST",
    target: 0.12,
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
    name: "idempotent replay, file",
    server: "file",
    request: () => bytes("POST", "/v1/hospitality/pricing-rules", { ...key, "Idempotency-Key": "same" }, rule),
    against: "POST",
    ofGet: 0.9,
  },
];

async function open(name) {
  const child = fork(new URL("./servers.js", import.meta.url), [name], { stdio: ["ignore", "inherit", "inherit", "ipc"] });
  const [{ port }] = await once(child, "message");
  return { child, port };
}

async function cpuOf(child) {
  child.send("cpu");
  const [{ cpu }] = await once(child, "message");
  return (cpu.user + cpu.system) / 1_000;
}

async function slice(server, request, ids) {
  const before = await cpuOf(server.child);
  const result = await load({
    port: server.port,
    seconds: SECONDS,
    requests: (n) => request(n, ids).replace(":PORT", `:${server.port}`),
  });
  if (result.refused > 0) throw new Error(`${result.refused} of ${result.answered} requests were not answered with 2xx`);
  return { rate: result.rate, cpu: ((await cpuOf(server.child)) - before) / result.answered };
}

const median = (values) => [...values].sort((one, other) => one - other)[Math.floor(values.length / 2)];

const servers = Object.fromEntries(await Promise.all(["bare", "express", "file", "memory"].map(async (name) => [name, await open(name)])));
const customer = process.env.BENCH_CUSTOMER ?? "cus_zoe";
const results = new Map(cases.map(({ name }) => [name, []]));
for (let turn = 0; turn <= SLICES; turn++) {
  for (const { name, server, request } of cases) {
    const measured = await slice(servers[server], request, { customer });
    if (turn > 0) results.get(name).push(measured);
  }
}
for (const { child } of Object.values(servers)) child.disconnect();

const figure = (name, field) => median(results.get(name).map((measured) => measured[field]));
const baselines = Object.fromEntries(cases.filter(({ baseline }) => baseline).map(({ baseline, name }) => [baseline, name]));

console.log(
  `\n| what (node ${process.versions.node}, ${SLICES} slices of ${SECONDS} s in turn, medians) | rate / bare | CPU per request / bare | target |`,
);
console.log("|---|---|---|---|");
for (const { name, against, baseline, target } of cases) {
  const base = baselines[against ?? baseline];
  const rate = figure(name, "rate") / figure(base, "rate");
  const cpu = figure(name, "cpu") / figure(base, "cpu");
  console.log(`| ${name} | ${rate.toFixed(2)} | ${cpu.toFixed(1)} | ${target ? `>= ${target}` : ""} |`);
}
const replay = figure("idempotent replay, file", "rate") / figure("GET a record by id, file", "rate");
const express = figure("GET a record by id, file", "rate") / figure("bare Express, GET", "rate");
console.log(`\nidempotent replay / GET by id: ${replay.toFixed(2)} (target >= 0.9); GET by id / bare Express: ${express.toFixed(2)}`);
