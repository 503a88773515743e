// Many processes that start at once on one machine: the time until all have responded, and the memory of each.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { cpuOfProcess, memoryOfProcess } from "../processes.js";
import { KEY } from "../sample-record.js";

const BIN = fileURLToPath(new URL("../../dist/bin.cjs", import.meta.url));

export async function measureProcesses(count) {
  const started = performance.now();
  const children = await Promise.all(Array.from({ length: count }, firstAnswer));
  const time = (performance.now() - started) / count;
  const mean = (of) => children.reduce((sum, { pid }) => sum + of(pid), 0) / count;
  const [cpu, each] = [mean(cpuOfProcess), mean(memoryOfProcess)];
  await Promise.all(children.map(ended));
  return { time, cpu, each };
}

async function firstAnswer() {
  const child = spawn(process.execPath, [BIN, "start", "--memory", "--port", "0", "--json"], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const [line] = await once(child.stdout, "data");
  const { baseUrl } = JSON.parse(String(line).split("\n")[0]);
  const answer = await fetch(`${baseUrl}/payments`, { headers: KEY });
  if (!answer.ok) throw new Error(`answered ${answer.status}`);
  await answer.arrayBuffer();
  return child;
}

async function ended(child) {
  const exit = once(child, "exit");
  child.kill("SIGTERM");
  await exit;
}
