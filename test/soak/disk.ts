// A disk that a test can fill and free: a separate file system if one can be mounted, or else a limit on file sizes.

import { spawnSync } from "node:child_process";
import { statfsSync } from "node:fs";
import { afterEach } from "vitest";
import { folder } from "../support/program.ts";

export interface Disk {
  readonly folder: string;
  /** How the disk is filled. Undefined if this system offers no way to fill it. */
  readonly by: "a file system of its own" | "a limit of the process" | undefined;
  /** Makes further writes fail for the process `pid`. */
  fill(pid: number): void;
  free(pid: number): void;
}

const mounted: string[] = [];

// Hooks run in reverse order. This module is imported before the folders are created, so the file system is unmounted
// after the folders are removed.
afterEach(() => {
  for (const place of mounted.splice(0)) must("umount", "-l", place);
});

const did = (command: string, ...words: string[]) => spawnSync(command, words, { stdio: "ignore" }).status === 0;

export function openDisk(): Disk {
  const place = folder();
  if (
    process.platform === "linux" &&
    process.getuid?.() === 0 &&
    did("mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", place)
  )
    return ownFileSystem(place);
  if (did("prlimit", "--version"))
    return {
      ...nothing(place),
      by: "a limit of the process",
      fill: (pid) => limit(pid, "0"),
      free: (pid) => limit(pid, "unlimited"),
    };
  return nothing(place);
}

const nothing = (place: string): Disk => ({ folder: place, by: undefined, fill() {}, free() {} });

/**
 * Sets only the soft limit, because a lowered hard limit could not be raised again. Ignores errors, because the process
 * may have exited.
 */
const limit = (pid: number, most: string) => void did("prlimit", "--pid", String(pid), `--fsize=${most}:unlimited`);

function ownFileSystem(place: string): Disk {
  const resize = (size: string) => must("mount", "-o", `remount,size=${size}`, place);
  const used = () => {
    const { blocks, bfree, bsize } = statfsSync(place);
    return (blocks - bfree) * bsize;
  };
  const free = () => resize("8g");
  mounted.push(place);
  free();
  return {
    folder: place,
    by: "a file system of its own",
    fill() {
      // The new size is rejected if a write has meanwhile used more space, so this tries again.
      while (!did("mount", "-o", `remount,size=${used()}`, place));
    },
    free,
  };
}

function must(command: string, ...words: string[]): void {
  const { status, stderr } = spawnSync(command, words, { encoding: "utf8" });
  if (status !== 0) throw new Error(`${command} ${words.join(" ")}: ${stderr}`);
}
