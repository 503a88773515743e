// A command that lists what a running sandbox has recorded, newest first, follows it, or shows the details of one row.

import { controlCatalogue } from "../control/index.ts";
import { realDelay } from "../kernel/clock.ts";
import { exitCodes, usageError } from "../kernel/errors.ts";
import { PROGRAM } from "../kernel/program-name.ts";
import { kebab } from "../kernel/text.ts";
import type { FlagDefinition, FlagDefinitions, Flags } from "./arguments.ts";
import type { Command } from "./command.ts";
import { type GivenFilter, type ListGroup, MOST_ROWS, unknownNames, whyNoneMatch } from "./empty-list.ts";
import { detailLines } from "./output/detail-lines.ts";
import { note, print } from "./output/print.ts";
import type { RunningSandbox } from "./remote/running-sandbox.ts";
import { sandboxCommand } from "./sandbox-command.ts";

type Control = RunningSandbox["control"];

export interface Page<Row> {
  data: readonly Row[];
  /** Absent in lists without pages. */
  has_more?: boolean;
}

export interface ListDefinition<Row> {
  name: string;
  summary: string;
  /** The group of the control API whose `list` returns the rows and has the filters as query parameters. */
  group: ListGroup;
  /** Flags besides the filters. */
  flags?: FlagDefinitions;
  /** The filters that these flags set. */
  implied?(flags: Flags): object;
  whenEmpty: string;
  /** Returns a sentence about an empty list, filtered or not; undefined if the usual sentence is enough. */
  whenNoneMatch?(control: Control, input: object): Promise<string | undefined>;
  exitCode?(flags: Flags, rows: readonly object[]): number;
  /** Returns other lines to list instead of rows, for filters that need them; otherwise undefined. */
  instead?(control: Control, input: object): Promise<Page<object> | undefined>;
  line(row: Row): string;
  /** Everything that is known about the row of this id. */
  get(control: Control, id: string, flags: Flags): Promise<object>;
}

/** Query parameters whose flags have other names or descriptions. */
const PARAMETERS: Readonly<Record<string, { flag: string } & FlagDefinition>> = {
  limit: { flag: "limit", value: "n", description: "list this many, from 1 to 100", defaultText: "25" },
  starting_after: { flag: "starting-after", value: "id", description: "list those older than this one: the next page" },
  trace: {
    flag: "trace",
    value: "id",
    description:
      "list what the calls of this trace caused: requests, events, deliveries and the calls of receivers; with " +
      "other filters, only its requests",
  },
};

const parametersOf = (group: ListGroup) =>
  controlCatalogue.find(({ id }) => id === `${group}.list`)?.query?.properties ?? {};

function filtersOf(group: ListGroup) {
  return Object.entries(parametersOf(group))
    .filter(([name]) => name !== "ending_before")
    .map(([name, schema]) => {
      const { description = "", enum: values } = schema as { description?: string; enum?: readonly string[] };
      const { flag, ...given } = PARAMETERS[name] ?? {
        flag: kebab(name).replace(/-id$/, ""),
        description: inImperative(description),
      };
      return { name, flag, definition: { value: values?.join("|") ?? flag, ...given } };
    });
}

/** Turns the description of a query parameter, such as `Only events of this type`, into the imperative for a flag. */
const inImperative = (description: string) =>
  description.replace(/^Only (of|to|with|at)\b/, "list only those $1").replace(/^Only/, "list only");

const quoted = (value: string) => (value.includes(" ") ? JSON.stringify(value) : value);

export function listCommand<Row extends { id: string | null }>(list: ListDefinition<Row>): Command {
  const filters = filtersOf(list.group);
  const givenFilters = (flags: Flags): GivenFilter[] =>
    [...Object.keys(list.flags ?? {}).map((flag) => ({ name: flag, flag })), ...filters].flatMap(({ name, flag }) => {
      const value = flags[flag];
      if (value === undefined || name === "limit") return [];
      return [{ name, value, text: name in (list.flags ?? {}) ? `--${flag}` : `--${flag} ${quoted(value)}` }];
    });
  let emptyText: string | undefined;
  return sandboxCommand({
    summary: list.summary,
    usage: `${list.name} [id]`,
    flags: {
      ...list.flags,
      ...Object.fromEntries(filters.map(({ flag, definition }) => [flag, definition])),
      follow: { description: "keep printing new rows, the newest last, until Ctrl-C" },
    },
    async call(sandbox, { flags, positionals: [id] }): Promise<Page<object>> {
      if (id !== undefined) {
        refuseOtherKind(id, list.group);
        return { data: [await list.get(sandbox.control, id, flags)] };
      }
      // The sandbox validates the filters, so that its errors quote them as typed.
      const typed = Object.fromEntries(filters.map(({ name, flag }) => [name, flags[flag]]));
      const rows = sandbox.control[list.group] as unknown as { list(query: object): Promise<Page<Row>> };
      const input = { ...typed, merchant: await merchantOf(sandbox, flags.merchant, rows), ...list.implied?.(flags) };
      const page = (more: object = {}) => rows.list({ ...input, ...more });
      const { control } = sandbox;
      const given = givenFilters(flags);
      if (flags.follow === undefined) {
        const found = (await list.instead?.(control, input)) ?? (await page());
        if (found.data.length > 0) return found;
        if (flags.json === undefined)
          emptyText =
            (await list.whenNoneMatch?.(control, input)) ??
            (given.length > 0 ? await whyNoneMatch(control, list.group, given) : undefined);
        else (await unknownNames(control, given)).forEach(note);
        return found;
      }
      (await unknownNames(control, given)).forEach(note);
      // A list without pages takes no limit, and returns all rows.
      const longest = "limit" in parametersOf(list.group) ? { limit: MOST_ROWS } : {};
      return follow(page, longest, flags.json === undefined ? list.line : JSON.stringify);
    },
    exitCode: ({ data }, { flags }) => list.exitCode?.(flags, data) ?? exitCodes.ok,
    lines({ data, has_more: hasMore = false }, { positionals }) {
      if (positionals.length > 0) return data.flatMap((details) => detailLines(details));
      const rows = data as readonly Row[];
      if (rows.length === 0) return [emptyText ?? `No ${list.name} yet. ${list.whenEmpty}`];
      return [...rows.map(list.line), ...(hasMore ? [`Older ones: add --starting-after ${rows.at(-1)?.id}.`] : [])];
    },
  });
}

/** The prefix of the ids of each list, and what such an id names. */
const KINDS: Readonly<Record<string, { group: ListGroup; kind: string }>> = {
  req: { group: "requests", kind: "a request" },
  evt: { group: "events", kind: "an event" },
  whd: { group: "deliveries", kind: "a delivery attempt" },
  vdt: { group: "verdicts", kind: "a verdict" },
  we: { group: "endpoints", kind: "a webhook endpoint" },
};

/** Rejects an id of another list and names that list's command. The sandbox would only say that the id is unknown. */
function refuseOtherKind(id: string, group: ListGroup): void {
  const other = KINDS[id.slice(0, id.indexOf("_"))];
  if (other !== undefined && other.group !== group)
    usageError(`${id} is the id of ${other.kind}. Show it with ${PROGRAM} ${other.group} ${id}.`);
}

/** The id of the merchant that a flag names. A removed merchant counts too, because lists keep its rows. */
async function merchantOf(
  sandbox: RunningSandbox,
  wanted: string | undefined,
  rows: { list(query: object): Promise<Page<object>> },
): Promise<string | undefined> {
  try {
    return await sandbox.merchantId(wanted);
  } catch (error) {
    for (const merchant of [wanted, `mer_${wanted}`])
      if ((await rows.list({ merchant })).data.length > 0) return merchant;
    throw error;
  }
}

const POLL_INTERVAL = 250;

/**
 * Prints the rows oldest first, and then each line that was not in the list before: a new row, or one that has changed.
 * Reads further pages until it finds a known row, so that a burst is complete. Compares lines instead of ids, because a
 * reset gives the same ids again. Leaves out rows without an id, such as an open verdict, whose text changes with time.
 */
async function follow<Row extends { id: string | null }>(
  page: (more?: object) => Promise<Page<Row>>,
  longest: object,
  write: (row: Row) => string,
): Promise<never> {
  let known = new Set<string>();
  for (let isFirst = true; ; isFirst = false) {
    const found: string[] = [];
    for (let more: object | undefined = isFirst ? {} : longest; more !== undefined; ) {
      const { data, has_more: hasMore = false } = await page(more);
      const lines = data.filter(({ id }) => id !== null).map(write);
      found.push(...lines);
      const isBurst = !isFirst && known.size > 0 && hasMore && !lines.some((line) => known.has(line));
      more = isBurst ? { ...longest, starting_after: data.at(-1)?.id } : undefined;
    }
    for (const line of found.toReversed()) if (!known.has(line)) print(line);
    known = new Set(found);
    // The reader of the output has gone, as in `--follow | head`.
    if (!process.stdout.writable) process.exit(exitCodes.ok);
    await realDelay(POLL_INTERVAL);
  }
}
