// Whether the terminal listens to us now.

import { readFileSync } from "node:fs";

/** What runs in the background is stopped when it touches the terminal. Where nobody can tell, we are taken to be in front. */
export function isInForeground(): boolean {
  try {
    // After the name, which may hold anything: state, parent, group, session, terminal, the group in front.
    const stat = readFileSync("/proc/self/stat", "utf8");
    const [, , group, , , inFront] = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    return group === inFront;
  } catch {
    return true;
  }
}
