// Starts, reads and stops the built program, runs its commands in this process, and creates the temporary folders and
// files of tests.

import { type ChildProcess, type ChildProcessWithoutNullStreams, spawn, spawnSync } from "node:child_process";
import { cpSync, existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { expect, vi } from "vitest";
import { commands } from "../../src/cli/commands/index.ts";
import { SandboxError } from "../../src/kernel/errors.ts";
import { afterEachTest } from "./cleanup.ts";
import { isHosted, runHosted } from "./hosted-commands.ts";

export const PROGRAM = join(import.meta.dirname, "../../dist/bin.cjs");

export interface Ended {
  /** Null if a signal ended the process. */
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
  /** Resolves with the first matching line, past or future; rejects if the program exits without one. */
  line(fits: (line: string) => boolean): Promise<string>;
  ended: Promise<Ended>;
}

export interface Started extends Program {
  url: string;
  port: number;
  /** Kills the process with SIGKILL. */
  kill(): Promise<Ended>;
}

const children = new Set<ChildProcess>();
const folders: string[] = [];

afterEachTest.push(() => {
  for (const child of children) child.kill("SIGKILL");
  children.clear();
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
});

/**
 * A port at which nothing listens, so that a command does not find the developer's own sandbox. Do not use it for a
 * command that starts a sandbox. As root, that sandbox would listen there, and commands of other tests would find it.
 */
export const NOWHERE = { MERCHANT_SANDBOX_PORT: "1" };

/** For a command that starts a sandbox: any free port, because parallel tests would collide on a fixed port. */
export const ANY_PORT = { MERCHANT_SANDBOX_PORT: "0" };

/** Commands that start a sandbox. */
const STARTING = new Set(["dev", "exec", "learn", "start"]);

function checkPort(words: readonly string[], { MERCHANT_SANDBOX_PORT: port }: Record<string, string>): void {
  const startsThere = STARTING.has(words[0] ?? "") && !words.includes("--port") && !words.includes("--help");
  if (startsThere && port === NOWHERE.MERCHANT_SANDBOX_PORT)
    throw new Error(`${words[0]} would listen at the port of NOWHERE: give it ANY_PORT`);
}

/** A temporary folder, removed after the test. */
export function folder(): string {
  const made = mkdtempSync(join(tmpdir(), "merchant-sandbox-"));
  folders.push(made);
  return made;
}

/** Writes a file of this name in its own temporary folder, and returns its path. */
export function temporaryFile(content: string | Uint8Array, name: string): string {
  const path = join(folder(), name);
  writeFileSync(path, content);
  return path;
}

/** A copy of the database in this folder, as a process killed at this moment would leave it. */
export function databaseLeftBehind(from: string): string {
  const to = folder();
  for (const name of readdirSync(from).filter((entry) => !entry.endsWith("-lock")))
    cpSync(join(from, name), join(to, name));
  return join(to, "sandbox.db");
}

/** A command that starts the program and needs no quotes in a shell, even if the checkout's path has spaces. */
export function oneWordProgram(): string {
  const file = join(folder(), "program");
  writeFileSync(file, `#!/bin/sh\nexec "${process.execPath}" "${PROGRAM}" "$@"\n`, { mode: 0o755 });
  return file;
}

/**
 * The variables of this process, without the program's own and without CI. If CI is set, `exec` behaves as with
 * `--trust`.
 */
export const ownEnvironment = () =>
  Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith("MERCHANT_") && name !== "CI"));

/** Starts the program with these arguments, in an empty folder, and with none of its variables but the given ones. */
export function launch(words: string[], variables: Record<string, string> = {}, cwd = folder()): Program {
  checkPort(words, variables);
  if (!existsSync(PROGRAM)) throw new Error("There is no dist/bin.cjs: run npm run build first.");
  return launchFile(PROGRAM, words, variables, cwd);
}

/** Starts another Node program, such as an example from the documentation. */
export const launchFile = (file: string, words: string[], variables: Record<string, string>, cwd?: string) =>
  launchCommand(process.execPath, [file, ...words], variables, cwd);

/** Starts another executable, such as a shell. Each `pipe` in `beside` adds a file descriptor, from 3 on. */
export function launchCommand(
  command: string,
  words: string[],
  variables: Record<string, string> = {},
  cwd = folder(),
  ...beside: "pipe"[]
): Program {
  const env = { ...ownEnvironment(), ...variables };
  const child = spawn(command, words, {
    cwd,
    env,
    stdio: ["pipe", "pipe", "pipe", ...beside],
  }) as ChildProcessWithoutNullStreams;
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
      const look = (next: string) => {
        if (!fits(next)) return;
        reader.off("line", look);
        resolve(next);
      };
      reader.on("line", look);
      void ended.then(() =>
        reject(new Error(`The program ended without the expected line. It printed: ${out.join("\n")}\n${error}`)),
      );
    });
  return { child, out, line, ended };
}

/** Whether a process runs. A zombie counts as dead. */
export function isAlive(pid: number): boolean {
  const { stdout } = spawnSync("ps", ["-o", "stat=", "-p", String(pid)], { encoding: "utf8" });
  return stdout.trim() !== "" && !stdout.startsWith("Z");
}

/** Runs the program until it exits. Commands that end on their own run in a shared process, which is faster. */
export const run = (words: string[], variables: Record<string, string> = {}, cwd = folder()): Promise<Ended> =>
  isHosted(words, variables) ? runShared(words, variables, cwd) : launch(words, variables, cwd).ended;

/** Runs a command in a process that it shares with other commands. The command must end on its own. */
export async function runShared(
  words: string[],
  variables: Record<string, string> = {},
  cwd = folder(),
): Promise<Ended> {
  checkPort(words, variables);
  const env = { ...ownEnvironment(), ...variables };
  const { out, ...ended } = await runHosted({ program: PROGRAM, words, cwd, variables: env });
  const lines = out.split(/\r?\n/);
  return { ...ended, out: lines.at(-1) === "" ? lines.slice(0, -1) : lines };
}

/** Starts a sandbox on a free port and waits until it is ready. */
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

export interface CommandRun {
  code: number;
  /** The lines of standard output. */
  out: string[];
  /** Standard error. */
  error: string;
}

/** Runs a command in this process, which is faster than a new one. Without a URL, the command gets no `--url`. */
export async function runCommand(url: string | undefined, ...[name = "", ...words]: string[]): Promise<CommandRun> {
  const written = { out: "", error: "" };
  const spies = [
    vi.spyOn(process.stdout, "write").mockImplementation((text) => {
      written.out += String(text);
      return true;
    }),
    vi.spyOn(process.stderr, "write").mockImplementation((text) => {
      written.error += String(text);
      return true;
    }),
  ];
  try {
    const command = await commands[name]?.();
    const code = (await command?.run([...(url === undefined ? [] : ["--url", url]), ...words])) ?? -1;
    return { code, out: written.out.split("\n").filter((line) => line !== ""), error: written.error };
  } catch (error) {
    if (!(error instanceof SandboxError)) throw error;
    return { code: error.exitCode, out: [], error: error.message };
  } finally {
    for (const spy of spies) spy.mockRestore();
  }
}

/** Runs a command that must succeed, and returns its lines. */
export async function linesOf({ url }: { url: string }, ...words: string[]): Promise<string[]> {
  const { code, out, error } = await runCommand(url, ...words);
  expect([code, error]).toEqual([0, ""]);
  return out;
}
