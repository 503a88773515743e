// Checks receivers in six languages, correct or with one of eight bugs, in five ways: with `exec`, `audit`, scenarios,
// the library, and a detached sandbox. A check must find the bug, or say that it does not look for this bug. A correct
// receiver must pass. `npm run verdicts` runs every case and updates docs/testing.md. `npm test` runs a few cases.

import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { createSandbox } from "../../src/index.ts";
import { sleep } from "../support/clients/client.ts";
import { needs } from "../support/needs.ts";
import { folder, run } from "../support/program.ts";
import {
  BUGS,
  type Bug,
  buildReceiver,
  isInstalled,
  LANGUAGES,
  type Language,
  type RunningReceiver,
  SECRET,
  startReceiver,
} from "../support/receivers/receivers.ts";
import { call } from "../support/sandbox.ts";

/** Whether `npm run verdicts` runs this file. The command sets RUNS for other tests of the judge. */
const ALL = process.env.RUNS !== undefined;

/** The result of checking a receiver: whether the check failed, and everything that it printed or listed. */
interface Answer {
  isFailed: boolean;
  text: string;
}

const EVENT = "payment.succeeded";
/** The timeout is longer than the 5 s that a receiver may take, and shorter than the 7 s of the slow receiver. */
const TIMEOUTS = { webhookTimeout: "5500ms", retrySchedule: "1s" };
const TIMEOUT_FLAGS = ["--webhook-timeout", "5500ms", "--retry-schedule", "1s"];
/** The number of events that a check sends. The slow receiver gets only one, because each event takes seconds. */
const eventsFor = ({ bug }: RunningReceiver) => (bug === "slow" ? 1 : 8);

/**
 * A sandbox whose clock is frozen at the present, because receivers check the age of events. Each check uses another
 * seed, so its events have other ids: a receiver remembers the ids of earlier checks.
 */
const openSandbox = ({ url }: RunningReceiver, seed: number) =>
  createSandbox({
    ...TIMEOUTS,
    seed,
    clock: new Date().toISOString(),
    endpoints: [{ url, events: [EVENT], secret: SECRET }],
  });

const FORGED = { action: { type: "signature", as: "wrong_secret" } } as const;
const THREE_TIMES = { action: { type: "duplicate", copies: 3 } } as const;

type Check = "exec" | "audit" | "scenario" | "library" | "detached";

const CHECKS: Record<Check, (receiver: RunningReceiver) => Promise<Answer>> = {
  async exec(receiver) {
    const { url } = receiver;
    const cwd = folder();
    const script = `const post = (path, body) => fetch(process.env.MERCHANT_SANDBOX_URL + "/_sandbox" + path, {
      method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body) });
      for (let event = 0; event < ${eventsFor(receiver)}; event++) await post("/events", { type: "${EVENT}" });
      for (let drain = 0; drain < 10; drain++) {
        await post("/drain", { within: "10s" });
        await new Promise((resolve) => setTimeout(resolve, 300));
      }`;
    writeFileSync(join(cwd, "shop.mjs"), script);
    const words = ["exec", "--fail-on", "verdicts", "--scenario", "forged-webhook", "--seed", "5", ...TIMEOUT_FLAGS];
    const target = ["--forward-to", url, "--webhook-secret", SECRET];
    const { code, error, out } = await run([...words, ...target, "--", process.execPath, "shop.mjs"], {}, cwd);
    return { isFailed: code !== 0, text: [error, ...out].join("\n") };
  },

  async audit(receiver) {
    await using sandbox = await openSandbox(receiver, 7);
    const words = ["audit", receiver.url, "--secret", SECRET, "--effects", receiver.effects, "--max-age", "3d"];
    const { code, error, out } = await run([...words, "--url", sandbox.url]);
    return { isFailed: code === 1 || code === 3, text: [error, ...out].join("\n") };
  },

  async scenario(receiver) {
    await using sandbox = await openSandbox(receiver, 3);
    const said: string[] = [];
    const codes: (number | null)[] = [];
    for (const name of ["webhook-storm", "forged-webhook"]) {
      const effects = name === "webhook-storm" ? ["--effects", receiver.effects] : [];
      const scenario = (word: string) => run(["scenario", word, name, "--url", sandbox.url, ...effects]);
      await scenario("start");
      for (let event = 0; event < eventsFor(receiver); event++) await sandbox.events.trigger({ type: EVENT });
      await sandbox.clock.advance({ by: "1m" });
      const { code, out, error } = await scenario("score");
      codes.push(code);
      said.push(...out, error);
      await sandbox.scenarios.stop({ name });
    }
    return { isFailed: codes.includes(3), text: said.join("\n") };
  },

  async library(receiver) {
    await using sandbox = await openSandbox(receiver, 4);
    const before = receiver.orders();
    await sandbox.faults.add(FORGED);
    await sandbox.events.trigger({ type: EVENT });
    await sandbox.clock.advance({ by: "1m" });
    await sandbox.faults.add(THREE_TIMES);
    for (let event = 1; event < eventsFor(receiver); event++) await sandbox.events.trigger({ type: EVENT });
    await sandbox.clock.advance({ by: "1m" });
    const { verdict, results } = await sandbox.verify({
      within: "1s",
      all: [
        { effects: { match: { event: EVENT }, made: () => receiver.orders() - before } },
        { verdicts: { rules: ["webhook.*"] } },
      ],
    });
    const { unchecked } = (await sandbox.report({ format: "json" })) as { unchecked: string[] };
    return { isFailed: verdict === "fail", text: [...unchecked, ...results.map(({ message }) => message)].join("\n") };
  },

  async detached(receiver) {
    const { url } = receiver;
    const cwd = folder();
    const words = ["start", "--detach", "--json", "--memory", "--port", "0", "--seed", "6", ...TIMEOUT_FLAGS];
    const started = JSON.parse((await run(words, {}, cwd)).out[0] ?? "{}");
    const control = async (method: string, path: string, body?: unknown) => {
      const { status, body: reply } = await call(started.url, method, `/_sandbox${path}`, { key: null, body });
      expect([path, status, reply]).toEqual([path, expect.toSatisfy((code: number) => code < 300), reply]);
      return reply;
    };
    try {
      await control("PUT", "/endpoints", { url, events: [EVENT], secret: SECRET });
      await control("POST", "/faults", FORGED);
      await control("POST", "/events", { type: EVENT });
      await control("POST", "/drain", { within: "10s" });
      await control("POST", "/faults", THREE_TIMES);
      for (let event = 1; event < eventsFor(receiver); event++) await control("POST", "/events", { type: EVENT });
      for (let drain = 0; drain < 10; drain++) {
        await control("POST", "/drain", { within: "10s" });
        await sleep(300);
      }
      const verified = await run(["verify", "verdicts:webhook.*", "--url", started.url], {}, cwd);
      const { unchecked } = await control("GET", "/report");
      return { isFailed: verified.code === 3, text: [...unchecked, ...verified.out].join("\n") };
    } finally {
      await run(["stop", "--url", started.url], {}, cwd);
    }
  },
};

/** The text with which a check must say that it does not look for a bug. */
const gapOf = (bug: Bug) => (bug === "old" ? "whether it rejects old events" : "whether it acted once");

function cellOf(bug: Bug, { isFailed, text }: Answer): string {
  if (bug === "none") return isFailed ? `accused: ${text.slice(0, 2_000)}` : "right";
  if (isFailed) return "found";
  return new RegExp(`not checked[^\n]*${gapOf(bug)}|^${gapOf(bug)}`, "im").test(text)
    ? "said"
    : `silent: ${text.slice(0, 2_000)}`;
}

/** For each bug and each check, one cell for each language. */
type Matrix = Record<string, Record<string, string[]>>;

const matrix: Matrix = {};

function record(bug: Bug, check: Check, cell: string): void {
  const row = matrix[bug] ?? {};
  matrix[bug] = { ...row, [check]: [...(row[check] ?? []), cell] };
}
const checks = Object.keys(CHECKS) as Check[];
const bugs = ["none", ...(Object.keys(BUGS) as Bug[])] as Bug[];

/** `npm test` runs only the cheap cases, which start no program but the receiver. */
const isPlayed = (language: string, bug: Bug, check: Check) =>
  ALL || (language === "Express" && check === "library" && ["none", "reserialised", "old"].includes(bug));

/** The cells that are wrong: a correct receiver failed, or a bug was neither found nor reported as not checked. */
async function play(language: Language, bug: Bug, built: string): Promise<string[]> {
  const bad: string[] = [];
  await using receiver = await startReceiver(language, bug, built);
  for (const check of checks.filter((one) => isPlayed(language.name, bug, one))) {
    const cell = cellOf(bug, await CHECKS[check](receiver));
    record(bug, check, cell.split(":")[0] as string);
    if (!["right", "found", "said"].includes(cell)) bad.push(`${language.name}: ${bug} by ${check}: ${cell}`);
  }
  return bad;
}

/** The number of receivers to check concurrently. A check mostly waits. */
const AT_ONCE = ALL ? 8 : 3;

const installed = LANGUAGES.filter(isInstalled);
const missing = LANGUAGES.filter((language) => !installed.includes(language)).map(({ name }) => name);
test.skipIf(missing.length > 0)(`all languages are installed${needs(missing.length === 0, missing.join(", "))}`, () => {
  expect(installed).toEqual(LANGUAGES);
});

test(`every bug is found or reported as not checked${ALL ? "" : ", in three cases"}`, {
  timeout: 3_600_000,
}, async () => {
  const bad: string[] = [];
  const left = installed
    .filter(({ name }) => bugs.some((bug) => checks.some((check) => isPlayed(name, bug, check))))
    .flatMap((language) => {
      const { built, dispose } = buildReceiver(language);
      onTestFinished(dispose);
      return bugs.map((bug) => ({ language, bug, built }));
    })
    .filter(({ language, bug }) => checks.some((check) => isPlayed(language.name, bug, check)));
  const playNext = async () => {
    for (let next = left.shift(); next !== undefined; next = left.shift()) {
      const { language, bug, built } = next;
      bad.push(...(await play(language, bug, built).catch((error) => [`${language.name}, ${bug}: ${error}`])));
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, playNext));
  expect(bad).toEqual([]);
});

const PAGE = join(import.meta.dirname, "../../docs/testing.md");
const [BEGIN, END] = ["<!-- receivers -->", "<!-- /receivers -->"];

/** The result, if all languages agree. Otherwise each result with its number of languages. */
function countOf(results: readonly string[] = []): string {
  const words = [...new Set(results)].sort();
  if (words.length <= 1) return words[0] ?? "not tried";
  return words.map((word) => `${word} ${results.filter((one) => one === word).length}`).join(", ");
}

function tableOf(): string {
  const line = (cells: readonly string[]) => `| ${cells.join(" | ")} |`;
  const rows = bugs.map((bug) =>
    line([bug === "none" ? "is right" : BUGS[bug], ...checks.map((check) => countOf(matrix[bug]?.[check]))]),
  );
  return [line(["A receiver that", ...checks]), `|${"---|".repeat(checks.length + 1)}`, ...rows].join("\n");
}

test.runIf(ALL)(`the table of docs/testing.md is updated${needs(ALL, "npm run verdicts")}`, () => {
  const table = tableOf();
  process.stdout.write(`${table}\n`);
  const page = readFileSync(PAGE, "utf8");
  const [before, rest = ""] = page.split(BEGIN);
  if (before !== page) writeFileSync(PAGE, `${before}${BEGIN}\n\n${table}\n\n${END}${rest.split(END)[1]}`);
});
