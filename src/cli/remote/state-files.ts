// State files let commands find sandboxes that they cannot find by a database: detached sandboxes, and sandboxes in
// memory in the foreground.
//
// A checkout or an archive may contain such a file, and `stop` kills the process that it names. So a file counts only
// if no other user can read or write it, its URL is on this machine, and the named process listens there. The log's
// path is derived from the file's name.

import { accessSync, constants, existsSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { networkInterfaces } from "node:os";
import { dirname, join, resolve } from "node:path";
import { attempt } from "../../kernel/attempt.ts";
import { SandboxError } from "../../kernel/errors.ts";
import { randomToken } from "../../kernel/random.ts";
import { optionDefinitions } from "../../sandbox/options.ts";
import { type Static, Type } from "../../schema/shapes.ts";
import { matchesSchema } from "../../schema/validator.ts";
import { ANOTHER_PLACE, makeFolder } from "../../store/data-folder.ts";
import { isPrivate, openFolder, replacementsFor } from "../../store/user-state.ts";
import { note } from "../output/print.ts";
import { listenerOf } from "../process/port-owner.ts";
import { isAlive } from "../process/signals.ts";
import { describeSandboxAt, TIMEOUT_OF_KNOWN } from "./probe.ts";

const State = Type.Object({
  url: Type.String(),
  pid: Type.Integer({ minimum: 1 }),
  controlToken: Type.Optional(Type.String()),
});

type SandboxKind = "detached" | "foreground";

/** A sandbox that runs now and has a state file. */
export interface StatedSandbox extends Static<typeof State> {
  kind: SandboxKind;
  file: string;
  /** The log of a detached sandbox's output. */
  log: string;
}

export const folderOf = (db: string | undefined) => dirname(resolve(db ?? optionDefinitions.db.default));

export const logFileIn = (folder: string, name: string) => join(folder, `detached-${name}.log`);

const stateFileIn = (folder: string, kind: SandboxKind, name: string) => join(folder, `${kind}-${name}.json`);

/**
 * The folder for the state file and the log of a sandbox: the folder of its database. If that is read-only, a sandbox
 * in memory uses a folder in the user's state folder or among the temporary files.
 */
export function writableFolder(folder: string, { memory }: { memory: boolean }): string {
  try {
    makeFolder(folder);
    accessSync(folder, constants.W_OK);
    return folder;
  } catch (error) {
    if (memory) return stateFolderFor(folder);
    if (error instanceof SandboxError) throw error;
    throw new SandboxError(`Cannot write in ${folder}: ${(error as Error).message}. ${ANOTHER_PLACE}`);
  }
}

function stateFolderFor(folder: string): string {
  const problems: string[] = [];
  for (const replacement of replacementsFor(folder))
    try {
      openFolder(dirname(replacement));
      openFolder(replacement);
      return replacement;
    } catch (error) {
      problems.push((error as Error).message);
    }
  throw new SandboxError(
    `Cannot write in ${folder}, in the user's state folder or among the temporary files: ${problems.join("; ")}. ` +
      "Set XDG_STATE_HOME to a folder for the log and the state of sandboxes in memory.",
  );
}

/** Writes a state file, and returns its path. */
export function writeState(folder: string, kind: SandboxKind, name: string, state: Static<typeof State>): string {
  const file = stateFileIn(folder, kind, name);
  try {
    writeFileSync(file, `${JSON.stringify(state, null, 2)}\n`, { mode: 0o600, flag: "wx" });
    return file;
  } catch (error) {
    rmSync(file, { force: true });
    throw error;
  }
}

/**
 * Lets commands in a folder find a foreground sandbox without a database. Returns a function that removes the file, and
 * also the folder if it was created here and contains only its .gitignore. If no folder is writable, writes no file.
 */
export function writeForegroundState(folder: string, state: Static<typeof State>): () => void {
  const isNewFolder = !existsSync(folder);
  const file = attempt(() =>
    writeState(writableFolder(folder, { memory: true }), "foreground", randomToken().slice(0, 12), state),
  );
  return () => {
    if (file === undefined) return;
    rmSync(file, { force: true });
    if (isNewFolder && attempt(() => readdirSync(folder))?.join() === ".gitignore")
      rmSync(folder, { recursive: true, force: true });
  };
}

export function removeState({ file, log }: StatedSandbox, { keepLog = false } = {}): void {
  rmSync(file, { force: true });
  if (!keepLog) rmSync(log, { force: true });
}

/** The sandboxes with a state file in a folder, newest first. Removes the files of ended processes. */
export async function readStates(folder: string): Promise<StatedSandbox[]> {
  const states = [folder, ...replacementsFor(folder)].flatMap((place) =>
    namesIn(place).flatMap(([kind, name]) => readState(place, kind, name)),
  );
  for (const { file, pid } of states) if (!isAlive(pid)) rmSync(file, { force: true });
  const running = await Promise.all(states.map(isRunning));
  return states.filter((_, index) => running[index]).sort((one, other) => timeOf(other.file) - timeOf(one.file));
}

const timeOf = (file: string) => statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? 0;

function namesIn(folder: string): [SandboxKind, string][] {
  const found = (attempt(() => readdirSync(folder)) ?? []).map((name) =>
    /^(detached|foreground)-(\w+)\.json$/.exec(name),
  );
  return found.flatMap((parts) => (parts ? [[parts[1] as SandboxKind, parts[2] as string]] : []));
}

/** The files that the user was warned about. `wait` reads the folder twenty times a second, but must warn only once. */
const ignored = new Set<string>();

function readState(folder: string, kind: SandboxKind, name: string): StatedSandbox[] {
  const file = stateFileIn(folder, kind, name);
  if (!isPrivate(file)) {
    if (ignored.has(file)) return [];
    ignored.add(file);
    note(`${file} is ignored: it must be a file that only this user can read and write.`);
    return [];
  }
  // Another command may have removed the file since the folder was read.
  const state = attempt(() => JSON.parse(readFileSync(file, "utf8")) as unknown);
  if (!matchesSchema(State, state)) return [];
  const { url, pid, controlToken } = state as Static<typeof State>;
  return isOnThisMachine(url)
    ? [{ kind, url, pid, ...(controlToken === undefined ? {} : { controlToken }), file, log: logFileIn(folder, name) }]
    : [];
}

export function isOnThisMachine(url: string): boolean {
  if (!URL.canParse(url)) return false;
  const { protocol, hostname } = new URL(url);
  const own = [
    "localhost",
    ...Object.values(networkInterfaces()).flatMap((addresses = []) => addresses.map(({ address }) => address)),
  ];
  return protocol === "http:" && (own.includes(hostname.replace(/^\[|\]$/g, "")) || /^127(\.\d+){3}$/.test(hostname));
}

/** Whether the process of a state file listens at its URL: asks the operating system and the sandbox. */
async function isRunning({ url, pid, controlToken }: StatedSandbox): Promise<boolean> {
  const listener = await listenerOf(Number(new URL(url).port), pid);
  // On Windows the listener may be unknown, because lsof is not part of the system.
  if (listener ? listener.pid !== pid : process.platform !== "win32") return false;
  // If a busy sandbox counted as stopped, a command would continue with the sandbox at the default address.
  return (await describeSandboxAt(url, controlToken, listener ? TIMEOUT_OF_KNOWN : undefined))?.pid === pid;
}
