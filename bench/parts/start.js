// The cost of a start: the time from the command to the first response, compared with a program that opens
// better-sqlite3 and sends one response. Also the cost of a start within a process.

import { spawn } from "node:child_process";
import { createServer } from "node:http";
import { fileURLToPath } from "node:url";
import { openFolder } from "../folder.js";
import { figure, inTurn, median, RUNS, ratio } from "../measure.js";

const BIN = fileURLToPath(new URL("../../dist/bin.cjs", import.meta.url));
const START = [BIN, "start", "--port", "0", "--json"];

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
/** The minimum work of a program that uses SQLite. */
const PROGRAM = `
  new (require("better-sqlite3"))(":memory:").exec("create table records (id)");
  const server = require("node:http").createServer((_, outgoing) => outgoing.end("{}"));
  server.listen(0, "127.0.0.1", () =>
    console.log(JSON.stringify({ baseUrl: "http://127.0.0.1:" + server.address().port })));`;

const MINIMAL = "better-sqlite3 and one response of node:http";
const MEMORY = "command to first 200, memory";
const FRESH = "command to first 200, a new file";
const THERE = "command to first 200, an existing file";
const LISTEN = "one bare server listening";
const SANDBOX = "createSandbox() in memory";
const RESET = "sandbox.reset(), everything";
const RESET_ONE = "sandbox.reset(), one merchant";
const RESET_FIRST = "sandbox.reset(), one merchant, the first after a reset of everything";
const NEW_MERCHANT = "sandbox.merchants.add()";
const OWN_SANDBOX = "createSandbox(), one answer, close()";
const NEW_SEED = "createSandbox() with a new seed, one answer, close()";
const OWN_MERCHANT = "ownMerchant(), one answer, remove()";
const SHARED = "one answer";

const timeOf = (what, against, target) => ({
  what,
  against,
  target,
  read: (results) => ({ figure: figure(ratio(results, what, against, "time")) }),
});

const middle = (results, what, field) => figure(median(results.get(what).map((measured) => measured[field])), " ms");

/** CPU time, because other work on the machine makes the elapsed time longer. */
const milliseconds = (what, target) => ({
  what,
  against: "",
  target,
  read: (results) => ({ figure: middle(results, what, "cpu") }),
});

export const start = {
  name: "start",
  rows: [
    timeOf(MEMORY, MINIMAL, "<= 2.1"),
    timeOf(FRESH, MINIMAL),
    timeOf(THERE, MINIMAL),
    timeOf(SANDBOX, LISTEN, "<= 3"),
    milliseconds(RESET, "<= 3 ms"),
    milliseconds(RESET_ONE, "<= 3 ms"),
    milliseconds(RESET_FIRST),
    milliseconds(NEW_MERCHANT, "<= 2.5 ms"),
    milliseconds(OWN_SANDBOX),
    milliseconds(NEW_SEED, "<= 8 ms"),
    milliseconds(OWN_MERCHANT, "<= 4 ms"),
    milliseconds(SHARED),
  ],
  async measure() {
    const folder = openFolder();
    const commands = await inTurn(commandsIn(folder), ({ measure }) => measure(), RUNS);
    folder.remove();
    const { createSandbox, ownMerchant } = await import("../../dist/index.cjs");
    // Everything is reset in a second sandbox. After a reset of everything, the next reset of a merchant must load the
    // fixture again.
    const [sandbox, replaced] = await Promise.all([createSandbox(), createSandbox()]);
    const cases = [
      ...libraryCases(createSandbox, sandbox, replaced),
      ...testCases(createSandbox, ownMerchant, sandbox),
    ];
    const library = await inTurn(cases, ({ measure }) => measure(), RUNS);
    await Promise.all([sandbox.close(), replaced.close()]);
    return new Map([...commands, ...library]);
  },
};

function commandsIn(folder) {
  let count = 0;
  return [
    { name: MINIMAL, measure: () => untilFirstAnswer("-e", PROGRAM) },
    { name: MEMORY, measure: () => untilFirstAnswer(...START, "--memory") },
    { name: FRESH, measure: () => untilFirstAnswer(...START, "--db", folder.file(`${count++}.db`)) },
    { name: THERE, measure: () => untilFirstAnswer(...START, "--db", folder.file("there.db")) },
  ];
}

function libraryCases(createSandbox, sandbox, replaced) {
  const merchant = "mer_lodge";
  return [
    {
      name: LISTEN,
      async measure() {
        const server = createServer();
        const span = await timed(() => new Promise((resolve) => server.listen(0, "127.0.0.1", resolve)));
        server.close();
        return span;
      },
    },
    {
      name: SANDBOX,
      async measure() {
        let made;
        const span = await timed(async () => {
          made = await createSandbox();
        });
        await made.close();
        return span;
      },
    },
    { name: RESET, measure: () => timed(() => replaced.reset()) },
    { name: RESET_FIRST, measure: () => replaced.reset().then(() => timed(() => replaced.reset({ merchant }))) },
    { name: RESET_ONE, measure: () => timed(() => sandbox.reset({ merchant })) },
    { name: NEW_MERCHANT, measure: () => timed(() => sandbox.merchants.add()) },
  ];
}

/** The CPU time of each way in which a test gets its own data, including one call. */
function testCases(createSandbox, ownMerchant, sandbox) {
  let seed = 1_000;
  const answer = async (baseUrl, apiKey = "sk_test_lodge") =>
    void (await (await fetch(`${baseUrl}/payments`, { headers: { Authorization: `Bearer ${apiKey}` } })).text());
  const inOwnSandbox = async (options) => {
    const own = await createSandbox(options);
    await answer(own.baseUrl);
    await own.close();
  };
  const withOwnMerchant = async () => {
    const merchant = await ownMerchant(sandbox);
    await answer(merchant.baseUrl, merchant.apiKey);
    await merchant.remove();
  };
  return [
    { name: OWN_SANDBOX, measure: () => timed(() => inOwnSandbox({})) },
    { name: NEW_SEED, measure: () => timed(() => inOwnSandbox({ seed: seed++ })) },
    { name: OWN_MERCHANT, measure: () => timed(withOwnMerchant) },
    { name: SHARED, measure: () => timed(() => answer(sandbox.baseUrl)) },
  ];
}

/** The pause before a measurement, in milliseconds. */
const REST = 20;

/** Pauses first, so that work left over from the previous case can finish. */
async function timed(work) {
  await new Promise((resolve) => setTimeout(resolve, REST));
  const [started, before] = [performance.now(), process.cpuUsage()];
  await work();
  const { user, system } = process.cpuUsage(before);
  return { time: performance.now() - started, cpu: (user + system) / 1_000 };
}

function untilFirstAnswer(...words) {
  return new Promise((resolve, reject) => {
    const started = performance.now();
    const child = spawn(process.execPath, words, { cwd: ROOT, stdio: ["ignore", "pipe", "inherit"] });
    child.stdout.once("data", async (line) => {
      const { baseUrl } = JSON.parse(String(line).split("\n")[0]);
      const answer = await fetch(`${baseUrl}/payments`, { headers: { Authorization: "Bearer sk_test_lodge" } });
      const time = performance.now() - started;
      child.kill("SIGTERM");
      child.once("exit", () => (answer.ok ? resolve({ time }) : reject(new Error(`answered ${answer.status}`))));
    });
  });
}
