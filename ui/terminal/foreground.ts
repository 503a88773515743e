// Whether this process is in the terminal's foreground.

import { readFileSync } from "node:fs";

/** The system stops a background process that uses the terminal. Without /proc, the process counts as in the foreground. */
export function isInForeground(): boolean {
  try {
    // The fields follow the name, which may contain any character: state, ppid, pgrp, session, tty_nr, tpgid.
    const stat = readFileSync("/proc/self/stat", "utf8");
    const [, , processGroup, , , foregroundGroup] = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    return processGroup === foregroundGroup;
  } catch {
    return true;
  }
}
