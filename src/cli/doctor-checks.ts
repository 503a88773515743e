// What can stand in a sandbox's way on this machine: each looked at by itself, with the remedy where it does.

import { lookup } from "node:dns/promises";
import { accessSync, constants, existsSync, statfsSync, statSync } from "node:fs";
import { createServer } from "node:net";
import { dirname } from "node:path";
import { MINIMUM_SIZE } from "../../ui/view/layout.ts";
import { openDatabase } from "../store/sqlite/database.ts";
import { portOwner } from "./process/port-owner.ts";
import { folderOf } from "./remote/instances.ts";
import { introduce } from "./remote/probe.ts";

export interface Found {
  check: string;
  state: "ok" | "warn" | "fail";
  says: string;
  /** What to do about it; none where all is well. */
  remedy?: string;
}

export interface Screen {
  isTTY?: boolean | undefined;
  columns?: number | undefined;
  rows?: number | undefined;
  getColorDepth?(): number;
}

const MEGABYTE = 1_048_576;
const LITTLE = 200;
const TOO_LITTLE = 20;

export function checkNode(version: string, engines: string): Found {
  const wanted = engines.replace(/^>=/, "").split(".").map(Number);
  const found = version.split(".").map(Number);
  const difference = wanted.map((part, index) => (found[index] ?? 0) - part).find((part) => part !== 0) ?? 0;
  const says = `Node ${version}; ${engines} is wanted`;
  if (difference >= 0) return { check: "node", state: "ok", says };
  return { check: "node", state: "fail", says, remedy: `Install Node ${engines.replace(">=", "")} or newer.` };
}

/** Opens a database as every start does. */
export function checkSqlite(): Found {
  try {
    openDatabase(undefined).close();
    return { check: "sqlite", state: "ok", says: "better-sqlite3 loads" };
  } catch (error) {
    const says = `better-sqlite3 does not load: ${(error as Error).message.split("\n")[0]}`;
    const remedy = "Install again with this very Node and with install scripts allowed: npm rebuild better-sqlite3.";
    return { check: "sqlite", state: "fail", says, remedy };
  }
}

export async function checkPort(port: number, host = "127.0.0.1"): Promise<Found> {
  if (port === 0) return { check: "port", state: "ok", says: "any port that is free" };
  const trouble = await whyNotListening(port, host);
  if (trouble === undefined) return { check: "port", state: "ok", says: `port ${port} is free` };
  if (trouble !== "EADDRINUSE")
    return {
      check: "port",
      state: "fail",
      says: `port ${port} of ${host} cannot be opened: ${trouble}`,
      remedy: "Choose another with --port <n>.",
    };
  const says = `port ${port} belongs to ${(await portOwner(port)) ?? "another program"}`;
  const isOurs = (await introduce(`http://127.0.0.1:${port}`, undefined)) !== undefined;
  const remedy = isOurs
    ? "Use that one, end it, or choose another with --port <n>."
    : "End it, or choose another with --port <n> or --port 0.";
  return { check: "port", state: isOurs ? "warn" : "fail", says, remedy };
}

function whyNotListening(port: number, host: string): Promise<string | undefined> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once("error", (error: Error & { code?: string }) => resolve(error.code ?? error.message));
    server.listen(port, host, () => server.close(() => resolve(undefined)));
  });
}

/** Where nothing is made yet, the folder counts in which it would be made. */
export function checkFolder(db: string | undefined): Found {
  const folder = nearest(folderOf(db));
  const remedy = "Choose another place with --db <file>, or keep everything in memory with --memory.";
  try {
    if (!statSync(folder).isDirectory()) return { check: "folder", state: "fail", says: `${folder} is no folder`, remedy };
    accessSync(folder, constants.W_OK | constants.X_OK);
    return { check: "folder", state: "ok", says: `${folder} can be written` };
  } catch (error) {
    return { check: "folder", state: "fail", says: `${folder} cannot be written: ${(error as Error).message}`, remedy };
  }
}

export const freeSpace = (db: string | undefined): number => {
  const { bavail, bsize } = statfsSync(nearest(folderOf(db)));
  return bavail * bsize;
};

export function checkDisk(bytes: number): Found {
  const megabytes = Math.floor(bytes / MEGABYTE);
  const says = `${megabytes} MB free on the disk`;
  if (megabytes >= LITTLE) return { check: "disk", state: "ok", says };
  return {
    check: "disk",
    state: megabytes < TOO_LITTLE ? "fail" : "warn",
    says,
    remedy: "Make room, or keep everything in memory with --memory.",
  };
}

function nearest(folder: string): string {
  return existsSync(folder) ? folder : nearest(dirname(folder));
}

/** What the dashboard needs; without a terminal there are plain lines, which need nothing. */
export function checkTerminal({ isTTY, columns = 0, rows = 0, getColorDepth }: Screen, environment: NodeJS.ProcessEnv): Found {
  if (!isTTY) return { check: "terminal", state: "ok", says: "no terminal: plain lines instead of the dashboard" };
  const { LC_ALL, LC_CTYPE, LANG, TERM, NO_COLOR } = environment;
  const colours = NO_COLOR ? "no colours (NO_COLOR)" : `${2 ** (getColorDepth?.() ?? 1)} colours`;
  const isUnicode = process.platform === "win32" || /utf-?8/i.test(LC_ALL || LC_CTYPE || LANG || "");
  const says = `terminal of ${columns}×${rows}, ${colours}, ${isUnicode ? "Unicode" : "no Unicode"}`;
  if (TERM === "dumb")
    return {
      check: "terminal",
      state: "warn",
      says: `${says}, TERM=dumb`,
      remedy: "Set TERM, as to xterm-256color; there are plain lines until then.",
    };
  if (columns < MINIMUM_SIZE.columns || rows < MINIMUM_SIZE.rows)
    return {
      check: "terminal",
      state: "warn",
      says,
      remedy: `Make it ${MINIMUM_SIZE.columns}×${MINIMUM_SIZE.rows} or larger for the dashboard, or take --no-ui.`,
    };
  if (!isUnicode) return { check: "terminal", state: "warn", says, remedy: "Set LANG to a UTF-8 locale, as C.UTF-8." };
  return { check: "terminal", state: "ok", says };
}

/** Many HTTP clients send even what is meant for this machine through a proxy, unless told not to. */
export function checkProxy(environment: NodeJS.ProcessEnv): Found {
  const variable = (name: string) => environment[name] || environment[name.toLowerCase()];
  const proxies = ["HTTP_PROXY", "ALL_PROXY"].filter((name) => variable(name));
  const exempt = (variable("NO_PROXY") ?? "").split(/[\s,]+/);
  if (proxies.length === 0) return { check: "proxy", state: "ok", says: "no proxy is set" };
  const missing = ["localhost", "127.0.0.1"].filter((name) => !exempt.includes("*") && !exempt.includes(name));
  if (missing.length === 0)
    return { check: "proxy", state: "ok", says: `${proxies.join(" and ")} is set, and NO_PROXY leaves this machine out` };
  const says = `${proxies.join(" and ")} is set, and NO_PROXY lacks ${missing.join(" and ")}: clients may look for the sandbox at the proxy`;
  return { check: "proxy", state: "warn", says, remedy: "Set NO_PROXY=localhost,127.0.0.1,::1 (and no_proxy, which some read instead)." };
}

export async function checkLocalhost(find: typeof lookupAll = lookupAll): Promise<Found> {
  const addresses = await find("localhost").catch(() => []);
  const remedy = "Let /etc/hosts say that localhost is 127.0.0.1, or use http://127.0.0.1:4747.";
  const strange = addresses.filter((address) => !/^(127\.|::1$)/.test(address));
  if (addresses.length === 0) return { check: "localhost", state: "warn", says: "localhost has no address", remedy };
  if (strange.length > 0) return { check: "localhost", state: "warn", says: `localhost leads to ${strange.join(", ")}`, remedy };
  return { check: "localhost", state: "ok", says: `localhost leads to ${addresses.join(", ")}` };
}

const lookupAll = async (name: string) => (await lookup(name, { all: true })).map(({ address }) => address);
