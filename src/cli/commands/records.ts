// `make`, `move` and `show`: create, change and read the records of a running sandbox.

import type {
  LoggedEvent,
  RecordsListInput,
  TimelineStep,
  TimelinesGetInput,
  WrittenRecord,
} from "../../../generated/control-api.ts";
import type { Resource } from "../../contracts/resource.ts";
import { isoTime } from "../../kernel/clock.ts";
import { usageError } from "../../kernel/errors.ts";
import { writeAmount } from "../../kernel/money.ts";
import { PROGRAM } from "../../kernel/program-name.ts";
import { escapeControlCharacters, kebab, plural } from "../../kernel/text.ts";
import { isAmount, isTimestamp } from "../../schema/shapes.ts";
import { note, noteWarnings } from "../output/print.ts";
import { fieldFlags, fieldsOf, kindIn, kindNamed, readFields, statusNamed } from "../records/field-flags.ts";
import type { RunningSandbox } from "../remote/running-sandbox.ts";
import { sandboxCommand } from "../sandbox-command.ts";

const merchantFlag = {
  merchant: { value: "merchant", description: "use this merchant, such as lodge", defaultText: "the first one" },
};

const MAKE_EXAMPLE = "make payment --status succeeded --amount 12.50";
const MOVE_EXAMPLE = "move payment pay_pending succeeded";

export const make = sandboxCommand({
  summary: `create a record, and send its events: ${MAKE_EXAMPLE}`,
  usage: "make <kind> [--status <status>] [--<field> <value> ...]",
  example: MAKE_EXAMPLE,
  flags: merchantFlag,
  flagsFor(positionals) {
    const word = kindIn(positionals);
    return word === undefined ? {} : fieldFlags(fieldsOf(makeable(word), true));
  },
  async call(sandbox, { flags, positionals: [word = ""] }) {
    const resource = makeable(word);
    const { id: merchant } = await sandbox.merchant(flags.merchant);
    const { records } = sandbox.control;
    const homeCurrency = async () =>
      (await records.get({ kind: "merchant", id: merchant, merchant })).currency as string | null;
    const fields = await readFields(resource, true, flags, homeCurrency);
    return changeOf(sandbox, merchant, () => records.make({ ...fields, kind: resource.kind, merchant }));
  },
  lines: changeLines,
});

function makeable(word: string): Resource {
  const resource = kindNamed(word);
  if (resource.kind !== "merchant") return resource;
  return usageError(
    `make creates records of a merchant. Create a merchant with ${PROGRAM} merchant add, or POST /v1/merchants.`,
  );
}

export const move = sandboxCommand({
  summary: `change the status or fields of a record, and send its events: ${MOVE_EXAMPLE}`,
  usage: "move <kind> <id> [status] [--<field> <value> ...]",
  example: MOVE_EXAMPLE,
  flags: merchantFlag,
  flagsFor(positionals) {
    const word = kindIn(positionals);
    return word === undefined ? {} : fieldFlags(fieldsOf(kindNamed(word), false));
  },
  async call(sandbox, { flags, positionals: [word = "", id = "", target] }) {
    const resource = kindNamed(word);
    const { kind } = resource;
    const status = target === undefined ? {} : { status: statusNamed(resource, target) };
    const { id: merchant } = await sandbox.merchant(flags.merchant);
    const { records } = sandbox.control;
    const currency = async () => (await records.get({ kind, id, merchant })).currency as string | null;
    const fields = { ...(await readFields(resource, false, flags, currency)), ...status };
    if (Object.keys(fields).length === 0)
      usageError(`move needs a status or a field to change: ${PROGRAM} ${MOVE_EXAMPLE}.`);
    return changeOf(sandbox, merchant, () => records.move({ ...fields, kind, id, merchant }));
  },
  lines: changeLines,
});

type AnyRecord = Readonly<Record<string, unknown>>;

/** A changed record with its warnings, and the events that the change emitted, oldest first. */
interface Change {
  data: [AnyRecord];
  events: LoggedEvent[];
}

/** Looks for the change's events among this many newest events: other records may emit events at the same time. */
const MOST_EVENTS = 100;

async function changeOf(
  { control }: RunningSandbox,
  merchant: string,
  change: () => Promise<WrittenRecord>,
): Promise<Change> {
  const [newest] = (await control.events.list({ merchant, limit: 1 })).data;
  const record = await change();
  noteWarnings(record.warnings);
  const { data: events } = await control.events.list({ merchant, limit: MOST_EVENTS });
  const older = events.findIndex(({ id }) => id === newest?.id);
  return { data: [record], events: events.slice(0, older < 0 ? undefined : older).reverse() };
}

function changeLines({ data: [record], events }: Change): string[] {
  const eventLines = events.map(({ type, id, body, deliveries }) => {
    const about = (body as { data?: { id?: unknown } }).data?.id;
    const count = Object.values(deliveries).reduce((sum, each) => sum + each, 0);
    const sent = count === 0 ? "no endpoint is subscribed to it" : plural(count, "delivery");
    return `  ${type}${about === record.id ? "" : ` of ${about}`} ${id}: ${sent}`;
  });
  return [recordLine(record), ...eventLines];
}

export const show = sandboxCommand({
  summary: "list the newest records of a kind, or show one: show payments --status failed",
  usage: "show <kind> [id]",
  example: "show payments",
  flags: {
    status: { value: "status", description: "list only records in this status" },
    limit: { value: "n", description: "list this many records, from 1 to 100", defaultText: "25" },
    "starting-after": { value: "id", description: "list the records older than this one: the next page" },
    timeline: {
      description: "with an id: list the requests, events, deliveries and time-driven changes of the record",
    },
    ...merchantFlag,
  },
  async call(sandbox, { flags, positionals: [word = "", id] }) {
    const resource = kindNamed(word);
    const { kind } = resource;
    const status = flags.status === undefined ? undefined : statusNamed(resource, flags.status);
    const { id: merchant } = await sandbox.merchant(flags.merchant);
    const { records } = sandbox.control;
    if (id !== undefined && flags.timeline !== undefined) return timelineOf(sandbox, { id, merchant }, flags.limit);
    if (id !== undefined) return { data: [await records.get({ kind, id, merchant })], has_more: false, merchant };
    // The sandbox validates the limit, so that its error quotes it as typed.
    const given = { kind, merchant, status, limit: flags.limit, starting_after: flags["starting-after"] };
    return { ...(await records.list(given as RecordsListInput)), merchant };
  },
  lines({ data, has_more, merchant }, { flags, positionals: [word = "", id] }) {
    const resource = kindNamed(word);
    if (id !== undefined && flags.timeline !== undefined) return (data as unknown as TimelineStep[]).map(timelineLine);
    if (id !== undefined) return data.flatMap((record) => fieldLines(resource, record));
    if (data.length === 0) return [`${merchant} has no such records. Try ${PROGRAM} make ${kebab(resource.kind)}.`];
    return [...data.map(recordLine), ...(has_more ? [`Older ones: add --starting-after ${data.at(-1)?.id}.`] : [])];
  },
});

/** The steps of a timeline, newest first. */
async function timelineOf({ control }: RunningSandbox, record: { id: string; merchant: string }, limit?: string) {
  const { steps, has_more: hasMore } = await control.timelines.get({ ...record, limit } as TimelinesGetInput);
  if (hasMore) note(`Older steps were left out: add --limit 100 for the newest 100.`);
  return { data: steps as unknown as AnyRecord[], has_more: hasMore, merchant: record.merchant };
}

const timelineLine = ({ at, kind, id, text, result }: TimelineStep) =>
  escapeControlCharacters(`${at} ${kind} ${id} ${text}${result === null ? "" : ` ${result}`}`);

/** Fields that identify a record to a person. A line shows the first one with a value. */
const NAMING = [
  "guestName",
  "name",
  "number",
  "reference",
  "plan",
  "scheme",
  "sku",
  "employeeId",
  "integration",
  "accountName",
  "periodStart",
  "purpose",
];

/** A record as one line, such as `pay_… succeeded 12.50 EUR INV-1042`. */
function recordLine(record: AnyRecord): string {
  const { id, status, amount, currency, totals } = record;
  const total = typeof amount === "number" ? amount : (totals as { netAmount?: unknown } | undefined)?.netAmount;
  const name = NAMING.map((field) => record[field]).find((value) => typeof value === "string");
  const money = typeof total === "number" ? writeAmount(total, currency as string | null) : undefined;
  return [id, status, money, name].filter((part) => part != null).join(" ");
}

/** A record as one line per field, without null fields. */
function fieldLines({ schema }: Resource, record: AnyRecord): string[] {
  const fields = Object.entries(record).filter(([, value]) => value !== null);
  const width = Math.max(...fields.map(([name]) => name.length));
  return fields.map(([name, value]) => `${name.padEnd(width)}  ${valueText(schema.properties[name], value, record)}`);
}

function valueText(schema: object | undefined, value: unknown, { currency }: AnyRecord): string {
  if (typeof value === "number" && schema && isAmount(schema))
    return `${writeAmount(value, currency as string | null)}`;
  if (typeof value === "number" && schema && isTimestamp(schema)) return isoTime(value * 1000);
  return typeof value === "string" ? value : JSON.stringify(value);
}
