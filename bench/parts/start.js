// The cost of a start: from the command to the first response, against a Node process that does nothing; and within a process.

import { spawn, spawnSync } from "node:child_process";
import { createServer } from "node:http";
import { fileURLToPath } from "node:url";
import { openFolder } from "../folder.js";
import { figure, inTurn, median, RUNS, ratio } from "../measure.js";

const BIN = fileURLToPath(new URL("../../dist/bin.cjs", import.meta.url));

/** Of `start` to the first response: the code that Node 22 and later keep compiled is not compiled again. */
const COMMAND_TARGET = Number(process.versions.node.split(".")[0]) >= 22 ? "<= 1.8" : "<= 2.2";

const NOTHING = "node -e 0";
const MEMORY = "command to first 200, memory";
const FRESH = "command to first 200, a new file";
const THERE = "command to first 200, a file that is there";
const LISTEN = "one bare server listening";
const SANDBOX = "createSandbox() in memory";
const RESET = "sandbox.reset(), everything";
const MINT = "sandbox.merchants.mint()";

const timeOf = (what, against, target) => ({
  what,
  against,
  target,
  read: (results) => ({ figure: figure(ratio(results, what, against, "time")) }),
});

const middle = (results, what, field) => figure(median(results.get(what).map((measured) => measured[field])), " ms");

const milliseconds = (what, target) => ({
  what,
  against: "",
  target,
  read: (results) => ({ figure: middle(results, what, "time"), cpu: middle(results, what, "cpu") }),
});

export const start = {
  name: "start",
  rows: [
    timeOf(MEMORY, NOTHING, COMMAND_TARGET),
    timeOf(FRESH, NOTHING),
    timeOf(THERE, NOTHING),
    timeOf(SANDBOX, LISTEN, "<= 3"),
    milliseconds(RESET, "<= 10 ms"),
    milliseconds(MINT, "<= 20 ms"),
  ],
  async measure() {
    const folder = openFolder();
    const commands = await inTurn(commandsIn(folder), ({ measure }) => measure(), RUNS);
    folder.remove();
    const { createSandbox } = await import("../../dist/index.cjs");
    const sandbox = await createSandbox();
    const library = await inTurn(libraryCases(createSandbox, sandbox), ({ measure }) => measure(), RUNS);
    await sandbox.close();
    return new Map([...commands, ...library]);
  },
};

function commandsIn(folder) {
  let count = 0;
  return [
    { name: NOTHING, measure: () => timed(() => void spawnSync(process.execPath, ["-e", "0"])) },
    { name: MEMORY, measure: () => untilFirstAnswer("--memory") },
    { name: FRESH, measure: () => untilFirstAnswer("--db", folder.file(`${count++}.db`)) },
    { name: THERE, measure: () => untilFirstAnswer("--db", folder.file("there.db")) },
  ];
}

function libraryCases(createSandbox, sandbox) {
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
    { name: RESET, measure: () => timed(() => sandbox.reset()) },
    { name: MINT, measure: () => timed(() => sandbox.merchants.mint()) },
  ];
}

/** Milliseconds. */
const REST = 20;

/** Lets work that is left over from before finish first. */
async function timed(work) {
  await new Promise((resolve) => setTimeout(resolve, REST));
  const [started, before] = [performance.now(), process.cpuUsage()];
  await work();
  const { user, system } = process.cpuUsage(before);
  return { time: performance.now() - started, cpu: (user + system) / 1_000 };
}

function untilFirstAnswer(...options) {
  return new Promise((resolve, reject) => {
    const started = performance.now();
    const words = [BIN, "start", "--port", "0", "--json", ...options];
    const child = spawn(process.execPath, words, { stdio: ["ignore", "pipe", "inherit"] });
    child.stdout.once("data", async (line) => {
      const { baseUrl } = JSON.parse(String(line).split("\n")[0]);
      const answer = await fetch(`${baseUrl}/payments`, { headers: { Authorization: "Bearer sk_test_lodge" } });
      const time = performance.now() - started;
      child.kill("SIGTERM");
      child.once("exit", () => (answer.ok ? resolve({ time }) : reject(new Error(`answered ${answer.status}`))));
    });
  });
}
