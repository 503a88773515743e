// Prints a summary when the dashboard closes: the address, the counts, and where the data is.

import type { UiState } from "../../../ui/state/state.ts";
import { listOf } from "../../../ui/state/state.ts";
import type { VerdictMessage } from "../../contracts/verdict.ts";
import { escapeControlCharacters } from "../../kernel/escape-control.ts";

export function exitSummary(state: UiState, keepsRunning: boolean): string {
  const { sandbox, target, totals } = state;
  if (!sandbox) return `No sandbox responded at ${escapeControlCharacters(target.url)}.\n`;
  const failed = listOf(state, "verdicts").rows.filter(({ value }) => (value as VerdictMessage).verdict === "fail").length;
  const counts = [counted(totals.request, "request"), counted(totals.attempt, "delivery attempt"), counted(failed, "failed verdict")];
  const lines = [
    `merchant-sandbox ${keepsRunning ? "is" : "was"} at ${sandbox.baseUrl}`,
    counts.join(", "),
    whereDataIs(sandbox.database, keepsRunning),
  ];
  return lines.map((line) => `${escapeControlCharacters(line)}\n`).join("");
}

const counted = (number: number, what: string) => `${number} ${what}${number === 1 ? "" : "s"}`;

function whereDataIs(database: string | null, keepsRunning: boolean): string {
  if (database !== null) return `All data, with the request log, ${keepsRunning ? "is" : "was kept"} in ${database}`;
  return keepsRunning ? "All data is in memory; the sandbox keeps running" : "All data was in memory; use --db <file> to keep it";
}
