// Finds the sandbox for a command: by --url, by variable, in this folder, or at the default port.

import { existsSync, readdirSync, realpathSync } from "node:fs";
import { join, resolve } from "node:path";
import { addressOf } from "../../client/http-transport.ts";
import { attempt } from "../../kernel/attempt.ts";
import { SandboxError, usageError } from "../../kernel/errors.ts";
import { PROGRAM } from "../../kernel/program-name.ts";
import { optionDefinitions } from "../../sandbox/options.ts";
import { realPath } from "../../store/data-folder.ts";
import { lastOwner } from "../../store/sqlite/session-file.ts";
import { isPrivate } from "../../store/user-state.ts";
import type { FlagDefinition, Flags } from "../arguments.ts";
import { note } from "../output/print.ts";
import { listenerOf } from "../process/port-owner.ts";
import { readSettings } from "../settings.ts";
import { describeSandboxAt, whyNotReady } from "./probe.ts";
import { folderOf, isOnThisMachine, readStates, type StatedSandbox } from "./state-files.ts";

/** The sandbox for a command. `detached` is set if it was started with --detach. */
export interface FoundSandbox {
  url: string;
  controlToken: string | undefined;
  /** How it was found. `database`: it has the database open. `default`: none was found, so `url` is the default URL. */
  by: "name" | "database" | "folder" | "default";
  detached?: StatedSandbox;
}

/** The flags of every command that needs a running sandbox. */
export const connectionFlags = {
  url: {
    value: "url",
    description: "use the sandbox at this address",
    defaultText: "MERCHANT_SANDBOX_URL, the sandbox of this folder, or port 4747",
  },
  db: { value: "file", description: "use the sandbox that keeps its data in this SQLite file" },
  "control-token": {
    value: "token",
    description: "use this control token, if the sandbox requires one",
  },
} satisfies Record<string, FlagDefinition>;

type Place = Awaited<ReturnType<typeof placeOf>>;

async function placeOf(flags: Flags) {
  const { options } = await readSettings({}, ["db", "port", "controlToken"]);
  const { db = optionDefinitions.db.default, port = optionDefinitions.port.default, controlToken } = options;
  return {
    db: flags.db ?? (db as string),
    /** The URL to use if no sandbox is named or found. */
    defaultUrl: `http://127.0.0.1:${port || optionDefinitions.port.default}`,
    controlToken: flags["control-token"] ?? (controlToken as string | undefined),
  };
}

/**
 * The sandboxes of this folder, in the foreground or detached. Without --db, also looks for sandboxes of other
 * databases in the folder.
 */
export async function findHere(flags: Flags): Promise<FoundSandbox[]> {
  const place = await placeOf(flags);
  const databases = flags.db === undefined ? databasesIn(process.cwd()) : [];
  const found = new Map<string, FoundSandbox>();
  for (const db of [place.db, ...databases])
    for (const one of await findInFolder({ ...place, db }, true)) if (!found.has(one.url)) found.set(one.url, one);
  return [...found.values()];
}

const MOST_DATABASES = 20;

const databasesIn = (folder: string): string[] =>
  (attempt(() => readdirSync(folder)) ?? [])
    .filter((name) => /\.(db|sqlite3?)$/.test(name))
    .slice(0, MOST_DATABASES)
    .map((name) => join(folder, name));

/** The URL from the flags or the environment. --db takes precedence over the variable. */
export function namedUrl({ url, db }: Flags): string | undefined {
  const named = url ?? (db === undefined ? process.env.MERCHANT_SANDBOX_URL : undefined);
  return named === undefined ? undefined : addressOf(named);
}

/**
 * Finds the sandbox for a command. With `toStop`, prefers detached sandboxes to a sandbox in the foreground, which is
 * stopped in its own terminal, and fails if there are several. Otherwise, if --db names a file, fails unless a sandbox
 * has the file open or `mayBeAbsent` is set.
 */
export async function findSandbox(flags: Flags, { toStop = false, mayBeAbsent = false } = {}): Promise<FoundSandbox> {
  const place = await placeOf(flags);
  const { controlToken } = place;
  const named = namedUrl(flags);
  const here = await findInFolder(place, named === undefined);
  if (flags.db !== undefined && named === undefined && !toStop && !mayBeAbsent)
    return { ...(await findByDatabase(flags.db, here)), ...(controlToken !== undefined && { controlToken }) };
  const detached = toStop ? here.filter((one) => one.detached) : [];
  const all = detached.length > 0 ? detached : here;
  const [found, ...more] = named === undefined ? all : all.filter(({ url }) => url === named);
  if (more.length > 0 && toStop)
    usageError(`Several sandboxes run here: ${all.map(({ url }) => url).join(", ")}. Choose one with --url <url>.`);
  if (!found) return { url: named ?? place.defaultUrl, controlToken, by: named === undefined ? "default" : "name" };
  if (named === undefined && !toStop) await noteOthers(found.url, more, place);
  return { ...found, controlToken: controlToken ?? found.controlToken, by: named === undefined ? "folder" : "name" };
}

/** The sandbox that keeps its data in this file. Fails if there is none, because any other sandbox has other data. */
async function findByDatabase(db: string, here: readonly FoundSandbox[]): Promise<FoundSandbox> {
  const path = resolve(db);
  const file = existsSync(path) ? realpathSync(path) : path;
  for (const one of here)
    if (one.by === "database" || (await describeSandboxAt(one.url, one.controlToken))?.database === file) return one;
  throw new SandboxError(
    `No running sandbox keeps its data in ${path}. ` +
      `Start one with ${PROGRAM} --db ${db}, or name another with --url <url>.`,
  );
}

/** First the sandbox that has the database open, then sandboxes with a state file, newest first. */
async function findInFolder(place: Place, alsoForeground: boolean): Promise<FoundSandbox[]> {
  const states = await readStates(folderOf(place.db));
  const stated = states.map((one) => ({
    url: one.url,
    controlToken: one.controlToken,
    by: "folder" as const,
    ...(one.kind === "detached" && { detached: one }),
  }));
  const url = alsoForeground ? await urlOfOwner(resolve(place.db), place.controlToken) : undefined;
  if (url === undefined) return stated;
  const isOwner = (one: FoundSandbox) => one.url === url;
  const owner = stated.find(isOwner) ?? { url, controlToken: place.controlToken };
  return [{ ...owner, by: "database" }, ...stated.filter((one) => !isOwner(one))];
}

/**
 * The URL of the process that has this database open. A database from an archive may name any process and address, so
 * the address is used only if no other user can read or write the database, and if the process at the address reports
 * that it has this file open.
 */
async function urlOfOwner(path: string, token: string | undefined): Promise<string | undefined> {
  if (!existsSync(path) || !isPrivate(path)) return undefined;
  const file = realPath(path);
  const owner = lastOwner(file);
  if (!owner) return undefined;
  // A sandbox that is open to the network may have a host name that only other machines resolve.
  const url = isOnThisMachine(owner.url) ? owner.url : `http://127.0.0.1:${new URL(owner.url).port}`;
  const listener = await listenerOf(Number(new URL(url).port), owner.pid);
  if (listener ? listener.pid !== owner.pid : process.platform !== "win32") return undefined;
  const index = await describeSandboxAt(url, token);
  if (index) return index.pid === owner.pid && index.database === file ? url : undefined;
  // Without its token, a sandbox does not describe itself.
  return (await whyNotReady(url, token)) === undefined ? url : undefined;
}

/** Prints which sandbox a command uses if others run in this folder or at the default port. */
async function noteOthers(url: string, more: readonly FoundSandbox[], { defaultUrl }: Place): Promise<void> {
  const others = more.map((one) => one.url);
  if (others.length > 0)
    return note(`Using ${url}. Also in this folder: ${others.join(", ")}. Choose another one with --url <url>.`);
  if (url === defaultUrl || !(await describeSandboxAt(defaultUrl, undefined))) return;
  note(
    `Using ${url}, the sandbox of this folder. Another one runs at ${defaultUrl}: choose it with --url ${defaultUrl}.`,
  );
}
