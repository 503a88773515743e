// Finds the program that listens on a port: a sandbox by its own description, any other process from the operating
// system.

import { execFile } from "node:child_process";
import { readdirSync, readFileSync, readlinkSync } from "node:fs";
import { attempt } from "../../kernel/attempt.ts";
import { describeSandboxAt } from "../remote/probe.ts";

/** A description of the program; undefined if there is none, or if the system does not tell. */
export async function portOwner(port: number): Promise<string | undefined> {
  const sandbox = await describeSandboxAt(`http://127.0.0.1:${port}`, undefined);
  if (sandbox) return `merchant-sandbox ${sandbox.version}, process ${sandbox.pid}, ${sandbox.database ?? "in memory"}`;
  const found = await listenerOf(port);
  return found && `process ${found.pid} (${found.name})`;
}

export interface PortListener {
  pid: number;
  name: string;
}

/**
 * Asks the operating system which process listens on a port. Checks the `expected` process first, because reading the
 * open files of all processes takes longer than most commands.
 */
export const listenerOf = async (port: number, expected?: number): Promise<PortListener | undefined> =>
  listenerOnLinux(port, expected) ?? (await listenerByTool(port));

const TABLES = ["/proc/net/tcp", "/proc/net/tcp6"];

function listenerOnLinux(port: number, expected: number | undefined): PortListener | undefined {
  if (expected !== undefined && TABLES.some((table) => hasSocket(expected, new Set(listening(table, port)))))
    return nameOf(expected);
  const sockets = new Set(TABLES.flatMap((table) => listening(table, port)));
  if (sockets.size === 0) return undefined;
  const pids = namesIn("/proc").filter((name) => /^\d+$/.test(name));
  const found = pids.map(Number).find((pid) => hasSocket(pid, sockets));
  return found === undefined ? undefined : nameOf(found);
}

const hasSocket = (pid: number, sockets: ReadonlySet<string>): boolean =>
  sockets.size > 0 && namesIn(`/proc/${pid}/fd`).some((handle) => sockets.has(linkOf(`/proc/${pid}/fd/${handle}`)));

const nameOf = (pid: number): PortListener => ({ pid, name: textOf(`/proc/${pid}/comm`).trim() });

/** The listening sockets of a port, in the format of /proc/<pid>/fd. State 0A means LISTEN. */
function listening(table: string, port: number): string[] {
  const hex = port.toString(16).toUpperCase().padStart(4, "0");
  const rows = textOf(table)
    .split("\n")
    .map((line) => line.trim().split(/\s+/));
  return rows
    .filter(([, local, , state]) => local?.endsWith(`:${hex}`) && state === "0A")
    .map((columns) => `socket:[${columns[9]}]`);
}

function listenerByTool(port: number): Promise<PortListener | undefined> {
  return new Promise((resolve) => {
    execFile("lsof", ["-nP", `-iTCP:${port}`, "-sTCP:LISTEN", "-Fpc"], { timeout: 5_000 }, (_, out) => {
      const [, pid, name] = /^p(\d+)\nc(.*)$/m.exec(out) ?? [];
      resolve(pid === undefined ? undefined : { pid: Number(pid), name: name ?? "" });
    });
  });
}

/** Unreadable files count as empty, because other users own most of /proc. */
const namesIn = (folder: string) => attempt(() => readdirSync(folder)) ?? [];
const linkOf = (path: string) => attempt(() => readlinkSync(path)) ?? "";
const textOf = (path: string) => attempt(() => readFileSync(path, "utf8")) ?? "";
