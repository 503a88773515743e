// Who listens at a port of this machine: another sandbox tells so itself; of other programs the system knows the process.

import { execFile } from "node:child_process";
import { readdirSync, readFileSync, readlinkSync } from "node:fs";
import { introduce } from "../remote/probe.ts";

const PATIENCE = 500;

/** In words; undefined where nobody can tell, or nobody listens. */
export async function portOwner(port: number): Promise<string | undefined> {
  const sandbox = await introduce(`http://127.0.0.1:${port}`, undefined, PATIENCE);
  if (sandbox) return `merchant-sandbox ${sandbox.version}, process ${sandbox.pid}, ${sandbox.database ?? "in memory"}`;
  return ownerOnLinux(port) ?? (await ownerByTool(port));
}

function ownerOnLinux(port: number): string | undefined {
  const sockets = new Set(["/proc/net/tcp", "/proc/net/tcp6"].flatMap((table) => listening(table, port)));
  if (sockets.size === 0) return undefined;
  for (const pid of namesIn("/proc").filter((name) => /^\d+$/.test(name)))
    for (const handle of namesIn(`/proc/${pid}/fd`))
      if (sockets.has(linkOf(`/proc/${pid}/fd/${handle}`))) return `process ${pid} (${textOf(`/proc/${pid}/comm`).trim()})`;
  return undefined;
}

/** The sockets of a table that listen at the port, as the handles of a process name them. */
function listening(table: string, port: number): string[] {
  const hex = port.toString(16).toUpperCase().padStart(4, "0");
  const rows = textOf(table)
    .split("\n")
    .map((line) => line.trim().split(/\s+/));
  return rows.filter(([, local, , state]) => local?.endsWith(`:${hex}`) && state === "0A").map((columns) => `socket:[${columns[9]}]`);
}

function ownerByTool(port: number): Promise<string | undefined> {
  return new Promise((resolve) => {
    execFile("lsof", ["-nP", `-iTCP:${port}`, "-sTCP:LISTEN", "-Fpc"], { timeout: 5_000 }, (_, out) => {
      const [, pid, name] = /^p(\d+)\nc(.*)$/m.exec(out) ?? [];
      resolve(pid === undefined ? undefined : `process ${pid} (${name})`);
    });
  });
}

/** What may not be read is not there for us. */
function attempt<T>(work: () => T, otherwise: T): T {
  try {
    return work();
  } catch {
    return otherwise;
  }
}

const namesIn = (folder: string) => attempt(() => readdirSync(folder), []);
const linkOf = (path: string) => attempt(() => readlinkSync(path), "");
const textOf = (path: string) => attempt(() => readFileSync(path, "utf8"), "");
