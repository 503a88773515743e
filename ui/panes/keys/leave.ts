// The key that leaves the dashboard, and the question whether to stop a sandbox that this terminal has started.

import { plural } from "../../../src/kernel/text.ts";
import { layoutOf } from "../../state/layout.ts";
import type { KeyBinding, StateUpdate, UiState } from "../../state/state.ts";
import { closeTopOverlay, openOverlay, topOverlay, update } from "../../state/updates.ts";
import { armedRules } from "../details/fault.ts";
import { question } from "../overlays/text-view.ts";

/** Whether the sandbox lives in this process, and ends with it. */
const isOwn = ({ sandbox }: UiState) => sandbox !== undefined && sandbox.pid === globalThis.process?.pid;

export function leaveLabel(state: UiState): string {
  if (topOverlay(state)) return "back";
  if (!isOwn(state)) return "leave";
  return state.canLeave === true ? "stop or leave" : "stop";
}

/**
 * To leave the sandbox running, `start` starts another process with the same options and file. The file holds neither
 * verdicts nor faults.
 */
function lostText(state: UiState): string {
  const armed = armedRules(state).length;
  if (armed === 0) return "The sandbox restarts there: verdicts are lost";
  const lost = `verdicts and ${plural(armed, "armed fault")} are lost`;
  return `The sandbox restarts there: ${lost}, except faults from --faults or --scenario`;
}

/**
 * Asks once whether to stop a sandbox that this terminal has started. Any other sandbox keeps running. Only `start` can
 * leave its sandbox running: the sandbox of `dev`, `learn` or --watch ends with the command.
 */
export function quit(state: UiState): StateUpdate {
  // A screen that is too small for the question says that q quits.
  if (!isOwn(state) || layoutOf(state).shape === "small") return update(state, { kind: "quit" });
  const { sandbox, canLeave } = state;
  const isKept = sandbox?.database != null;
  const ended = state.app === undefined ? "the sandbox" : "the sandbox and the app";
  const stop: KeyBinding = {
    keys: ["s", "y"],
    label: "stop",
    help: `stop ${ended}; ${isKept ? "the database file keeps the data" : "what is in memory is lost"}`,
    run: (later) => update(closeTopOverlay(later), { kind: "quit" }),
  };
  const leave: KeyBinding = {
    keys: ["l"],
    label: "leave it running",
    help: `leave it running in the background; attach shows it again. ${lostText(state)}`,
    isEnabled: () => isKept,
    needs: () => "a sandbox with a file: start it with --db, or with --detach",
    run: (later) => update(closeTopOverlay(later), { kind: "leave" }),
  };
  const asked = canLeave
    ? question("Stop the sandbox, or leave it running?", [stop, leave])
    : question(`Stop ${ended}?`, [stop]);
  return update(openOverlay(state, asked));
}
