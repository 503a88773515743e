// `start --detach`: a sandbox in a process of its own, which goes on when whoever asked for it has been told that it is ready.

import { type ChildProcess, spawn } from "node:child_process";
import { closeSync, openSync, readFileSync, rmSync } from "node:fs";
import { exitCodes, SandboxError } from "../../kernel/errors.ts";
import { randomToken } from "../../kernel/random.ts";
import type { Options } from "../../sandbox/options.ts";
import { makeFolder } from "../../store/sqlite/database.ts";
import { note, print } from "../command.ts";
import type { ReadyFacts } from "../output/plain-output.ts";
import { localUrl } from "../remote/environment.ts";
import { type Detached, folderOf, keepState, logFileIn } from "../remote/instances.ts";
import { portOwner } from "./port-owner.ts";

interface Failed {
  code: number;
}

/** In the process that was asked. */
export async function detach(options: Options, flags: Record<string, string | undefined>): Promise<number> {
  if (flags.ui !== undefined)
    throw new SandboxError("--ui shows a dashboard, and --detach leaves nobody to look at it: choose one.", "usage");
  const folder = folderOf(options.db);
  makeFolder(folder);
  const name = randomToken().slice(0, 12);
  const log = logFileIn(folder, name);
  const child = spawnBeside(log);
  const answer = await readiness(child);
  if ("code" in answer) return await tellWhy(answer, log, options.port);
  const url = localUrl({ ...answer, port: Number(new URL(answer.url).port) }, options.host);
  const state: Detached = { ...answer, url, baseUrl: `${url}/v1`, log };
  keepState(folder, name, state);
  child.unref();
  if (flags.json !== undefined) print(JSON.stringify({ event: "ready", ...state }));
  else
    print(
      `merchant-sandbox ${state.version} is ready at ${state.baseUrl} as process ${state.pid}; its log is ${log}. merchant-sandbox stop ends it.`,
    );
  return exitCodes.ok;
}

/** In the process that goes on: tells the one that waits, or gives up where that is gone. */
export function announce(facts: ReadyFacts): void {
  process.send?.(facts, (error) => {
    if (error) process.kill(process.pid, "SIGTERM");
    else process.disconnect();
  });
}

function spawnBeside(log: string): ChildProcess {
  const words = process.argv.slice(2).filter((word) => word !== "--detach");
  const fd = openSync(log, "a", 0o600);
  try {
    return spawn(process.execPath, [process.argv[1] as string, ...words], {
      detached: true,
      stdio: ["ignore", fd, fd, "ipc"],
      windowsHide: true,
    });
  } finally {
    closeSync(fd);
  }
}

function readiness(child: ChildProcess): Promise<ReadyFacts | Failed> {
  return new Promise((resolve, reject) => {
    child.once("message", (message) => resolve(message as ReadyFacts));
    child.once("error", reject);
    child.once("exit", (code) => resolve({ code: code ?? exitCodes.runtime }));
  });
}

/** What it said before it ended is what there is to say. */
async function tellWhy({ code }: Failed, log: string, port: number): Promise<number> {
  const said = readFileSync(log, "utf8").trimEnd();
  rmSync(log, { force: true });
  process.stderr.write(`${said === "" ? "merchant-sandbox: It ended before it was ready, and said nothing." : said}\n`);
  const owner = code === exitCodes.portTaken ? await portOwner(port) : undefined;
  if (owner !== undefined) note(`Port ${port} belongs to ${owner}.`);
  return code || exitCodes.runtime;
}
