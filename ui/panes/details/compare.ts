// The comparison of two requests, such as a retry with its first try: the lines of both messages, with the differences
// marked.

import type { RequestDetail } from "../../../generated/control-api.ts";
import type { RequestMessage } from "../../../src/contracts/live-messages.ts";
import { mask, maskValue } from "../../../src/kernel/mask.ts";
import { byteLength } from "../../../src/kernel/text.ts";
import { type UiState, valuesOf } from "../../state/state.ts";
import { duration, indentJson } from "../../text/format.ts";
import { styled, type TextStyle } from "../../text/style.ts";
import type { Detail } from "../overlays/detail.ts";
import { requestCall } from "./request.ts";

/** The styles of lines that only the first or only the second text has; lines of both are dim. */
const SIGN_STYLES: Readonly<Record<string, TextStyle>> = { "-": "red", "+": "green" };

/**
 * The first listed try of a call, and the given request or, if that is the first try, the next one; undefined without
 * another try.
 */
export function triesToCompare(
  state: UiState,
  request: RequestMessage,
): readonly [RequestMessage, RequestMessage] | undefined {
  const tries = valuesOf<RequestMessage>(state, "requests").filter(
    ({ merchant, method, path, idempotencyKey }) =>
      merchant === request.merchant &&
      method === request.method &&
      path === request.path &&
      idempotencyKey === request.idempotencyKey,
  );
  const [first, next] = tries;
  if (!first || !next) return undefined;
  return [first, first.id === request.id ? next : request];
}

export const comparison = (
  first: RequestMessage,
  second: RequestMessage,
): Detail<{ first: RequestDetail; second: RequestDetail }> => ({
  title: `${first.id} and ${second.id}`,
  fetch: { first: requestCall(first.id), second: requestCall(second.id) },
  lines({ first: one, second: other }, { theme, section, wrapped }) {
    if (!one || !other) return [];
    const marked = (line: string) => {
      const style = SIGN_STYLES[line[0] ?? ""] ?? "dim";
      return wrapped(line, "").map((piece) => styled(theme, piece, style));
    };
    return [
      ...[`- ${summaryOf(one)}`, `+ ${summaryOf(other)}`].flatMap(marked),
      ...section("Request", diffLines(requestText(one), requestText(other)).flatMap(marked)),
      ...section("Response", diffLines(responseText(one), responseText(other)).flatMap(marked)),
    ];
  },
});

const summaryOf = ({ id, at, status, durationMs }: RequestDetail) =>
  `${id}  ${at}  ${status || "no response"}  ${duration(durationMs)}`;

const requestText = ({ method, path, query, request }: RequestDetail) => [
  `${method} ${path}${query === "" ? "" : `?${query.replace(/^\?/, "")}`}`,
  ...messageText(request),
];

const responseText = ({ status, response }: RequestDetail) => [
  status === 0 ? "no response" : `status ${status}`,
  ...messageText(response),
];

function messageText({ headers, body, bytes }: RequestDetail["request"]): string[] {
  const shown = Object.entries(maskValue(headers) as Readonly<Record<string, unknown>>).map(
    ([name, value]) => `${name}: ${value}`,
  );
  return [
    ...shown.sort(),
    ...(body === "" ? [] : ["", ...mask(indentJson(body, byteLength(body) < bytes)).split("\n")]),
  ];
}

/** The lines of both texts in order: `-` only in the first, `+` only in the second, two spaces in both. */
export function diffLines(first: readonly string[], second: readonly string[]): string[] {
  let next = 0;
  const lines = first.flatMap((line) => {
    const same = second.indexOf(line, next);
    if (same === -1) return [`- ${line}`];
    const added = second.slice(next, same).map((other) => `+ ${other}`);
    next = same + 1;
    return [...added, `  ${line}`];
  });
  return [...lines, ...second.slice(next).map((other) => `+ ${other}`)];
}
