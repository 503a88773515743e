// The timing of a request: a line for each stage, with a bar where the stage lies in the whole duration.

import type { RequestDetail } from "../../generated/control-api.ts";
import { styled, symbols, type TextStyle, type Theme } from "../terminal/style.ts";
import { duration } from "../view/format.ts";

const INDENT = "  ";
const NAME_WIDTH = 14;
const TIME_WIDTH = 10;
const MAX_BAR = 60;

const STYLES: Partial<Record<RequestDetail["stages"][number]["name"], TextStyle>> = {
  operation: "green",
  response: "yellow",
  body: "cyan",
};

export function timingLines(theme: Theme, stages: RequestDetail["stages"], width: number): string[] {
  const total = stages.reduce((sum, { ms }) => sum + ms, 0);
  const room = Math.max(10, Math.min(MAX_BAR, width - INDENT.length - NAME_WIDTH - TIME_WIDTH - 3));
  if (total === 0) return [];
  let before = 0;
  return stages.map(({ name, ms }) => {
    const from = Math.min(room - 1, Math.floor((before / total) * room));
    before += ms;
    const to = Math.max(from + 1, Math.round((before / total) * room));
    const bar = " ".repeat(from) + symbols(theme).full.repeat(to - from);
    const label = styled(theme, INDENT + name.padEnd(NAME_WIDTH), "dim");
    return `${label} ${(ms < 1 ? `${ms.toFixed(2)} ms` : duration(ms)).padStart(TIME_WIDTH)}  ${styled(theme, bar, STYLES[name] ?? "blue")}`;
  });
}
