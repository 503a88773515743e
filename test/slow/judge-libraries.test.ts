// Compares the judge's verdicts on HTTP libraries in their default configuration with docs/clients.md. If CLIENT_RUNS
// is set, as in `npm run clients`, tries each library many times and writes the page. Only then are pauses measured,
// because they depend on the machine.

import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { clientsPage, type Row } from "../../scripts/docs/clients-page.ts";
import type { VerdictMessage } from "../../src/contracts/verdict.ts";
import { sleep } from "../support/clients/client.ts";
import { type Library, type LibraryCall, libraries } from "../support/clients/libraries.ts";
import { needs } from "../support/needs.ts";
import { shareForBlock } from "../support/sandbox.ts";

const RUNS = Number(process.env.CLIENT_RUNS ?? 0);
const PAGE = join(import.meta.dirname, "../../docs/clients.md");
const installed = libraries.filter(({ version }) => version() !== undefined);

const LIMITED = { type: "rate_limit", retryAfter: 1 };
const LOST = { type: "lost_response", as: "reset" };
/** How many milliseconds the judge waits for a retry after a response without Retry-After. */
const RETRY_TIMEOUT = 15_400;

interface Situation {
  name: string;
  fault?: [action: Record<string, unknown>, times: number];
  call: Pick<LibraryCall, "method" | "url" | "body">;
  rules: string[];
}

const read = { method: "GET", url: "/payments" } as const;
const write = {
  method: "POST",
  url: "/hospitality/pricing-rules",
  body: { name: "Low", adjustmentType: "fixed", adjustmentValue: 5 },
} as const;

const situations: Situation[] = [
  {
    name: "GET, 429 with `Retry-After: 1`",
    fault: [LIMITED, 1],
    call: read,
    rules: ["retry.happened", "retry_after.honoured", "retry_after.unit", "retry.bounded"],
  },
  {
    name: "GET, 500 three times",
    fault: [{ type: "status", status: 500 }, 3],
    call: read,
    rules: ["retry.happened", "retry.backoff_grows"],
  },
  { name: "GET, response lost", fault: [LOST, 1], call: read, rules: ["retry.happened"] },
  { name: "GET, 404", call: { method: "GET", url: "/customers/cus_nobody" }, rules: ["retry.only_retryable"] },
  {
    name: "POST with a key, 429 with `Retry-After: 1`",
    fault: [LIMITED, 1],
    call: write,
    rules: ["retry.happened", "retry_after.honoured", "idempotency.key_reused"],
  },
  {
    name: "POST with a key, response lost",
    fault: [LOST, 1],
    call: write,
    rules: ["retry.happened", "idempotency.key_reused", "effect.single"],
  },
];

const shared = shareForBlock({ clock: "real" });

/**
 * Makes the call of a situation with one library and a new merchant. After a period of silence, `live` makes another
 * call, which shows that the program still runs.
 */
async function trySituation(library: Library, situation: Situation) {
  const bench = shared();
  // Starts the program before any call is in flight. The start blocks this process, and Node's client closes a
  // connection that it cannot read for five seconds.
  const { send, close } = library.open();
  const { id: merchant, apiKey } = await bench.control("POST", "/merchants", { fixture: "lodge" });
  const call = (wanted: Pick<LibraryCall, "method" | "url" | "body">) => {
    const headers = { authorization: `Bearer ${apiKey}`, "idempotency-key": crypto.randomUUID() };
    const typed = wanted.body ? { ...headers, "content-type": "application/json" } : headers;
    return send({ ...wanted, url: bench.baseUrl + wanted.url, headers: typed }).catch(() => {});
  };
  const armed =
    situation.fault && (await bench.control("POST", "/faults", { ...faultRule(situation.fault), match: { merchant } }));
  await call(situation.call);
  if (armed) await bench.control("DELETE", `/faults/${armed.id}`);
  return {
    live: async () => [await call({ method: "GET", url: "/merchants/me" }), await close()],
    verdicts: async (): Promise<VerdictMessage[]> =>
      (await bench.control("GET", `/verdicts?merchant=${merchant}`)).data,
  };
}

/** A rule with which each call fails `times` times. */
const faultRule = ([action, times]: NonNullable<Situation["fault"]>) => ({
  target: "api",
  action,
  trigger: { times, per: "idempotency_key" },
});

type Trials = Awaited<ReturnType<typeof trySituation>>[];

/**
 * The verdicts by library and situation. All libraries share the period of silence. Pauses are measured for one library
 * at a time.
 */
async function judged(chosen: readonly Situation[]): Promise<VerdictMessage[][][]> {
  const tryAll = (library: Library) =>
    Promise.all(chosen.map((situation) => (measuresPauses(situation) ? undefined : trySituation(library, situation))));
  const tried = await Promise.all(installed.map(tryAll));
  for (const [index, situation] of chosen.entries())
    if (measuresPauses(situation))
      for (const [column, library] of installed.entries())
        (tried[column] as Trials)[index] = await trySituation(library, situation);
  await sleep(RETRY_TIMEOUT);
  const all = tried as Trials[];
  await Promise.all(all.flat().map((one) => one.live()));
  return Promise.all(all.map((own) => Promise.all(own.map((one) => one.verdicts()))));
}

const measuresPauses = ({ rules }: Situation) => rules.includes("retry.backoff_grows");

function resultOf(found: readonly VerdictMessage[], rule: string): string {
  const verdicts = found.filter((one) => one.rule === rule).map(({ verdict }) => verdict);
  if (verdicts.includes("fail")) return "**fail**";
  return verdicts.includes("pass") ? "pass" : "–";
}

/** The result, if all runs agree. Otherwise each result with its number of runs. */
function cell(results: readonly string[]): string {
  const distinct = [...new Set(results)].sort();
  if (distinct.length === 1) return distinct[0] as string;
  return distinct.map((result) => `${result} ${results.filter((one) => one === result).length}`).join(", ");
}

const titleOf = ({ name, version }: Library) => `${name} ${version()}`;

async function tableOf(runs: number, chosen: readonly Situation[]): Promise<Row[]> {
  const found: VerdictMessage[][][][] = [];
  for (let run = 0; run < runs; run++) found.push(await judged(chosen));
  return chosen.flatMap(({ name, rules }, place) =>
    rules.map((rule) => ({
      situation: name,
      rule,
      runs,
      cells: installed.map((_, column) => cell(found.map((run) => resultOf(run[column]?.[place] ?? [], rule)))),
    })),
  );
}

/** Reads the page. Returns a function that finds the result of a library, whose name in the page has a version. */
function readPage(): (row: Row, name: string) => string | undefined {
  const lines = readFileSync(PAGE, "utf8")
    .split("\n")
    .filter((line) => line.startsWith("|"));
  const [titles = [], , ...rows] = lines.map((line) => line.slice(2, -2).split(" | "));
  const order = situations.flatMap(({ name, rules }) => rules.map((rule) => `${name} ${rule}`));
  return ({ situation, rule }, name) =>
    rows[order.indexOf(`${situation} ${rule}`)]?.[titles.findIndex((title) => title.startsWith(name))];
}

test.skipIf(RUNS > 0)(
  `docs/clients.md shows the verdicts on each library of this machine${needs(RUNS === 0, "no CLIENT_RUNS")}`,
  async () => {
    const rows = await tableOf(
      1,
      situations.filter((situation) => !measuresPauses(situation)),
    );
    const shownFor = readPage();
    for (const [column, { name }] of installed.entries()) {
      // If a cell counts runs with different results, any of these results is accepted.
      const differing = rows.filter((row) => !shownFor(row, name)?.includes(row.cells[column] as string));
      expect([name, differing.map(({ situation, rule, cells }) => [situation, rule, cells[column]])]).toEqual([
        name,
        [],
      ]);
    }
  },
  240_000,
);

test.runIf(RUNS > 0)(`docs/clients.md is updated${needs(RUNS > 0, "npm run clients")}`, async () => {
  expect(installed).toEqual(libraries);
  writeFileSync(PAGE, clientsPage(installed.map(titleOf), await tableOf(RUNS, situations)));
});
