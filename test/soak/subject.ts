// The sandbox under test: the built program on one file, with a probe that reports its memory.

import { readdirSync } from "node:fs";
import type { Duplex } from "node:stream";
import { setTimeout as pause } from "node:timers/promises";
import { pathToFileURL } from "node:url";
import { type Ended, launchCommand, PROGRAM } from "../support/program.ts";

/** The memory and handles of the process after garbage collection. */
export interface ResourceUse {
  /** Heap and external memory in bytes. */
  heap: number;
  /** Resident memory in bytes. */
  rss: number;
  sockets: number;
  /** The number of open file descriptors, if the system reports it. */
  descriptors: number | undefined;
}

export type Subject = Awaited<ReturnType<typeof startSubject>>;

const PROBE = pathToFileURL(`${import.meta.dirname}/probe.js`).href;

/** Delays between attempts. There are enough for every delivery to succeed eventually, and the first are short. */
const GAPS = [
  ..."20ms ".repeat(8).trim().split(" "),
  "100ms",
  "100ms",
  "1s",
  "1s",
  "10s",
  "10s",
  "1m",
  "1m",
  "10m",
  "10m",
  "1h",
  "1h",
];
const OPTIONS = ["--rate-limit", "none", "--webhook-timeout", "2s", "--retry-schedule", GAPS.join()];

/** The arguments of a sandbox on a file. */
export const startOn = (db: string) => ["start", "--port", "0", "--no-ui", "--db", db, ...OPTIONS];

export async function startSubject(db: string, cwd: string) {
  const words = ["--expose-gc", "--import", PROBE, PROGRAM, ...startOn(db)];
  const { child, out, line, ended } = launchCommand(process.execPath, words, {}, cwd, "pipe");
  const ready = await line((text) => text.includes(" is ready at "));
  const [, url = ""] = / is ready at (\S+)\/v1 /.exec(ready) ?? [];
  const { pid = 0 } = child;
  child.stdio[3]?.on("error", () => {});
  return {
    url,
    port: Number(new URL(url).port),
    pid,
    ended,
    async measure(): Promise<ResourceUse> {
      // Drops the output so far, because it would grow during the whole run.
      out.length = 0;
      const used = await ask(child.stdio[3] as Duplex);
      return { ...used, descriptors: descriptorsOf(pid) };
    },
    /** Stops the process for this many milliseconds of real time, as on a machine that sleeps. */
    async suspend(milliseconds: number) {
      child.kill("SIGSTOP");
      await pause(milliseconds);
      child.kill("SIGCONT");
    },
    kill: () => end("SIGKILL"),
    stop: () => end("SIGTERM"),
  };

  function end(signal: NodeJS.Signals): Promise<Ended> {
    child.kill("SIGCONT");
    child.kill(signal);
    return ended;
  }
}

function ask(probe: Duplex): Promise<Omit<ResourceUse, "descriptors">> {
  return new Promise((resolve, reject) => {
    probe.once("data", (text) => {
      probe.off("close", reject);
      resolve(JSON.parse(String(text)));
    });
    probe.once("close", reject);
    probe.write("?");
  });
}

function descriptorsOf(pid: number): number | undefined {
  try {
    return readdirSync(`/proc/${pid}/fd`).length;
  } catch {
    return undefined;
  }
}
