// Finds the service among the hosts of a recording, and the operation of each call.

import { usageError } from "../kernel/errors.ts";
import { grouped } from "../kernel/grouped.ts";
import { mask } from "../kernel/mask.ts";
import { isSecretName } from "../kernel/secrets.ts";
import { percentDecoded } from "../kernel/text.ts";
import type { ComparedOperation, MatchedCall, RecordedExchange } from "./recording.ts";

/** If two patterns match the same path, the one with more `literals` (literal segments) applies. */
export type CallPattern = ReturnType<typeof routesOf>[number];

export function routesOf(operations: readonly ComparedOperation[]) {
  const routes = operations.map((operation) => {
    const pattern = new RegExp(`^${operation.path.replaceAll(/\{\w+\}/g, "([^/]+)")}$`);
    return {
      operation,
      pattern,
      literals: operation.path.split("/").filter((segment) => !segment.startsWith("{")).length,
    };
  });
  return routes.sort((one, other) => other.literals - one.literals);
}

export interface BaseUrl {
  origin: string;
  /** Without a trailing slash. */
  prefix: string;
}

const MOST_PREFIX_SEGMENTS = 5;

/** The base address below which most calls match an operation; undefined if no call matches. */
export function findBase(exchanges: readonly RecordedExchange[], routes: readonly CallPattern[]): BaseUrl | undefined {
  const bases = exchanges.flatMap(({ url, method }) => {
    const segments = url.pathname.split("/").slice(1);
    return segments.slice(0, MOST_PREFIX_SEGMENTS + 1).flatMap((_, length) => {
      const rest = `/${segments.slice(length).join("/")}`;
      if (!routes.some(({ operation, pattern }) => operation.method === method && pattern.test(rest))) return [];
      return { origin: url.origin, prefix: url.pathname.slice(0, -rest.length) };
    });
  });
  const groups = [...grouped(bases, ({ origin, prefix }) => origin + prefix).values()];
  const lengthOf = ([base]: readonly BaseUrl[]) => base?.prefix.length ?? 0;
  return groups.sort((one, other) => other.length - one.length || lengthOf(one) - lengthOf(other))[0]?.[0];
}

export function readBase(text: string): BaseUrl {
  if (!URL.canParse(text))
    return usageError(`--base takes a URL such as https://api.example.com/v1; received "${mask(text)}".`);
  const { origin, pathname } = new URL(text);
  return { origin, prefix: pathname.replace(/\/+$/, "") };
}

/** The address without the keys and personal data that gateways put in paths. */
export function shownAddress({ origin, prefix }: BaseUrl, isPersonal: (text: string) => boolean): string {
  const segments = prefix.split("/").map((segment) => (isPersonal(percentDecoded(segment)) ? "{id}" : segment));
  return mask(origin + segments.join("/"));
}

/** The path below the base; undefined if the call went to another address. */
export function pathBelow({ origin, prefix }: BaseUrl, { url }: RecordedExchange): string | undefined {
  if (url.origin !== origin || !url.pathname.startsWith(`${prefix}/`)) return undefined;
  return url.pathname.slice(prefix.length);
}

/** The call of an operation; undefined if no operation has this method and path. */
export function callOf(
  exchange: RecordedExchange,
  path: string,
  routes: readonly CallPattern[],
): MatchedCall | undefined {
  const found = routes.find(({ operation, pattern }) => operation.method === exchange.method && pattern.test(path));
  if (!found) return undefined;
  const ids = (found.pattern.exec(path) ?? []).slice(1).map(percentDecoded);
  return { ...exchange, operation: found.operation, path, ids };
}

/** Words that follow the name of a collection and are not ids. */
const ACTIONS = new Set([
  "batch",
  "bulk",
  "count",
  "current",
  "export",
  "import",
  "me",
  "new",
  "preview",
  "search",
  "stats",
  "summary",
]);

/**
 * A path with `{id}` in place of each id. A segment is an id if it has digits, capitals or an underscore, if it is
 * personal data in the recording, or if it follows the name of a collection or of a secret, such as `ana` in
 * /customers/ana.
 */
export function shapeOfPath(
  path: string,
  routes: readonly CallPattern[],
  isPersonal: (text: string) => boolean,
): string {
  const known = new Set(routes.flatMap(({ operation }) => operation.path.split("/")));
  const isWord = (segment: string, before = "") =>
    segment === "" || known.has(segment) || ACTIONS.has(segment) || !(/s$/.test(before) || isSecretName(before));
  const isPlain = (segment: string) => /^[a-z.-]{0,32}$/.test(segment) && !isPersonal(segment);
  return path
    .split("/")
    .map((segment, index, all) => (isPlain(segment) && isWord(segment, all[index - 1]) ? segment : "{id}"))
    .join("/");
}
