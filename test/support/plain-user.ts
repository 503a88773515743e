// A user to whom file modes apply. Root may read and write everything, so root runs the program as another user.

import { spawnSync } from "node:child_process";
import { chmodSync, chownSync, cpSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join, sep } from "node:path";
import { nativePackages } from "./native-packages.ts";
import { PROGRAM } from "./program.ts";

export interface PlainUser {
  /** The command line that runs the program as this user, with these arguments. */
  command(...words: string[]): [string, ...string[]];
  /** Makes the user the owner of these files and folders. */
  own(...paths: string[]): void;
}

const NOBODY = 65_534;
const root = join(import.meta.dirname, "../..");
let known: PlainUser | string | undefined;

/** The user, or the reason why this machine has none. */
export function plainUser(): PlainUser | string {
  known ??= findUser();
  return known;
}

function findUser(): PlainUser | string {
  if (process.platform === "win32") return "Windows has no file modes";
  if (process.getuid?.() !== 0) return { command: (...words) => [process.execPath, PROGRAM, ...words], own: () => {} };
  if (spawnSync("setpriv", ["--version"]).status !== 0) return "there is no setpriv to run as another user";
  const asNobody = ["setpriv", `--reuid=${NOBODY}`, `--regid=${NOBODY}`, "--clear-groups"] as const;
  const canRun = (...command: string[]) =>
    spawnSync(asNobody[0], [...asNobody.slice(1), ...command], { cwd: "/" }).status === 0;
  const copy = copyProgram();
  // The checkout and Node itself may lie in a folder that only root may enter.
  const node = canRun(process.execPath, "--version") ? process.execPath : copyInto(copy, process.execPath);
  const program = join(copy, "dist/bin.cjs");
  if (!canRun(node, program, "--version")) return `no other user can run the program in ${tmpdir()}`;
  return {
    command: (...words) => [...asNobody, node, program, ...words],
    own: (...paths) => {
      for (const path of paths) chownSync(path, NOBODY, NOBODY);
    },
  };
}

/**
 * Copies the packed program and its packages into a folder that every user can enter. The folder is removed when this
 * process exits.
 */
function copyProgram(): string {
  const copy = mkdtempSync(join(tmpdir(), "program-"));
  process.once("exit", () => rmSync(copy, { recursive: true, force: true }));
  chmodSync(copy, 0o755);
  for (const name of ["package.json", "dist", "fixtures"]) copyInto(copy, join(root, name));
  const modules = join(copy, "node_modules");
  mkdirSync(modules, { mode: 0o755 });
  for (const folder of nativePackages()) copyInto(modules, folder);
  return copy;
}

/** False for the native sources and the compiler's intermediate files of better-sqlite3, which are large. */
const isNeeded = (path: string) =>
  !/[\\/](deps|src|obj|obj\.target)$/.test(path) || !path.includes(`${sep}better-sqlite3${sep}`);

function copyInto(folder: string, from: string): string {
  const to = join(folder, basename(from));
  cpSync(from, to, { recursive: true, filter: isNeeded, dereference: true });
  spawnSync("chmod", ["-R", "a+rX", to]);
  return to;
}
