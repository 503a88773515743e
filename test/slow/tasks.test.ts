// The keys of the table of tasks in docs/dashboard.md do what it says in the program too: typed into one dashboard in a pseudo-terminal.

import { expect, test } from "vitest";
import { realDelay } from "../../src/kernel/clock.ts";
import { NOON } from "../support/sandbox.ts";
import { RESULTS, tasks, workplace } from "../support/tasks.ts";
import { openProgram, type TestTerminal } from "../support/terminal.ts";

const BYTES: Readonly<Record<string, string>> = { enter: "\r", tab: "\t", right: "\x1b[C" };

/** The texts sent to the clipboard since `from`. */
const copied = (bytes: string, from: number) =>
  // biome-ignore lint/suspicious/noControlCharactersInRegex: the sequence that copies begins with one.
  [...bytes.slice(from).matchAll(/\x1b\]52;c;([\w+/=]+)/g)].map(([, text = ""]) => `copied: ${Buffer.from(text, "base64")}`);

/** Types keys with pauses: a person waits for what a key opens, and an escape must not arrive together with the next key. */
async function perform(terminal: TestTerminal, keys: readonly string[], pause: number): Promise<void> {
  for (const key of keys) {
    terminal.type(BYTES[key] ?? key);
    await realDelay(pause);
  }
}

test("each task is done by its keys", async () => {
  const bench = await workplace();
  const terminal = openProgram(["attach", bench.url], { size: { columns: 120, rows: 45 } });
  await terminal.shows(/decline +200/);
  // The form is ready once it lists the actions of the sandbox.
  terminal.type("x");
  await terminal.shows("idempotency");
  for (const { name, keys } of tasks) {
    await bench.control("PUT", "/clock", { mode: "frozen", now: NOON });
    await perform(terminal, ["\x1b", "\x1b", "\x1b", "1", "f"], 20);
    await terminal.shows(/▸ 1 Requests .* following/);
    const from = terminal.bytes().length;
    await perform(terminal, keys, 150);
    const result = RESULTS[name] ?? /^$/;
    await terminal
      .shows((text) => result.test([text, ...copied(terminal.bytes(), from)].join("\n")))
      .catch((error: Error) => {
        throw new Error(`${name}: ${error.message}`);
      });
  }
  expect(tasks.length).toBeGreaterThan(25);
});
