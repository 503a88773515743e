// The data folder and the files in it. This file must not import SQLite: the command line uses it too, and loads SQLite
// only in its worker thread.

import { existsSync, lstatSync, mkdirSync, readlinkSync, realpathSync, writeFileSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { attempt } from "../kernel/attempt.ts";
import { SandboxError } from "../kernel/errors.ts";

const DEFAULT_FOLDER = ".merchant-sandbox";
export const ANOTHER_PLACE = "Choose another place with --db <file>, or keep everything in memory with --memory.";

/** The default folder gets its own `.gitignore`, so that no database is committed by accident. */
export function makeFolder(folder: string): void {
  const isDefault = basename(folder) === DEFAULT_FOLDER;
  if (isDefault) refuseLink(folder);
  try {
    mkdirSync(folder, { recursive: true });
    const ignore = join(folder, ".gitignore");
    // `lstat` also finds a link to a missing file. Writing through the link would create that file.
    if (isDefault && lstatSync(ignore, { throwIfNoEntry: false }) === undefined)
      writeFileSync(ignore, "*\n", { flag: "wx" });
  } catch (error) {
    throw new SandboxError(`Cannot make the folder ${folder}: ${(error as Error).message}. ${ANOTHER_PLACE}`);
  }
}

/** Throws if the path is a symbolic link. A link in a checkout may lead to any of the user's files. */
export function refuseLink(path: string): void {
  if (isLink(path))
    throw new SandboxError(
      `${path} is a symbolic link, which the sandbox does not follow in its own folder. Remove it. ${ANOTHER_PLACE}`,
    );
}

export const isLink = (path: string) => lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() === true;

/** Throws for a link in the default folder. Elsewhere, the user may point --db at a link. */
export function refuseLinkInDefaultFolder(file: string): void {
  if (basename(dirname(file)) !== DEFAULT_FOLDER) return;
  refuseLink(dirname(file));
  refuseLink(file);
}

/** The most links to follow: links may form a cycle. */
const MOST_LINKS = 40;

/** The path without symbolic links, so that two spellings of a file share one lock. The file need not exist yet. */
export function realPath(file: string, links = 0): string {
  if (existsSync(file)) return realpathSync(file);
  const folder = dirname(file);
  const target = attempt(() => readlinkSync(file));
  if (target !== undefined && links < MOST_LINKS) return realPath(resolve(folder, target), links + 1);
  return folder === file ? file : join(realPath(folder), basename(file));
}
