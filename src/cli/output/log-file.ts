// What a sandbox says, kept in a file: where another program has the terminal, and where nobody watches.

import { createWriteStream, mkdirSync, mkdtempSync, openSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { SandboxError } from "../../kernel/errors.ts";
import type { Sandbox } from "../../sandbox/create.ts";
import { lineOf } from "./event-lines.ts";
import { defectLine, readyFacts, readyLine } from "./plain-output.ts";

export interface LogFile {
  readonly path: string;
  /** Why it does not hold everything; undefined when it does. */
  trouble(): string | undefined;
  /** How many defects of the sandbox were noted. */
  defects(): number;
  follow(sandbox: Sandbox): Promise<void>;
  /** Writes the rest, and takes the file away unless somebody wants it. */
  close(isWanted: boolean): Promise<void>;
}

/** A file that was asked for stays; another one, in the machine's folder for such, only where something went wrong. */
export function openLogFile(wanted: string | undefined): LogFile {
  const { path, fd, error } = wanted === undefined ? openTemporary() : openWanted(resolve(wanted));
  const stream = fd === undefined ? undefined : createWriteStream(path, { fd });
  let trouble = error;
  let defects = 0;
  stream?.on("error", ({ message }) => {
    trouble ??= message;
  });
  const write = (line: string) => {
    if (trouble === undefined) stream?.write(`${line}\n`);
  };
  return {
    path,
    trouble: () => trouble,
    defects: () => defects,
    async follow(sandbox) {
      write(readyLine(await readyFacts(sandbox)));
      sandbox.onHappening((happening) => write(lineOf(happening)));
      sandbox.onDefect((defect) => {
        defects++;
        write(defectLine(defect));
      });
    },
    async close(isWanted) {
      if (stream && !stream.destroyed) await new Promise<void>((closed) => stream.once("close", closed).end());
      if (fd !== undefined && wanted === undefined && !isWanted) rmSync(dirname(path), { recursive: true, force: true });
    },
  };
}

interface Opened {
  path: string;
  fd?: number;
  error?: string;
}

/** A log that nobody asked for is no reason to run nothing. */
function openTemporary(): Opened {
  try {
    const path = join(mkdtempSync(join(tmpdir(), "merchant-sandbox-")), "sandbox.log");
    return { path, fd: open(path) };
  } catch (error) {
    return { path: tmpdir(), error: (error as Error).message };
  }
}

function openWanted(path: string): Opened {
  try {
    mkdirSync(dirname(path), { recursive: true });
    return { path, fd: open(path) };
  } catch (error) {
    throw new SandboxError(`Cannot write the log ${path}: ${(error as Error).message}. Choose another place with --log <file>.`);
  }
}

/** It may tell of keys, so nobody else on the machine reads it. */
const open = (path: string) => openSync(path, "a", 0o600);
