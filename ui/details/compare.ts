// The comparison of two requests, such as a retry with its first try: the lines of both messages, with what differs marked.

import type { RequestDetail } from "../../generated/control-api.ts";
import type { RequestMessage } from "../../src/contracts/live-messages.ts";
import { mask, maskValue } from "../../src/kernel/mask.ts";
import type { Detail } from "../overlays/detail.ts";
import { type UiState, valuesOf } from "../state/state.ts";
import { duration, reformatJson } from "../view/format.ts";
import { styled } from "../view/style.ts";
import { sectionOf, wrapped } from "./detail-lines.ts";
import { requestCall } from "./request.ts";

/** A request after the first listed try of the same call, or for the first try itself before the next one; undefined without another try. */
export function triesToCompare(state: UiState, request: RequestMessage): readonly [RequestMessage, RequestMessage] | undefined {
  const tries = valuesOf<RequestMessage>(state, "requests").filter(
    ({ merchant, method, path, idempotencyKey }) =>
      merchant === request.merchant && method === request.method && path === request.path && idempotencyKey === request.idempotencyKey,
  );
  const [first, next] = tries;
  if (!first || !next) return undefined;
  return [first, first.id === request.id ? next : request];
}

export const comparison = (first: RequestMessage, second: RequestMessage): Detail<{ first: RequestDetail; second: RequestDetail }> => ({
  title: `${first.id} and ${second.id}`,
  fetch: { first: requestCall(first.id), second: requestCall(second.id) },
  lines({ first: one, second: other }, { theme }, width) {
    if (!one || !other) return [];
    const marked = (line: string) => {
      const style = line.startsWith("-") ? "red" : line.startsWith("+") ? "green" : "dim";
      return wrapped(line, width).map((piece) => styled(theme, piece, style));
    };
    return [
      ...[`- ${summaryOf(one)}`, `+ ${summaryOf(other)}`].flatMap(marked),
      ...sectionOf(theme, "Request", diffLines(requestText(one), requestText(other)), marked),
      ...sectionOf(theme, "Response", diffLines(responseText(one), responseText(other)), marked),
    ];
  },
});

const summaryOf = ({ id, at, status, durationMs }: RequestDetail) => `${id}  ${at}  ${status || "no response"}  ${duration(durationMs)}`;

const requestText = ({ method, path, query, request }: RequestDetail) => [
  `${method} ${path}${query === "" ? "" : `?${query.replace(/^\?/, "")}`}`,
  ...messageText(request),
];

const responseText = ({ status, response }: RequestDetail) => [status === 0 ? "no response" : `status ${status}`, ...messageText(response)];

function messageText({ headers, body }: RequestDetail["request"]): string[] {
  const shown = Object.entries(maskValue(headers) as Readonly<Record<string, unknown>>).map(([name, value]) => `${name}: ${value}`);
  return [...shown.sort(), ...(body === "" ? [] : ["", ...mask(reformatJson(body, 2)).split("\n")])];
}

/** Longer differences are shown whole instead of matched line by line: every frame computes them again. */
const MAX_CELLS = 40_000;

/** The lines of both texts in order: `-` only in the first, `+` only in the second, two spaces in both. */
export function diffLines(first: readonly string[], second: readonly string[]): string[] {
  const firstChange = first.findIndex((line, index) => line !== second[index]);
  const start = firstChange === -1 ? first.length : firstChange;
  const [one, other] = [first.slice(start), second.slice(start)];
  const same = first.slice(0, start).map((line) => `  ${line}`);
  if (one.length * other.length > MAX_CELLS) return [...same, ...one.map((line) => `- ${line}`), ...other.map((line) => `+ ${line}`)];
  return [...same, ...walkDiff(one, other, commonLengths(one, other))];
}

/** For each pair of positions, how many lines the rests of both texts have in common (the longest common subsequence). */
function commonLengths(one: readonly string[], other: readonly string[]): number[][] {
  const lengths = Array.from({ length: one.length + 1 }, () => Array<number>(other.length + 1).fill(0));
  for (let row = one.length - 1; row >= 0; row--)
    for (let column = other.length - 1; column >= 0; column--)
      (lengths[row] as number[])[column] =
        one[row] === other[column]
          ? 1 + (lengths[row + 1]?.[column + 1] ?? 0)
          : Math.max(lengths[row + 1]?.[column] ?? 0, lengths[row]?.[column + 1] ?? 0);
  return lengths;
}

function walkDiff(one: readonly string[], other: readonly string[], lengths: readonly (readonly number[])[]): string[] {
  const lines: string[] = [];
  let [row, column] = [0, 0];
  while (row < one.length || column < other.length) {
    if (row < one.length && one[row] === other[column]) {
      lines.push(`  ${one[row]}`);
      row++;
      column++;
    } else if (row < one.length && (column === other.length || (lengths[row + 1]?.[column] ?? 0) >= (lengths[row]?.[column + 1] ?? 0)))
      lines.push(`- ${one[row++]}`);
    else lines.push(`+ ${other[column++]}`);
  }
  return lines;
}
