// Finds the sandbox that a command is about.

import { SandboxError } from "../../kernel/errors.ts";
import { optionDefinitions, variableOf } from "../../sandbox/options.ts";
import type { FlagDefinition, Flags } from "../arguments.ts";
import { connectionFlags } from "./running-sandbox.ts";
import { type Detached, folderOf, readStates } from "./state-files.ts";

/** The sandbox that a command is about; `detached` is set if it was started with --detach. */
export interface FoundSandbox {
  url: string;
  controlToken: string | undefined;
  detached?: Detached;
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

/** The detached sandboxes of this folder. */
export const findDetached = (flags: Flags): Promise<Detached[]> => readStates(folderOf(flags.db ?? process.env[variableOf("db")]));

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
