// The comparison of two requests, or of two attempts of a delivery: the lines of both, with the differences marked.

import type { DeliveriesGetReply, RequestDetail } from "../../../generated/control-api.ts";
import type { Call } from "../../../src/client/curl.ts";
import type { RequestMessage } from "../../../src/contracts/live-messages.ts";
import { mask, maskValue } from "../../../src/kernel/mask.ts";
import { byteLength, plural } from "../../../src/kernel/text.ts";
import { type UiState, valuesOf } from "../../state/state.ts";
import { duration, indentJson } from "../../text/format.ts";
import { styled, type TextStyle } from "../../text/style.ts";
import type { Detail } from "../overlays/detail.ts";

const SAME = "  ";

/** The styles of lines that only the first text has (`-`) or only the second (`+`). Lines of both are dim. */
const SIGN_STYLES: Readonly<Record<string, TextStyle>> = { "-": "red", "+": "green" };

/**
 * The first listed try of a call, and the given request to compare with it. If the given request is the first try
 * itself, the second try takes its place. Undefined if the call was tried only once.
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

/** The compared lines of a logged request or a delivery attempt, by section. */
interface Compared {
  summary: string;
  sections: Readonly<Record<string, readonly string[]>>;
}

/** The differences of two rows of the log, each fetched by its call and turned into lines. */
export const comparison = <Reply>(
  [first, second]: readonly [string, string],
  callOf: (id: string) => Call<Reply>,
  linesOf: (reply: Reply) => Compared,
): Detail<{ first: Reply; second: Reply }> => ({
  title: `Compare ${first} and ${second}`,
  fetch: { first: callOf(first), second: callOf(second) },
  lines({ first: one, second: other }, { theme, section, field, wrapped }) {
    if (!one || !other) return [];
    const marked = (line: string) => {
      const style = SIGN_STYLES[line[0] ?? ""] ?? "dim";
      return wrapped(line).map((piece) => styled(theme, piece, style));
    };
    const [before, after] = [linesOf(one), linesOf(other)];
    const sections = Object.entries(before.sections).map(([heading, lines]) => {
      const all = diffLines(lines, after.sections[heading] ?? []);
      return { heading, all, changed: all.filter(isChanged).length };
    });
    return [
      ...[`- ${before.summary}`, `+ ${after.summary}`].flatMap(marked),
      "",
      ...sections.flatMap(({ heading, changed }) =>
        field(heading.toLowerCase(), changed === 0 ? "the same" : `${plural(changed, "changed line")}`),
      ),
      ...sections.flatMap(({ heading, all, changed }) =>
        changed === 0 ? [] : section(heading, withoutSame(all).flatMap(marked)),
      ),
    ];
  },
});

const isChanged = (line: string) => !line.startsWith(SAME);

/** How many equal lines are shown on each side of a change. */
const CONTEXT = 3;

/** Replaces equal lines that are far from any change with one line that says how many were left out. */
function withoutSame(lines: readonly string[]): string[] {
  const isNear = (index: number) => lines.slice(Math.max(0, index - CONTEXT), index + CONTEXT + 1).some(isChanged);
  const shown: string[] = [];
  let hidden = 0;
  for (const [index, line] of [...lines, ""].entries()) {
    const isShown = index === lines.length || isNear(index);
    if (isShown && hidden > 0) shown.push(`${SAME}… ${plural(hidden, "equal line")}`);
    hidden = isShown ? 0 : hidden + 1;
    if (isShown && index < lines.length) shown.push(line);
  }
  return shown;
}

export const comparedRequest = (request: RequestDetail): Compared => ({
  summary: `${request.id}  ${request.at}  ${request.status || "no response"}  ${duration(request.durationMs)}`,
  sections: { Request: requestText(request), Response: responseText(request) },
});

export function comparedAttempt({ attempt }: DeliveriesGetReply): Compared {
  const { id, at, requestHeaders, requestBody, responseStatus, responseBody, errorCode, errorMessage } = attempt;
  const took = attempt.durationMs === null ? "" : `  ${duration(attempt.durationMs)}`;
  const sent = { headers: requestHeaders, body: requestBody, bytes: byteLength(requestBody) };
  const received = responseBody ?? "";
  const result = responseStatus === null ? `${errorCode}: ${errorMessage}` : `status ${responseStatus}`;
  return {
    summary: `${id}  attempt ${attempt.attempt}  ${at}  ${responseStatus ?? errorCode ?? "no response"}${took}`,
    sections: {
      Request: [`POST ${mask(attempt.url)}`, ...messageText(sent)],
      Response: [result, ...messageText({ headers: {}, body: received, bytes: byteLength(received) })],
    },
  };
}

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
function diffLines(first: readonly string[], second: readonly string[]): string[] {
  let next = 0;
  const lines = first.flatMap((line) => {
    const same = second.indexOf(line, next);
    if (same === -1) return [`- ${line}`];
    const added = second.slice(next, same).map((other) => `+ ${other}`);
    next = same + 1;
    return [...added, `${SAME}${line}`];
  });
  return [...lines, ...second.slice(next).map((other) => `+ ${other}`)];
}
