// `start --detach`: starts a sandbox in a background process, returns when it is ready, and limits the size of its log.

import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { closeSync, fstatSync, ftruncateSync, openSync, readFileSync, readSync, rmSync, writeSync } from "node:fs";
import { afterRealTimeIfRunning } from "../../kernel/clock.ts";
import { exitCodes, SandboxError, usageError } from "../../kernel/errors.ts";
import { PROGRAM } from "../../kernel/program-name.ts";
import { randomToken } from "../../kernel/random.ts";
import { type Options, variableOf } from "../../sandbox/options.ts";
import { heldNote, jsonOutput, type ReadyFacts } from "../output/output.ts";
import { note, noteText, print } from "../output/print.ts";
import { localUrl } from "../remote/running-sandbox.ts";
import { folderOf, logFileIn, writableFolder, writeState } from "../remote/state-files.ts";

/** Runs in the foreground process. Resolves with the exit code. `words` are appended to this command's arguments. */
export async function detach(
  options: Options,
  flags: Record<string, string | undefined>,
  words: readonly string[] = [],
): Promise<number> {
  if (flags.ui !== undefined) usageError("A detached sandbox has no dashboard: choose --ui or --detach.");
  if (flags.watch !== undefined) usageError("A detached sandbox watches no files: choose --watch or --detach.");
  const folder = writableFolder(folderOf(options.db), options);
  const name = randomToken().slice(0, 12);
  const log = logFileIn(folder, name);
  const child = spawnBackground(log, options.controlToken, words);
  const result = await waitUntilReady(child);
  if ("code" in result) return reportFailure(result.code, log);
  const url = localUrl({ ...result, port: Number(new URL(result.url).port) }, options.host);
  const state = { ...result, url, baseUrl: `${url}/v1`, log };
  try {
    writeState(folder, "detached", name, state);
  } catch (error) {
    await end(child, log);
    throw new SandboxError(`Cannot write in ${folder}: ${(error as Error).message}. The sandbox was stopped again.`);
  }
  child.unref();
  if (flags.json !== undefined) jsonOutput.ready(state);
  else {
    // Other commands look for the sandbox in the folder of its database, which only the flag names.
    const db = flags.db === undefined ? "" : ` --db ${flags.db}`;
    print(
      `merchant-sandbox ${state.version} is ready at ${state.baseUrl} as process ${state.pid}; ` +
        `its log is ${log}. Stop it with ${PROGRAM} stop${db}.`,
    );
  }
  const held = heldNote(result);
  if (held !== undefined && flags.json === undefined) print(held);
  noteOtherSandbox(url);
  return exitCodes.ok;
}

/** Warns if this shell has the variables of an earlier sandbox, because its commands would then use that sandbox. */
function noteOtherSandbox(url: string): void {
  const named = process.env.MERCHANT_SANDBOX_URL;
  if (named !== undefined && named !== url)
    note(
      `MERCHANT_SANDBOX_URL names another sandbox, ${named}, which commands of this shell use. ` +
        `To use this one, run eval "$(${PROGRAM} env --url ${url})".`,
    );
}

/** Runs in the background process. Reports readiness to the foreground process, or exits if that has ended. */
export function announce(facts: ReadyFacts): void {
  boundLog();
  process.send?.(facts, (error) => {
    if (error) process.kill(process.pid, "SIGTERM");
    else process.disconnect();
  });
}

/** Passes the token in the environment, because other users can read a process's arguments. */
function spawnBackground(log: string, token: string | undefined, words: readonly string[]): ChildProcess {
  const argv = process.argv.slice(2).filter((argument, index, all) => !isTokenOrDetach(argument, all[index - 1]));
  const env = token === undefined ? process.env : { ...process.env, [variableOf("controlToken")]: token };
  const fd = openSync(log, "a+", 0o600);
  try {
    return spawn(process.execPath, [process.argv[1] as string, ...argv, ...words], {
      env,
      detached: true,
      stdio: ["ignore", fd, fd, "ipc"],
      windowsHide: true,
    });
  } finally {
    closeSync(fd);
  }
}

const isTokenOrDetach = (argument: string, before: string | undefined) =>
  argument === "--detach" ||
  argument === "--ui" ||
  before === "--control-token" ||
  /^--control-token(=|$)/.test(argument);

async function end(child: ChildProcess, log: string): Promise<void> {
  if (child.kill("SIGTERM")) await once(child, "exit");
  rmSync(log, { force: true });
}

function waitUntilReady(child: ChildProcess): Promise<ReadyFacts | { code: number }> {
  return new Promise((resolve, reject) => {
    child.once("message", (message) => resolve(message as ReadyFacts));
    child.once("error", reject);
    child.once("exit", (code) => resolve({ code: code ?? exitCodes.runtime }));
  });
}

/** Prints the log of the background process. */
function reportFailure(code: number, log: string): number {
  const output = readFileSync(log, "utf8").trimEnd();
  rmSync(log, { force: true });
  noteText(
    output === "" ? "merchant-sandbox: The background process ended before it was ready, without a message." : output,
  );
  return code || exitCodes.runtime;
}

const STDOUT = 1;
/** Real milliseconds between checks of the log's size. A shorter interval would wake an idle sandbox too often. */
const CHECK_EVERY = 10_000;

/** At `most` bytes, the log is shortened to its last `kept` bytes. */
const BOUNDS = { most: 16 * 1_048_576, kept: 1_048_576 };

/** Regularly shortens the process's own output while it runs. */
function boundLog(): void {
  afterRealTimeIfRunning(CHECK_EVERY, () => {
    shorten(STDOUT, BOUNDS);
    boundLog();
  });
}

/** Keeps the last lines of a log that is open for reading and appending. */
export function shorten(fd: number, { most, kept }: typeof BOUNDS): void {
  try {
    const { size } = fstatSync(fd);
    if (size <= most) return;
    const end = Buffer.alloc(kept);
    const lines = end.subarray(0, readSync(fd, end, 0, kept, size - kept));
    const rest = lines.subarray(lines.indexOf("\n") + 1);
    ftruncateSync(fd);
    writeSync(fd, `Older lines were removed at ${size} bytes.\n`);
    writeSync(fd, rest);
  } catch {
    // Failing to shorten the log, for example on a full disk, must not end the sandbox.
  }
}
