// Detached sandboxes: a state file for each in the folder of its database, and finding the one that a command is about.

import { readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { SandboxError } from "../../kernel/errors.ts";
import { optionDefinitions, variableOf } from "../../sandbox/options.ts";
import type { FlagDefinition, Flags } from "../arguments.ts";
import type { ReadyFacts } from "../output/output.ts";
import { isAlive } from "../process/signals.ts";
import { describeSandboxAt } from "./probe.ts";
import { connectionFlags } from "./running-sandbox.ts";

export interface Detached extends ReadyFacts {
  log: string;
}

/** The sandbox that a command is about; `detached` is set if it was started with --detach. */
export interface FoundSandbox {
  url: string;
  controlToken: string | undefined;
  detached?: Detached & { file: string };
}

/** The flags of every command that can find a detached sandbox. */
export const targetFlags = {
  ...connectionFlags,
  url: {
    value: "url",
    description: "use this sandbox (default: MERCHANT_SANDBOX_URL, the detached one of this folder, or port 4747)",
  },
  db: { value: "file", description: "look for the detached sandbox that was started with this SQLite file" },
} satisfies Record<string, FlagDefinition>;

export const folderOf = (db: string | undefined) => dirname(resolve(db ?? optionDefinitions.db.default));

export const logFileIn = (folder: string, name: string) => join(folder, `detached-${name}.log`);

/** Readable by the owner only: it may contain the control token. */
export function writeState(folder: string, name: string, state: Detached): void {
  writeFileSync(join(folder, `detached-${name}.json`), `${JSON.stringify(state, null, 2)}\n`, { mode: 0o600 });
}

export const removeState = ({ file }: { file: string }) => rmSync(file, { force: true });

/** The sandboxes with a state file that still respond as the same process. State files of ended processes are removed. */
export async function findDetached(flags: Flags): Promise<(Detached & { file: string })[]> {
  const folder = folderOf(flags.db ?? process.env[variableOf("db")]);
  const states = namesIn(folder).flatMap((name) => readState(join(folder, name)));
  for (const state of states) if (!isAlive(state.pid)) removeState(state);
  const answering = await Promise.all(
    states.map(async (state) => (await describeSandboxAt(state.url, state.controlToken))?.pid === state.pid),
  );
  return states.filter((_, index) => answering[index]);
}

/** The sandbox that is named; else the only detached one of this folder; else the one at the default address. */
export async function findSandbox(flags: Flags): Promise<FoundSandbox> {
  const named = (flags.url ?? process.env.MERCHANT_SANDBOX_URL)?.replace(/\/(v1\/?)?$/, "");
  const token = flags["control-token"] ?? process.env[variableOf("controlToken")];
  const all = await findDetached(flags);
  const [found, ...more] = named === undefined ? all : all.filter(({ url }) => url === named);
  if (more.length > 0)
    throw new SandboxError(`Several sandboxes run here: ${all.map(({ url }) => url).join(", ")}. Choose one with --url <url>.`, "usage");
  if (found) return { url: found.url, controlToken: token ?? found.controlToken, detached: found };
  const port = process.env[variableOf("port")] ?? optionDefinitions.port.default;
  return { url: named ?? `http://127.0.0.1:${port}`, controlToken: token };
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder).filter((name) => /^detached-\w+\.json$/.test(name));
  } catch {
    return [];
  }
}

/** Another command may have removed the file since the folder was read. */
function readState(file: string): (Detached & { file: string })[] {
  try {
    return [{ ...(JSON.parse(readFileSync(file, "utf8")) as Detached), file }];
  } catch {
    return [];
  }
}
