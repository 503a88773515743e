// The state folder of this user, outside of every checkout: the key that marks the user's own databases and snapshots,
// and the endpoints in merchant-sandbox.json that the user has confirmed.

import { createHmac, hash } from "node:crypto";
import { linkSync, lstatSync, mkdirSync, readFileSync, renameSync, rmSync, type Stats, writeFileSync } from "node:fs";
import { homedir, tmpdir } from "node:os";
import { isAbsolute, join } from "node:path";
import { attempt, tryParseJson } from "../kernel/attempt.ts";
import { randomToken } from "../kernel/random.ts";

interface Key {
  bytes: string;
  /** Why the key is forgotten when this process ends, as the rest of a sentence; undefined if it is kept. */
  problem?: string;
}

/**
 * The folder is set by XDG_STATE_HOME or LOCALAPPDATA. It has no variable of its own, because each `MERCHANT_SANDBOX_`
 * variable is an option.
 */
export function userStateFolder(): string {
  const { XDG_STATE_HOME, LOCALAPPDATA } = process.env;
  const given = process.platform === "win32" ? LOCALAPPDATA : XDG_STATE_HOME;
  // A relative path would lie in the checkout.
  if (given !== undefined && isAbsolute(given)) return join(given, "merchant-sandbox");
  return join(
    homedir(),
    ...(process.platform === "win32" ? ["AppData", "Local"] : [".local", "state"]),
    "merchant-sandbox",
  );
}

const keys = new Map<string, Key>();

/** The key of this user's marks. Without a usable state folder, each process makes its own key. */
function userKey(): Key {
  const folder = attempt(userStateFolder) ?? "";
  const known = keys.get(folder);
  if (known) return known;
  const key = readKey(folder);
  keys.set(folder, key);
  return key;
}

function readKey(folder: string): Key {
  try {
    if (folder === "") throw new Error("this user has no home folder");
    openFolder(folder);
    const file = join(folder, "key");
    if (lstatSync(file, { throwIfNoEntry: false }) === undefined) writeKey(file);
    if (!isPrivate(file)) throw new Error(`${file} must be a file that only this user can read and write`);
    const bytes = readFileSync(file, "utf8").trim();
    if (bytes.length < KEY_LENGTH) throw new Error(`${file} holds no key; remove it`);
    return { bytes };
  } catch (error) {
    return { bytes: randomToken(), problem: (error as Error).message };
  }
}

/** The fewest characters of a key that is accepted; `randomToken` makes 48. */
const KEY_LENGTH = 32;

/**
 * Links a complete file into place, which is atomic: of two processes that start at once, both read the first one's
 * key.
 */
function writeKey(file: string): void {
  const unfinished = `${file}-${randomToken().slice(0, 12)}`;
  writeFileSync(unfinished, `${randomToken()}\n`, { mode: 0o600, flag: "wx" });
  try {
    linkSync(unfinished, file);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
  } finally {
    rmSync(unfinished, { force: true });
  }
}

/** Creates the folder. Throws if other users can read or write it; a folder from a checkout usually has such a mode. */
export function openFolder(folder: string): void {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const found = lstatSync(folder);
  if (!found.isDirectory() || !isOwnersOnly(found))
    throw new Error(`${folder} must be a folder that only this user can read and write`);
}

/**
 * Why later processes of this user cannot recognise the files that this process marks, as the rest of a sentence;
 * undefined if they can.
 */
export const userStateProblem = (): string | undefined => userKey().problem;

/** A text that only this user's sandboxes can derive from `about`. */
export const markOf = (about: string): string => createHmac("sha256", userKey().bytes).update(about).digest("hex");

/** Whether only this user can read and write the file. Windows has neither owner nor mode in this sense. */
export function isPrivate(file: string): boolean {
  const found = lstatSync(file, { throwIfNoEntry: false });
  if (!found || process.platform === "win32") return found?.isFile() ?? true;
  return found.isFile() && isOwnersOnly(found);
}

const isOwnersOnly = ({ uid, mode }: Stats) =>
  process.platform === "win32" || (uid === process.getuid?.() && (mode & 0o077) === 0);

/** The number of confirmations that are stored. The user is asked again for older ones. */
const MOST_CONFIRMED = 1_000;

const confirmedFile = () => join(userStateFolder(), "confirmed.json");

function readConfirmed(): string[] {
  const file = attempt(confirmedFile);
  if (file === undefined || !lstatSync(file, { throwIfNoEntry: false }) || !isPrivate(file)) return [];
  const found = tryParseJson(attempt(() => readFileSync(file, "utf8")));
  return Array.isArray(found) ? found.filter((one) => typeof one === "string") : [];
}

/** Whether the user has confirmed this text, such as the endpoints of a folder. */
export const isConfirmed = (text: string): boolean => readConfirmed().includes(markOf(text));

/** Stores that the user has confirmed a text. Without a usable state folder, stores nothing. */
export function confirm(text: string): void {
  if (isConfirmed(text) || userKey().problem !== undefined) return;
  const confirmed = [markOf(text), ...readConfirmed()].slice(0, MOST_CONFIRMED);
  attempt(() => {
    const unfinished = `${confirmedFile()}-${randomToken().slice(0, 12)}`;
    writeFileSync(unfinished, JSON.stringify(confirmed), { mode: 0o600, flag: "wx" });
    renameSync(unfinished, confirmedFile());
  });
}

/**
 * Folders to try in order if a sandbox cannot write its own folder: one in the user's state folder, then one among the
 * temporary files. Both are named after the sandbox's folder.
 */
export function replacementsFor(folder: string): string[] {
  const name = hash("sha256", folder, "hex").slice(0, 32);
  const state = attempt(userStateFolder);
  const temporary = join(tmpdir(), `merchant-sandbox-${process.getuid?.() ?? "user"}`);
  return [...(state === undefined ? [] : [join(state, "folders", name)]), join(temporary, name)];
}
