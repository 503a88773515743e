// Loads better-sqlite3's native addon, after a check that this Node has the Node-API that the addon calls.

import { createRequire } from "node:module";
import { join } from "node:path";
import Sqlite from "better-sqlite3";
import { attempt } from "../../kernel/attempt.ts";
import { type InstallationErrorCode, SandboxError } from "../../kernel/errors.ts";
import { once } from "../../kernel/once.ts";

export interface AddonProblem {
  code: InstallationErrorCode;
  message: string;
  remedy: string;
}

/**
 * Version 12 is compiled for one Node version. The binary of version 13 calls functions that older Nodes lack, and
 * crashes them without a message.
 */
const NODE_API_OF_VERSION_13 = 10;

/** Throws if better-sqlite3 cannot run in this Node. */
export function requireAddon(): void {
  const problem = findAddonProblem();
  if (problem) throw new SandboxError(`${problem.message}: ${problem.remedy}.`, "unsupportedNode", problem);
}

/** Undefined if better-sqlite3 can open a database. */
export const findAddonProblem = once((): AddonProblem | undefined => {
  const version = Number(process.versions.napi) < NODE_API_OF_VERSION_13 ? installedVersion() : undefined;
  if (version !== undefined && Number.parseInt(version, 10) >= 13)
    return {
      code: "unsupported_node",
      message:
        `better-sqlite3 ${version} needs Node-API ${NODE_API_OF_VERSION_13}, ` +
        `and Node ${process.versions.node} has Node-API ${process.versions.napi}`,
      remedy: "install Node 24, or 22.14 or newer, or pin better-sqlite3 to ^12.11.1",
    };
  try {
    new Sqlite(":memory:").close();
    return undefined;
  } catch (error) {
    const { message } = error as Error;
    const failure = `better-sqlite3 does not load in Node ${process.versions.node}`;
    if (message.includes("different Node.js version"))
      return {
        code: "addon_not_loaded",
        message: `${failure}: it was compiled for another Node version`,
        remedy: "run npm rebuild better-sqlite3",
      };
    return {
      code: "addon_not_loaded",
      message: `${failure}: ${message.split("\n")[0]}`,
      remedy: "install it again with install scripts allowed, or install Node 24, which needs no install script",
    };
  }
});

/** Undefined if a bundler left the package's manifest out. */
const installedVersion = (): string | undefined =>
  attempt(() => createRequire(join(import.meta.dirname, "package.json"))("better-sqlite3/package.json").version);
