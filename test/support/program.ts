// The built program, run as people run it: started, listened to, told to stop, killed.

import { type ChildProcess, type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { afterEachTest } from "./cleanup.ts";

export const PROGRAM = join(import.meta.dirname, "../../dist/bin.cjs");

export interface Ended {
  /** Null when a signal ended it. */
  code: number | null;
  signal: NodeJS.Signals | null;
  /** The lines of standard output. */
  out: string[];
  error: string;
}

export interface Program {
  child: ChildProcess;
  /** The lines of standard output so far. */
  out: string[];
  /** Resolves with the first line that fits, of those before and those to come; rejects when the program ends without one. */
  line(fits: (line: string) => boolean): Promise<string>;
  ended: Promise<Ended>;
}

export interface Started extends Program {
  url: string;
  port: number;
  /** Ends it at once, as a power cut would. */
  kill(): Promise<Ended>;
}

const children = new Set<ChildProcess>();
const folders: string[] = [];

afterEachTest.push(() => {
  for (const child of children) child.kill("SIGKILL");
  children.clear();
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
});

/** An empty folder of the test's own, gone after it. */
export function folder(): string {
  const made = mkdtempSync(join(tmpdir(), "merchant-sandbox-"));
  folders.push(made);
  return made;
}

/** Runs the program with these words, in an empty folder and with no variables of its own but those given. */
export function launch(words: string[], variables: Record<string, string> = {}, cwd = folder()): Program {
  if (!existsSync(PROGRAM)) throw new Error("There is no dist/bin.cjs: run npm run build first.");
  return launchFile(PROGRAM, words, variables, cwd);
}

/** The same with another program, such as one that the documentation shows. */
export const launchFile = (file: string, words: string[], variables: Record<string, string>, cwd?: string) =>
  launchCommand(process.execPath, [file, ...words], variables, cwd);

/** The same through another command, such as a shell that takes something away from it first; with further pipes beside the usual ones. */
export function launchCommand(
  command: string,
  words: string[],
  variables: Record<string, string> = {},
  cwd = folder(),
  ...beside: "pipe"[]
): Program {
  const inherited = Object.entries(process.env).filter(([name]) => !name.startsWith("MERCHANT_"));
  const env = { ...Object.fromEntries(inherited), ...variables };
  const child = spawn(command, words, { cwd, env, stdio: ["pipe", "pipe", "pipe", ...beside] }) as ChildProcessWithoutNullStreams;
  children.add(child);
  const out: string[] = [];
  let error = "";
  const reader = createInterface({ input: child.stdout });
  reader.on("line", (line) => out.push(line));
  child.stderr.on("data", (chunk) => {
    error += chunk;
  });
  const ended = new Promise<Ended>((resolve) => {
    child.once("close", (code, signal) => {
      children.delete(child);
      resolve({ code, signal, out, error });
    });
  });
  const line = (fits: (line: string) => boolean) =>
    new Promise<string>((resolve, reject) => {
      const found = out.find(fits);
      if (found !== undefined) return resolve(found);
      reader.on("line", (next) => fits(next) && resolve(next));
      void ended.then(() => reject(new Error(`The program ended before it said so. It said: ${out.join("\n")}\n${error}`)));
    });
  return { child, out, line, ended };
}

/** Runs the program to its end. */
export const run = (words: string[], variables?: Record<string, string>, cwd?: string) => launch(words, variables, cwd).ended;

/** Starts a sandbox on any port and waits until it is ready. */
export async function start(words: string[], variables?: Record<string, string>, cwd?: string): Promise<Started> {
  const program = launch(["start", "--port", "0", "--json", ...words], variables, cwd);
  const { url } = JSON.parse(await program.line((line) => line.startsWith('{"event":"ready"'))) as { url: string };
  return {
    ...program,
    url,
    port: Number(new URL(url).port),
    kill() {
      program.child.kill("SIGKILL");
      return program.ended;
    },
  };
}
