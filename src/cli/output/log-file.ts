// The log file of `exec`: contains the sandbox's output, because the terminal belongs to the command.

import { createWriteStream, mkdirSync, mkdtempSync, openSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { SandboxError } from "../../kernel/errors.ts";
import type { Sandbox } from "../../sandbox/create.ts";
import { eventLine } from "./event-lines.ts";
import { defectLine, readyFacts, readyLine } from "./output.ts";

export type LogFile = ReturnType<typeof openLogFile>;

/** `requested` is the file of `--log` (default: a temporary file). */
export function openLogFile(requested: string | undefined) {
  const { path, fd, error: openError } = requested === undefined ? openTemporary() : openRequested(resolve(requested));
  const stream = fd === undefined ? undefined : createWriteStream(path, { fd });
  let error = openError;
  let defects = 0;
  stream?.on("error", ({ message }) => {
    error ??= message;
  });
  const write = (line: string) => {
    if (error === undefined) stream?.write(`${line}\n`);
  };
  return {
    path,
    /** Why the log is incomplete; undefined if it is complete. */
    error: () => error,
    /** The number of internal errors of the sandbox. */
    defects: () => defects,
    async follow(sandbox: Sandbox) {
      write(readyLine(await readyFacts(sandbox)));
      sandbox.onHappening((event) => write(eventLine(event)));
      sandbox.onDefect((defect) => {
        defects++;
        write(defectLine(defect));
      });
    },
    /** Flushes and closes the file. Deletes a temporary file unless `keep` is set. */
    async close(keep: boolean) {
      if (stream && !stream.destroyed) await new Promise<void>((closed) => stream.once("close", closed).end());
      if (fd !== undefined && requested === undefined && !keep) rmSync(dirname(path), { recursive: true, force: true });
    },
  };
}

interface Opened {
  path: string;
  fd?: number;
  error?: string;
}

/** Does not fail, so that the command runs even if the temporary file cannot be created. */
function openTemporary(): Opened {
  try {
    const path = join(mkdtempSync(join(tmpdir(), "merchant-sandbox-")), "sandbox.log");
    return { path, fd: open(path) };
  } catch (error) {
    return { path: tmpdir(), error: (error as Error).message };
  }
}

function openRequested(path: string): Opened {
  try {
    mkdirSync(dirname(path), { recursive: true });
    return { path, fd: open(path) };
  } catch (error) {
    throw new SandboxError(`Cannot write the log ${path}: ${(error as Error).message}. Choose another file with --log <file>.`);
  }
}

/** Readable only by its owner, because the log contains API keys. */
const open = (path: string) => openSync(path, "a", 0o600);
