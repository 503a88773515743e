// Shows a sandbox until the user stops: on the dashboard of an interactive terminal, as plain lines or as JSON.

import { isatty } from "node:tty";
import { isInForeground } from "../../../ui/terminal/screen.ts";
import type { LiveEvent } from "../../contracts/live-messages.ts";
import { exitCodes } from "../../kernel/errors.ts";
import type { Sandbox } from "../../sandbox/create.ts";
import type { FlagDefinition, Flags } from "../arguments.ts";
import { stopSignal } from "../process/signals.ts";
import { localUrl } from "../remote/running-sandbox.ts";
import { jsonOutput, type Output, plainOutput, type WatchedSandbox } from "./output.ts";

export type UiChoice = "dashboard" | "plain" | "json";

/** The flags of every command that shows a sandbox. */
export const uiFlags = {
  json: { description: "print one JSON object per line" },
  ui: { description: "show the dashboard even if CI is set" },
  "no-ui": { description: "print plain lines even on a terminal" },
  "no-color": { description: "do not use colours in the dashboard (as with NO_COLOR)" },
} satisfies Record<string, FlagDefinition>;

export const watchFlag = {
  watch: { description: "load fixtures, faults, scenarios and merchant-sandbox.json again when they are saved" },
} satisfies Record<string, FlagDefinition>;

/** `--ui` and `--no-ui` override the environment, but the dashboard always requires a terminal in the foreground. */
export function chooseUi(
  flags: Flags,
  { isTerminal, environment }: { isTerminal: boolean; environment: NodeJS.ProcessEnv },
): UiChoice {
  if (flags.json !== undefined) return "json";
  if (!isTerminal || flags["no-ui"] !== undefined) return "plain";
  if (flags.ui !== undefined) return "dashboard";
  const { TERM, INK_SCREEN_READER } = environment;
  return isInPipeline(environment) || TERM === "dumb" || INK_SCREEN_READER === "true" ? "plain" : "dashboard";
}

export const isInPipeline = ({ CI }: NodeJS.ProcessEnv): boolean =>
  CI !== undefined && !["", "0", "false"].includes(CI);

export function currentUi(flags: Flags): UiChoice {
  // isatty() asks the system. Reading process.stdin would open the stream.
  return chooseUi(flags, { isTerminal: isatty(0) && isatty(1) && isInForeground(), environment: process.env });
}

interface OwnSandboxView {
  /** Prints the first output. */
  opened(output: Output): Promise<void>;
  /** Called when the output ends. */
  ended?(): void;
  /** Selects the events that are printed (default: all). */
  isShown?(event: LiveEvent, output: Output): boolean;
}

export function watchOwnSandbox(sandbox: Sandbox, host: string | undefined, view: OwnSandboxView): WatchedSandbox {
  let current: Output | undefined;
  sandbox.onLiveEvent((event) => {
    if (current && (view.isShown?.(event, current) ?? true)) current.event(event);
  });
  sandbox.onDefect((defect) => (current ?? plainOutput).defect(defect));
  return {
    target: { url: localUrl(sandbox, host), token: sandbox.controlToken },
    keepsRunning: false,
    async follow(output) {
      current = output;
      await view.opened(output);
      return {
        failed: new Promise(() => {}),
        stop() {
          current = undefined;
          view.ended?.();
        },
      };
    },
  };
}

/** Resolves with the exit code. */
export async function show(opening: WatchedSandbox | Promise<WatchedSandbox>, flags: Flags): Promise<number> {
  const ui = currentUi(flags);
  if (ui !== "dashboard") return printUntilStopped(await opening, ui === "json" ? jsonOutput : plainOutput);
  // Loads the dashboard only if it is shown.
  const [watched, { showOnTerminal }] = await Promise.all([opening, import("./terminal-session.ts")]);
  return showOnTerminal(watched, { color: flags["no-color"] === undefined });
}

const NEVER = new Promise<never>(() => {});

async function printUntilStopped(watched: WatchedSandbox, output: Output): Promise<number> {
  // Listens for signals before the first line is printed, because its reader may stop the sandbox at once.
  const stopped = stopSignal();
  const following = await watched.follow(output);
  const { ended = NEVER, failed = NEVER } = watched;
  await Promise.race([stopped, following.failed, ended, failed]).finally(following.stop);
  return exitCodes.ok;
}
