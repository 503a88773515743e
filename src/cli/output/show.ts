// Shows a sandbox until the user stops: on the dashboard, as plain lines or as JSON.

import { isatty } from "node:tty";
import { isInForeground } from "../../../ui/terminal/screen.ts";
import { exitCodes } from "../../kernel/errors.ts";
import type { Flags } from "../arguments.ts";
import { stopSignal } from "../process/stop-signal.ts";
import { jsonOutput, type Output, plainOutput } from "./output.ts";
import { chooseUi, type UiChoice } from "./ui-choice.ts";
import type { WatchedSandbox } from "./watched-sandbox.ts";

export function currentUi(flags: Flags): UiChoice {
  // isatty() asks the system; process.stdin would open the stream only to answer the question.
  return chooseUi(flags, { isTerminal: isatty(0) && isatty(1) && isInForeground(), environment: process.env });
}

/** Resolves with the exit code. */
export async function show(opening: WatchedSandbox | Promise<WatchedSandbox>, flags: Flags): Promise<number> {
  const ui = currentUi(flags);
  if (ui !== "dashboard") return printUntilStopped(await opening, ui === "json" ? jsonOutput : plainOutput);
  // The dashboard is loaded only when it is shown.
  const [watched, { showOnTerminal }] = await Promise.all([opening, import("./terminal-session.ts")]);
  return showOnTerminal(watched, { color: flags["no-color"] === undefined });
}

async function printUntilStopped(watched: WatchedSandbox, output: Output): Promise<number> {
  // Before the first line is printed: its reader may stop the sandbox at once.
  const stopped = stopSignal();
  const following = await watched.follow(output);
  await Promise.race([stopped, following.failed]).finally(following.stop);
  return exitCodes.ok;
}
