// The judge's verdicts on HTTP libraries with their default configuration: creates docs/clients.md again and compares it.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { sleep } from "../support/clients/client.ts";
import { type Library, type LibraryCall, libraries } from "../support/clients/libraries.ts";
import { clientsPage, type Row } from "../support/clients/page.ts";
import { type ClientTrial, eachCall, type FoundVerdict, openClientTrial } from "../support/clients/trial.ts";
import { type Bench, share } from "../support/sandbox.ts";

const LIMITED = { type: "rate_limit", retryAfter: 1 };
const LOST = { type: "lost_response", as: "reset" };
/** Time the judge waits for a retry after a response without Retry-After. */
const PATIENCE = 15_400;

/** Milliseconds between first attempts, so that no call delays the retry of another. */
const APART = 40;

interface Situation {
  name: string;
  fault?: [action: Record<string, unknown>, times: number];
  calls: Pick<LibraryCall, "method" | "url" | "body">[];
  rules: string[];
}

const read = { method: "GET", url: "/payments" } as const;
const write = {
  method: "POST",
  url: "/hospitality/pricing-rules",
  body: { name: "Low", adjustmentType: "fixed", adjustmentValue: 5 },
} as const;
const reads = Array.from({ length: 20 }, (_, number) => ({ method: "GET" as const, url: `/payments?limit=${number + 1}` }));

const situations: Situation[] = [
  {
    name: "GET, 429 with `Retry-After: 1`",
    fault: [LIMITED, 1],
    calls: [read],
    rules: ["retry.happened", "retry_after.honoured", "retry_after.unit", "retry.bounded"],
  },
  {
    name: "GET, 500 twice",
    fault: [{ type: "status", status: 500 }, 2],
    calls: reads,
    rules: ["retry.happened", "retry.backoff_grows", "retry.jittered"],
  },
  { name: "GET, response lost", fault: [LOST, 1], calls: [read], rules: ["retry.happened"] },
  { name: "GET, 404", calls: [{ method: "GET", url: "/customers/cus_nobody" }], rules: ["retry.only_retryable"] },
  {
    name: "POST with a key, 429 with `Retry-After: 1`",
    fault: [LIMITED, 1],
    calls: [write],
    rules: ["retry.happened", "retry_after.honoured", "idempotency.key_reused"],
  },
  {
    name: "POST with a key, response lost",
    fault: [LOST, 1],
    calls: [write],
    rules: ["retry.happened", "idempotency.key_reused", "effect.single"],
  },
];

let bench: Bench;

beforeAll(async () => {
  bench = await share({ clock: "real" });
});

afterAll(() => bench.close());

/** One library in one situation: its calls, then silence, then a call that shows the program is still alive. */
async function trySituation(library: Library, situation: Situation): Promise<{ trial: ClientTrial; live(): Promise<unknown> }> {
  const trial = await openClientTrial(bench.url);
  const { send, close } = library.open();
  const call = (wanted: Pick<LibraryCall, "method" | "url" | "body">) => {
    const headers = { authorization: `Bearer ${trial.apiKey}`, "idempotency-key": crypto.randomUUID() };
    const typed = wanted.body ? { ...headers, "content-type": "application/json" } : headers;
    return send({ ...wanted, url: bench.baseUrl + wanted.url, headers: typed }).catch(() => {});
  };
  if (situation.fault) await trial.fault(situation.fault[0], eachCall(situation.fault[1]));
  // Sequential, so that a retry is not delayed on a busy machine.
  await Promise.all(situation.calls.map(async (wanted, place) => [await sleep(place * APART), await call(wanted)]));
  await trial.removeFaults();
  return { trial, live: async () => [await call({ method: "GET", url: "/merchants/me" }), await close()] };
}

/**
 * Again where the machine was too busy to tell, and once more where pauses looked equal: of those that are drawn from a narrow span, such as
 * a tenth of their length, one sample in two hundred does.
 */
async function measure(library: Library, situation: Situation): ReturnType<typeof trySituation> {
  let failed = 0;
  for (let times = 1; ; times++) {
    const tried = await trySituation(library, situation);
    const jitter = (await tried.trial.verdicts()).filter(({ rule }) => rule === "retry.jittered").map(({ verdict }) => verdict);
    if (jitter.includes("fail")) failed++;
    const isSure = failed === 1 ? jitter.includes("pass") : !jitter.includes("inconclusive");
    if (times === MOST_TIMES || isSure) return tried;
    await tried.live();
  }
}

/** Pauses are measured with one library at a time; the silence is shared. */
async function judged(): Promise<FoundVerdict[][][]> {
  const tried = await Promise.all(
    libraries.map((library) => Promise.all(situations.filter(isQuick).map((situation) => trySituation(library, situation)))),
  );
  const measured: Awaited<ReturnType<typeof trySituation>>[] = [];
  for (const library of libraries) measured.push(await measure(library, situations.find(isSlow) as Situation));
  await sleep(PATIENCE);
  const all = tried.map((own, index) =>
    situations.map((situation) => (isSlow(situation) ? measured[index] : own[situations.filter(isQuick).indexOf(situation)])),
  );
  await Promise.all(all.flat().map((one) => one?.live()));
  return Promise.all(all.map((own) => Promise.all(own.map((one) => one?.trial.verdicts() ?? []))));
}

const MOST_TIMES = 3;

const isSlow = ({ calls }: Situation) => calls.length > 1;
const isQuick = (situation: Situation) => !isSlow(situation);

function cell(found: readonly FoundVerdict[], rule: string): string {
  const verdicts = found.filter((one) => one.rule === rule).map(({ verdict }) => verdict);
  if (verdicts.includes("fail")) return "**fail**";
  return verdicts.includes("pass") ? "pass" : "–";
}

const versionOf = (name: string) =>
  (JSON.parse(readFileSync(join(import.meta.dirname, `../../node_modules/${name}/package.json`), "utf8")) as { version: string }).version;

const titleOf = ({ name, packages }: Library) =>
  packages.length === 0
    ? `${name} (Node)`
    : `${name} ${packages.map((one) => versionOf(one).split(".").slice(0, 2).join(".")).join(" + ")}`;

test("docs/clients.md matches the current verdicts", async () => {
  const found = await judged();
  const rows: Row[] = situations.flatMap(({ name, rules }, place) =>
    rules.map((rule) => ({ situation: name, rule, cells: found.map((own) => cell(own[place] ?? [], rule)) })),
  );
  await expect(clientsPage(libraries.map(titleOf), rows)).toMatchFileSnapshot("../../docs/clients.md");
});
