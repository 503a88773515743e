// The user's app beside a sandbox: runs its command, keeps the last lines of its output, restarts it on request, and
// ends it with all processes that it started.

import { type ChildProcess, spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { stripVTControlCharacters } from "node:util";
import { attempt } from "../../kernel/attempt.ts";
import { afterRealTime } from "../../kernel/clock.ts";
import { withResolvers } from "../../kernel/with-resolvers.ts";
import { endOf, quoted, watchTree } from "./child.ts";

export type App = ReturnType<typeof startApp>;
export type AppStream = "stdout" | "stderr";

export interface AppListener {
  line(text: string, from: AppStream): void;
  /** Called after each change of what `status` and `lines` return. */
  changed(): void;
}

/** Lines of output that the dashboard shows. */
const KEPT_LINES = 500;
/** Real milliseconds from the signal until the remaining processes of the app are killed. */
const END_WITHIN = 5_000;

interface Run {
  child: ChildProcess;
  /** The exit code, or 128 plus the number of the signal. */
  ended: Promise<number>;
  /** Kills what is left of the run. */
  killTree(): Promise<void>;
}

export function startApp(command: readonly string[], variables: NodeJS.ProcessEnv, listener: AppListener) {
  const lines: string[] = [];
  let status = "";
  let endedWith: number | undefined;
  let isStopping = false;
  const { promise: failed, reject: fail } = withResolvers<never>();
  const { promise: endedAlone, resolve: reportEnd } = withResolvers<number>();
  failed.catch(() => {});
  const say = (next: string) => {
    status = next;
    listener.changed();
  };
  const addLine = (text: string, from: AppStream) => {
    if (lines.push(text) > KEPT_LINES) lines.shift();
    listener.line(text, from);
    listener.changed();
  };
  const begin = (): Run => {
    endedWith = undefined;
    const run = runCommand(command, variables, addLine);
    say(`process ${run.child.pid ?? "none"}`);
    run.ended.then((code) => {
      if (run !== current || isStopping) return;
      endedWith = code;
      say(`exited with ${code}`);
      reportEnd(code);
    }, fail);
    return run;
  };
  let current = begin();
  const stop = async (signal: NodeJS.Signals): Promise<number> => {
    const { child, ended, killTree } = current;
    isStopping = true;
    sendToGroup(child, signal);
    const { promise: late, resolve } = withResolvers();
    const cancel = afterRealTime(END_WITHIN, resolve);
    await Promise.race([ended.catch(() => {}), late]);
    cancel();
    await killTree();
    return ended.catch(() => 1);
  };
  return {
    /** The last lines of the app's output, from all of its runs. */
    lines: (): readonly string[] => [...lines],
    status: () => status,
    /** Adds a line about the app to its output. */
    addLine: (text: string) => addLine(text, "stderr"),
    /** The exit code if the app has ended by itself, and was not restarted. */
    endedWith: () => endedWith,
    /** Resolves with the exit code when the app first ends by itself. */
    endedAlone,
    /** Rejects if the command cannot be run. */
    failed,
    /** Ends the app and starts its command again. */
    async restart(): Promise<void> {
      if (isStopping) return;
      say("restarting");
      await stop("SIGTERM");
      isStopping = false;
      current = begin();
    },
    /** Sends this signal, and after a while kills the app. Resolves with the exit code. */
    end: stop,
  };
}

/**
 * Starts the command in its own session. A signal then reaches all processes of `npm run dev`, and Ctrl-C reaches the
 * app only through this program.
 */
function runCommand(
  [program = "", ...words]: readonly string[],
  variables: NodeJS.ProcessEnv,
  onLine: AppListener["line"],
): Run {
  const tree = watchTree(() => child);
  const isWindows = process.platform === "win32";
  const child = spawn(isWindows ? [program, ...words].map(quoted).join(" ") : program, isWindows ? [] : words, {
    stdio: ["ignore", "pipe", "pipe"],
    env: { ...variables, ...tree.variables },
    detached: !isWindows,
    shell: isWindows,
  });
  for (const from of ["stdout", "stderr"] as const)
    createInterface({ input: child[from] }).on("line", (line) => onLine(withoutEscapes(line), from));
  return { child, ended: endOf(child, program), killTree: tree.end };
}

/** The text of a line after its last carriage return, as a terminal would show it, without colours. */
const withoutEscapes = (line: string) => stripVTControlCharacters(line.split("\r").findLast((part) => part) ?? "");

function sendToGroup({ pid, exitCode }: ChildProcess, signal: NodeJS.Signals): void {
  if (pid === undefined || exitCode !== null) return;
  attempt(() => process.kill(process.platform === "win32" ? pid : -pid, signal));
}
