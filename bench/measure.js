// What every bench needs: servers in processes of their own, medians, and a table to print.

import { fork } from "node:child_process";
import { once } from "node:events";

export const SLICES = Number(process.env.BENCH_SLICES ?? 7);
export const SECONDS = Number(process.env.BENCH_SECONDS ?? 1);

export const median = (values) => [...values].sort((one, other) => one - other)[Math.floor(values.length / 2)];

/** One of the servers of servers.js, listening. */
export async function open(name) {
  const child = fork(new URL("./servers.js", import.meta.url), [name], { stdio: ["ignore", "inherit", "inherit", "ipc"] });
  const [{ port }] = await once(child, "message");
  return { child, port };
}

/** The CPU time that a server has used, in milliseconds. */
export async function cpuOf({ child }) {
  child.send("cpu");
  const [{ cpu }] = await once(child, "message");
  return (cpu.user + cpu.system) / 1_000;
}

export function table(head, rows) {
  const lines = [head, head.map(() => "---"), ...rows].map((cells) => `| ${cells.join(" | ")} |`);
  return lines.join("\n");
}
