// The state file of a detached sandbox, in the folder of its database.
//
// A checkout or an archive may bring such a file, and `stop` kills the process that it names. So a file counts only if this user alone can read
// and write it, its URL is on this machine, and the process that it names is the one that listens there. The log's path follows from the file's own name.

import { lstatSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { networkInterfaces } from "node:os";
import { dirname, join, resolve } from "node:path";
import { optionDefinitions } from "../../sandbox/options.ts";
import { type Static, Type } from "../../schema/shapes.ts";
import { matchesSchema } from "../../schema/validator.ts";
import { note } from "../output/print.ts";
import { listenerOf } from "../process/port-owner.ts";
import { isAlive } from "../process/signals.ts";
import { describeSandboxAt } from "./probe.ts";

const State = Type.Object({ url: Type.String(), pid: Type.Integer({ minimum: 1 }), controlToken: Type.Optional(Type.String()) });

/** A detached sandbox that runs now. */
export interface Detached extends Static<typeof State> {
  /** The state file. */
  file: string;
  log: string;
}

const PREFIX = "detached-";

export const folderOf = (db: string | undefined) => dirname(resolve(db ?? optionDefinitions.db.default));

export const logFileIn = (folder: string, name: string) => join(folder, `${PREFIX}${name}.log`);

export function writeState(folder: string, name: string, state: Static<typeof State>): void {
  const file = join(folder, `${PREFIX}${name}.json`);
  try {
    writeFileSync(file, `${JSON.stringify(state, null, 2)}\n`, { mode: 0o600, flag: "wx" });
  } catch (error) {
    rmSync(file, { force: true });
    throw error;
  }
}

export function removeState({ file, log }: Detached, { keepLog = false } = {}): void {
  rmSync(file, { force: true });
  if (!keepLog) rmSync(log, { force: true });
}

/** The sandboxes whose state files are in a folder. The files of ended processes are removed. */
export async function readStates(folder: string): Promise<Detached[]> {
  const states = namesIn(folder).flatMap((name) => readState(folder, name));
  for (const { file, pid } of states) if (!isAlive(pid)) rmSync(file, { force: true });
  const running = await Promise.all(states.map(isRunning));
  return states.filter((_, index) => running[index]);
}

const namesIn = (folder: string) =>
  attempt(() => readdirSync(folder).flatMap((name) => /^detached-(\w+)\.json$/.exec(name)?.[1] ?? [])) ?? [];

function readState(folder: string, name: string): Detached[] {
  const file = join(folder, `${PREFIX}${name}.json`);
  if (!isPrivate(file)) {
    note(`${file} is ignored: it must be a file that only this user can read and write.`);
    return [];
  }
  // Another command may have removed the file since the folder was read.
  const state = attempt(() => JSON.parse(readFileSync(file, "utf8")) as unknown);
  if (!matchesSchema(State, state)) return [];
  const { url, pid, controlToken } = state as Static<typeof State>;
  return isOnThisMachine(url)
    ? [{ url, pid, ...(controlToken === undefined ? {} : { controlToken }), file, log: logFileIn(folder, name) }]
    : [];
}

/** Windows has neither owner nor mode in this sense. */
export function isPrivate(file: string): boolean {
  const found = lstatSync(file, { throwIfNoEntry: false });
  if (!found || process.platform === "win32") return found?.isFile() ?? true;
  return found.isFile() && found.uid === process.getuid?.() && (found.mode & 0o077) === 0;
}

export function isOnThisMachine(url: string): boolean {
  if (!URL.canParse(url)) return false;
  const { protocol, hostname } = new URL(url);
  const own = ["localhost", ...Object.values(networkInterfaces()).flatMap((addresses = []) => addresses.map(({ address }) => address))];
  return protocol === "http:" && (own.includes(hostname.replace(/^\[|\]$/g, "")) || /^127(\.\d+){3}$/.test(hostname));
}

/** Whether the process of a state file is the one that listens at its URL, by its own description and by the operating system. */
async function isRunning({ url, pid, controlToken }: Detached): Promise<boolean> {
  const listener = await listenerOf(Number(new URL(url).port));
  // Windows has no tool for this that is always there.
  if (listener ? listener.pid !== pid : process.platform !== "win32") return false;
  return (await describeSandboxAt(url, controlToken))?.pid === pid;
}

function attempt<T>(work: () => T): T | undefined {
  try {
    return work();
  } catch {
    return undefined;
  }
}
