// Prints a summary when the dashboard closes: the address, the counts of the sandbox, and where the data is.

import type { UiState } from "../../../ui/state/state.ts";
import { escapeControlCharacters } from "../../kernel/text.ts";

export function exitSummary({ sandbox, target, made }: UiState, keepsRunning: boolean): string {
  if (!sandbox) return `No sandbox responded at ${escapeControlCharacters(target.url)}.\n`;
  const { requests, attempts, verdicts } = made;
  const counts = [counted(requests, "request"), counted(attempts, "delivery attempt"), counted(verdicts.fail, "failed verdict")];
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
