// Caches the default data, with its dates moved to today, in the user's state folder. All processes of this day share
// it. Trick. Reason: moving the dates changes the text of 577 records. Figure: without it, a start takes 1.2 times the
// CPU time.

import { readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { attempt } from "../../kernel/attempt.ts";
import { randomToken } from "../../kernel/random.ts";
import { isPrivate, openFolder, userStateFolder } from "../user-state.ts";

const PREFIX = "world-";

/** Returns the cached image of this name. If there is none, makes it and caches it in place of any other image. */
export function keptImage(name: string, make: () => Buffer): Buffer {
  const folder = attempt(cacheFolder);
  if (folder === undefined) return make();
  const file = join(folder, PREFIX + name);
  const kept = isPrivate(file) ? attempt(() => readFileSync(file)) : undefined;
  if (kept !== undefined && isWhole(kept)) return kept;
  const made = make();
  attempt(() => keep(folder, file, made));
  return made;
}

/** The folder that src/cli/compiled-program.cjs also uses. Throws if another user can write there. */
function cacheFolder(): string {
  const folder = join(userStateFolder(), "cache");
  for (const path of [userStateFolder(), folder]) openFolder(path);
  return folder;
}

/**
 * Whether the file has the length that its header states. A crash of the machine can leave a file without its content.
 */
function isWhole(bytes: Buffer): boolean {
  const [PAGE_SIZE, PAGES, HEADER] = [16, 28, 100];
  return bytes.length > HEADER && bytes.length === bytes.readUInt16BE(PAGE_SIZE) * bytes.readUInt32BE(PAGES);
}

/** Renames the complete file into place, because another process may be reading it. */
function keep(folder: string, file: string, bytes: Buffer): void {
  const unfinished = `${file}-${randomToken().slice(0, 12)}`;
  writeFileSync(unfinished, bytes, { mode: 0o600, flag: "wx" });
  renameSync(unfinished, file);
  for (const other of readdirSync(folder).filter((found) => found.startsWith(PREFIX)))
    if (join(folder, other) !== file) rmSync(join(folder, other), { force: true });
}
