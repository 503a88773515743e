// The built program in a pseudo-terminal without a screen. Types keys, searches the output, and can stop reading it.

import { fileURLToPath } from "node:url";
import { spawn } from "@lydell/node-pty";
import { cpuOfProcess } from "./processes.js";

const BIN = fileURLToPath(new URL("../dist/bin.cjs", import.meta.url));
/** The escape sequence that ends a frame. */
const FRAME = "\x1b[?2026l";

/** `words` are the arguments of the program. */
export function openTerminal(words, { program = BIN, columns = 120, rows = 36 } = {}) {
  const { CI, NO_COLOR, ...variables } = process.env;
  const env = { ...variables, TERM: "xterm-256color", LANG: "C.UTF-8" };
  const child = spawn(process.execPath, [program, ...words], { cols: columns, rows, env });
  const ended = new Promise((resolve) => child.onExit(resolve));
  let bytes = "";
  const looks = new Set();
  child.onData((piece) => {
    bytes = (bytes + piece).slice(-200_000);
    for (const look of looks) look();
  });
  const until = (fits) =>
    new Promise((resolve) => {
      const look = () => {
        const found = fits(bytes);
        if (!found) return;
        looks.delete(look);
        resolve(found);
      };
      looks.add(look);
      look();
    });
  return {
    /** Resolves with the match of a pattern in recent output. */
    shows: (pattern) => until((written) => pattern.exec(written)),
    /** Types keys and resolves after the next complete frame. */
    async press(keys) {
      bytes = "";
      child.write(keys);
      await until((written) => written.includes(FRAME));
    },
    firstFrame: () => until((written) => written.includes(FRAME)),
    freeze: () => child.pause(),
    type: (keys) => child.write(keys),
    /** CPU time used, in milliseconds. */
    cpu: () => cpuOfProcess(child.pid),
    end() {
      child.kill("SIGTERM");
      child.resume();
      return ended;
    },
  };
}
