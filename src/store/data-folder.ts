// Creates the data folder. This file must not import SQLite: the command line uses it too, and loads SQLite only in its worker thread.

import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { SandboxError } from "../kernel/errors.ts";

/** The default folder gets its own `.gitignore`, so that no database is committed by accident. */
export function makeFolder(folder: string): void {
  try {
    mkdirSync(folder, { recursive: true });
    const ignore = join(folder, ".gitignore");
    if (basename(folder) === ".merchant-sandbox" && !existsSync(ignore)) writeFileSync(ignore, "*\n");
  } catch (error) {
    throw new SandboxError(
      `Cannot make the folder ${folder}: ${(error as Error).message}. Choose another place with --db <file>, or keep everything in memory with --memory.`,
    );
  }
}
