// Runs commands of the built program in processes that serve one command after another: see command-host.js.

import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { join } from "node:path";
import type { Duplex, Readable } from "node:stream";
import { afterEachTest } from "./cleanup.ts";

const HOST = join(import.meta.dirname, "command-host.js");

/** The text that the host writes to both streams after the output of each command. */
const MARK = "\u0000end of the command\u0000";

export interface HostedCommand {
  /** The entry point of the program. */
  program: string;
  words: readonly string[];
  cwd: string;
  variables: Readonly<Record<string, string | undefined>>;
}

export interface HostedEnd {
  code: number | null;
  signal: NodeJS.Signals | null;
  out: string;
  error: string;
}

interface Host {
  child: ChildProcess;
  run(command: HostedCommand): Promise<HostedEnd>;
}

const idle = new Set<Host>();
const busy = new Set<Host>();

// Kills the commands that a test did not wait for.
afterEachTest.push(() => {
  for (const { child } of busy) child.kill("SIGKILL");
});

/** Commands that need their own process, because they run until they are stopped, or a test may stop them. */
const OWN_PROCESS = new Set(["attach", "dev", "learn", "listen", "mcp", "receive", "start"]);

/** Whether a host can run the command: it ends on its own, and no variable configures Node. */
export function isHosted(words: readonly string[], variables: Readonly<Record<string, string>>): boolean {
  const [name = ""] = words;
  if (Object.keys(variables).some((variable) => variable.startsWith("NODE_"))) return false;
  return words.includes("--detach") || (/^\w/.test(name) && !OWN_PROCESS.has(name));
}

/** A command line without characters that a shell would interpret. */
const PLAIN_WORDS = /^npx merchant-sandbox(?: [\w.,:/@%+=-]+)*$/;

/** The arguments after `npx merchant-sandbox` in a line of the documentation, as a shell splits them. */
export function wordsOf(line: string, env: NodeJS.ProcessEnv = process.env): string[] {
  if (PLAIN_WORDS.test(line)) return line.split(" ").slice(2);
  const script = `npx() { shift; printf '%s\\0' "$@"; }; ${line}`;
  const printed = execFileSync("sh", ["-c", script], { env, encoding: "utf8" });
  return printed.split("\0").slice(0, -1);
}

/** Runs a command in an idle host, or in a new one. */
export async function runHosted(command: HostedCommand): Promise<HostedEnd> {
  const [host = openHost()] = idle;
  idle.delete(host);
  busy.add(host);
  const ended = await host.run(command);
  busy.delete(host);
  if (host.child.exitCode === null && host.child.signalCode === null) idle.add(host);
  return ended;
}

function openHost(): Host {
  const child = spawn(process.execPath, [HOST], { stdio: ["ignore", "pipe", "pipe", "pipe"] });
  const [, out, error, channel] = child.stdio as unknown as [null, Readable, Readable, Duplex];
  let texts = ["", "", ""];
  let finish: (() => void) | undefined;
  [out, error, channel].forEach((stream, index) => {
    stream.setEncoding("utf8").on("data", (text: string) => {
      texts[index] += text;
      if ([MARK, MARK, "\n"].every((end, nth) => texts[nth]?.endsWith(end))) finish?.();
    });
  });
  const run = ({ program, words, cwd, variables }: HostedCommand) =>
    new Promise<HostedEnd>((resolve) => {
      texts = ["", "", ""];
      const resolveWith = (code: number | null, signal: NodeJS.Signals | null) => {
        child.removeListener("close", resolveWith);
        resolve({ code, signal, out: texts[0]?.replace(MARK, "") ?? "", error: texts[1]?.replace(MARK, "") ?? "" });
      };
      child.once("close", resolveWith);
      finish = () => resolveWith(JSON.parse(texts[2] ?? "").code, null);
      channel.write(`${JSON.stringify({ mark: MARK, program, words, cwd, variables })}\n`);
    });
  return { child, run };
}
