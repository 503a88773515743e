// What stands on the terminal when the panes are gone: where the sandbox is or was, what it did, what is left of it.

import type { UiState } from "../../../ui/state/state.ts";
import { listOf } from "../../../ui/state/state.ts";
import type { VerdictMessage } from "../../contracts/live-messages.ts";
import { escapeControlCharacters } from "../../kernel/escape-control.ts";

export function farewell(state: UiState, goesOn: boolean): string {
  const { sandbox, target, totals } = state;
  if (!sandbox) return `Nothing was heard of a sandbox at ${escapeControlCharacters(target.url)}.\n`;
  const failed = listOf(state, "verdicts").rows.filter(({ value }) => (value as VerdictMessage).verdict === "fail").length;
  const counts = [counted(totals.request, "request"), counted(totals.attempt, "delivery attempt"), counted(failed, "failed verdict")];
  const lines = [
    `merchant-sandbox ${goesOn ? "is" : "was"} at ${sandbox.baseUrl}`,
    counts.join(", "),
    whatIsLeft(sandbox.database, goesOn),
  ];
  return lines.map((line) => `${escapeControlCharacters(line)}\n`).join("");
}

const counted = (number: number, what: string) => `${number} ${what}${number === 1 ? "" : "s"}`;

function whatIsLeft(database: string | null, goesOn: boolean): string {
  if (database !== null) return `${goesOn ? "It keeps" : "It kept"} everything, its journal too, in ${database}`;
  return goesOn
    ? "It keeps everything in memory, and goes on"
    : "It kept everything in memory; --db <file> would have kept it for the next time";
}
