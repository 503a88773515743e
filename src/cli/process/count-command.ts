// Runs the commands of --effects and --restart, which the user gave on the command line, in a shell.

import { spawn } from "node:child_process";
import { afterRealTime, stopwatch } from "../../kernel/clock.ts";
import { SandboxError } from "../../kernel/errors.ts";
import { acceptsConnections } from "../../webhooks/http/accepts-connections.ts";

/** Real milliseconds that a command may take. */
const MAX_TIME = 30_000;
/** The most of an output that an error quotes. */
const MAX_SHOWN = 200;

/** Runs the command of --effects, which prints how often the receiver has acted so far. */
export async function countWith(command: string): Promise<number> {
  const output = await runInShell(command, "--effects", "pipe");
  const text = output.trim();
  if (/^\d{1,15}$/.test(text)) return Number(text);
  throw new SandboxError(
    `--effects ${quote(command)} must print one whole number, how often the receiver has acted; it printed ` +
      `${quote(text.slice(0, MAX_SHOWN))}.`,
    "usage",
  );
}

/** Runs the command of --restart, and waits until the receiver accepts connections again. */
export async function restartWith(command: string, url: string): Promise<void> {
  await runInShell(command, "--restart", "inherit");
  const elapsed = stopwatch();
  if (await acceptsConnections(url, {}, () => elapsed() > MAX_TIME)) return;
  throw new SandboxError(
    `Nothing accepts connections at ${url} ${MAX_TIME / 1_000} s after --restart ${quote(command)}.`,
  );
}

const quote = (text: string) => JSON.stringify(text);

/** Output of the command that is not read goes to our standard error, because our standard output may hold JSON. */
async function runInShell(command: string, flag: string, output: "pipe" | "inherit"): Promise<string> {
  const child = spawn(command, { shell: true, stdio: ["ignore", output === "pipe" ? "pipe" : 2, 2] });
  let text = "";
  child.stdout?.setEncoding("utf8").on("data", (piece: string) => {
    text += piece;
  });
  let isLate = false;
  const cancel = afterRealTime(MAX_TIME, () => {
    isLate = true;
    child.kill("SIGKILL");
  });
  const code = await new Promise<number | string>((resolve, reject) => {
    child.once("error", reject);
    // Waits for the end of the output only if it is read: a process left in the background may keep it open for ever.
    child.once(output === "pipe" ? "close" : "exit", (status, signal) => resolve(status ?? signal ?? "nothing"));
  }).finally(cancel);
  if (isLate)
    throw new SandboxError(
      `${flag} ${quote(command)} did not end within ${MAX_TIME / 1_000} s. A command that starts a server must leave ` +
        "it in the background.",
    );
  if (code !== 0) throw new SandboxError(`${flag} ${quote(command)} failed: it ended with ${code}.`);
  return text;
}
