// What a start costs: from the command to the first answer, as a ratio to a Node that does nothing.

import { spawn, spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { median, table } from "./measure.js";

const BIN = fileURLToPath(new URL("../dist/bin.cjs", import.meta.url));
const RUNS = 15;

export async function start() {
  const nothing = [];
  const first = [];
  for (let run = 0; run <= RUNS; run++) {
    const measured = [timed(() => spawnSync(process.execPath, ["-e", "0"])), await untilFirstAnswer()];
    if (run > 0) for (const [index, list] of [nothing, first].entries()) list.push(measured[index]);
  }
  const library = await libraryCosts();
  return table(
    ["start", "cost", "target"],
    [
      ["command to first 200 in memory, against `node -e 0`", (median(first) / median(nothing)).toFixed(2), "<= 2.5"],
      ["createSandbox() in memory, against one bare server listening", library.ratio.toFixed(1), "<= 10"],
      ["sandbox.reset(), everything", `${library.reset.toFixed(1)} ms`, "<= 10 ms"],
      ["sandbox.merchants.mint()", `${library.mint.toFixed(1)} ms`, "<= 20 ms"],
    ],
  );
}

function timed(work) {
  const started = performance.now();
  work();
  return performance.now() - started;
}

function untilFirstAnswer() {
  return new Promise((resolve, reject) => {
    const started = performance.now();
    const child = spawn(process.execPath, [BIN, "start", "--memory", "--port", "0", "--json"], { stdio: ["ignore", "pipe", "inherit"] });
    child.stdout.once("data", async (line) => {
      const { baseUrl } = JSON.parse(String(line).split("\n")[0]);
      const answer = await fetch(`${baseUrl}/payments`, { headers: { Authorization: "Bearer sk_test_lodge" } });
      const span = performance.now() - started;
      child.kill("SIGTERM");
      child.once("exit", () => (answer.ok ? resolve(span) : reject(new Error(`answered ${answer.status}`))));
    });
  });
}

async function libraryCosts() {
  const { createSandbox } = await import("../dist/index.js");
  const { createServer } = await import("node:http");
  const bare = [];
  const sandbox = [];
  for (let run = 0; run <= RUNS; run++) {
    const started = performance.now();
    const server = createServer();
    await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
    const between = performance.now();
    const made = await createSandbox();
    const ended = performance.now();
    await made.close();
    await new Promise((resolve) => server.close(resolve));
    if (run === 0) continue;
    bare.push(between - started);
    sandbox.push(ended - between);
  }
  return { ratio: median(sandbox) / median(bare), ...(await steeringCosts(createSandbox)) };
}

async function steeringCosts(createSandbox) {
  const sandbox = await createSandbox();
  const reset = [];
  const mint = [];
  for (let run = 0; run < RUNS; run++) {
    reset.push(await timedAsync(() => sandbox.reset()));
    mint.push(await timedAsync(() => sandbox.merchants.mint()));
  }
  await sandbox.close();
  return { reset: median(reset), mint: median(mint) };
}

async function timedAsync(work) {
  const started = performance.now();
  await work();
  return performance.now() - started;
}
