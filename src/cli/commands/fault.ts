// `fault`: arms, lists and removes the fault rules of a running sandbox.

import { STATUS_CODES } from "node:http";
import type { FaultRule, FaultsAddInput } from "../../../generated/control-api.ts";
import { describeRule } from "../../client/rule-text.ts";
import type { FaultTarget } from "../../contracts/fault.ts";
import type { Action } from "../../faults/action.ts";
import { parseActionFields } from "../../faults/inline-syntax.ts";
import { findAction } from "../../faults/read-rule.ts";
import { actions } from "../../faults/rule-schema.ts";
import { BUDGET_SCOPES, type Trigger } from "../../faults/trigger.ts";
import { didYouMean } from "../../kernel/did-you-mean.ts";
import { asMisuse, usageError } from "../../kernel/errors.ts";
import { PROGRAM } from "../../kernel/program-name.ts";
import { count, kebab, plural } from "../../kernel/text.ts";
import type { FlagDefinition, Flags } from "../arguments.ts";
import { commandGroup } from "../command.ts";
import type { HelpSection } from "../help.ts";
import { note, noteWarnings } from "../output/print.ts";
import { linesOf, sandboxCommand } from "../sandbox-command.ts";

const valuesOf = (field: object | undefined) => (field as { enum?: string[] } | undefined)?.enum?.join("|");

/** Actions with a field of the same name share one flag. The help lists the flags below each action. */
const fieldNames = [...new Set(actions.flatMap(({ schema }) => Object.keys(schema.properties)))].filter(
  (name) => name !== "type",
);
const actionFlags = Object.fromEntries(
  fieldNames.map((name): [string, FlagDefinition] => {
    const fields = actions.flatMap(({ schema }) => schema.properties[name] ?? []) as { type?: string }[];
    const isSwitch = fields.every(({ type }) => type === "boolean");
    const values = [...new Set(fields.flatMap((field) => valuesOf(field) ?? []))].join("|") || "value";
    return [kebab(name), { ...(isSwitch ? {} : { value: values }), description: `set ${name}`, hidden: true }];
  }),
);

const triggerFlags = {
  times: {
    value: "n",
    description: "fire this many times",
    defaultText: "1, or unlimited with --probability or --for",
  },
  skip: { value: "n", description: "skip this many matches first", rare: true },
  every: { value: "n", description: "fire at every n-th match, without a limit unless --times is given", rare: true },
  probability: { value: "p", description: "fire with this probability, from 0 to 1" },
  seed: { value: "n", description: "repeat the same random choices", rare: true },
  after: { value: "duration", description: "start after this time", rare: true },
  for: { value: "duration", description: "stop after this time" },
  per: {
    value: BUDGET_SCOPES.join("|"),
    rare: true,
    description: "count separately for each of these",
    defaultText: "rule",
  },
} satisfies Record<string, FlagDefinition>;

const ruleFlags = {
  merchant: { value: "merchant", description: "match only calls or deliveries of this merchant, such as lodge" },
  endpoint: { value: "endpoint", description: "match only deliveries to this endpoint", rare: true },
  id: { value: "id", description: "use this id, such as flt_lost_payment", defaultText: "generated", rare: true },
  name: { value: "text", description: "give the rule a readable name", rare: true },
  ttl: { value: "duration", description: "remove the rule after this time", rare: true },
  priority: { value: "n", description: "try rules with a higher priority first", defaultText: "0", rare: true },
} satisfies Record<string, FlagDefinition>;

const SECTIONS: Readonly<Record<FaultTarget, string>> = {
  api: "Actions on calls",
  delivery: "Actions on deliveries of webhooks",
};

/** The help sections list every action, and below it the action's fields. `--all` adds an example of each action. */
const sections = (isAll: boolean): HelpSection[] =>
  Object.entries(SECTIONS).map(([target, title]) => ({
    title,
    rows: actions
      .filter((action) => action.target === target)
      .map((action) => [written(action), helpOf(action, isAll)] as const),
  }));

function written({ type, main, schema }: Action): string {
  const name = kebab(type);
  return main === undefined ? name : `${name}[=<${valuesOf(schema.properties[main]) ?? main}>]`;
}

function helpOf({ description, example, schema, main }: Action, isAll: boolean): string {
  const flags = Object.entries(schema.properties)
    .filter(([name]) => name !== "type" && name !== main)
    .map(
      ([name, field]) =>
        `--${kebab(name)}${(field as { type?: string }).type === "boolean" ? "" : ` <${valuesOf(field) ?? "value"}>`}`,
    );
  const lines = [description, flags.join(" "), isAll ? `fault add ${example}` : ""];
  return lines.filter((line) => line !== "").join("\n");
}

/** The registered statuses of errors. Node also knows 509, which is not registered. */
const REGISTERED = Object.keys(STATUS_CODES).filter((status) => /^[45]/.test(status) && status !== "509");

/** Suggests a status. Prefers the same digits in another order, because swapped digits are the likeliest mistake. */
function nearestStatus(status: string): string {
  const digits = (text: string) => [...text].sort().join("");
  return didYouMean(status, REGISTERED.filter((one) => digits(one) === digits(status)).concat(REGISTERED));
}

/** Checks --retry-after here, because the API's error lists only the words that it accepts, not the seconds. */
function checkRetryAfter(given: string | undefined): void {
  if (given === undefined || /^(\d+|absent|zero|past|invalid|\{.*\})$/.test(given)) return;
  usageError(
    "--retry-after takes seconds, such as 2, or absent, zero, past or invalid, " +
      `or '{"form": "http_date", "seconds": 2}'; received "${given}".`,
  );
}

const add = sandboxCommand({
  summary: "arm a rule: fault add 429 payments.list --times 3 --retry-after 2",
  usage: "fault add <action> [operation|event ...]",
  example: "fault add 503 payments.list",
  flags: { ...triggerFlags, ...ruleFlags, ...actionFlags },
  sections,
  terms({ positionals: [action = ""] }) {
    const main = actionIn(action)?.main;
    return main === undefined ? {} : { [main]: `${action.split("=")[0]}=<${main}>` };
  },
  async call({ control }, { flags, positionals: [action = "", ...names] }) {
    checkRetryAfter(flags["retry-after"]);
    const status = /^(?:status=)?([45]\d\d)$/.exec(action)?.[1];
    if (status !== undefined && !REGISTERED.includes(status))
      note(`${status} is not a registered HTTP status.${nearestStatus(status)}`);
    const rule = await control.faults.add(ruleOf(action, names, flags));
    noteWarnings(rule.warnings);
    return rule;
  },
  lines: (rule) => [lineOf(rule)],
});

export const fault = commandGroup({
  name: "fault",
  summary: "inject faults into calls and deliveries",
  default: "ls",
  sections,
  subcommands: {
    add,
    ls: sandboxCommand({
      summary: "list the rules with their counts (the default)",
      usage: "fault ls",
      call: ({ control }) => control.faults.list(),
      lines: linesOf(lineOf, `No fault rules. Try ${PROGRAM} fault add 503 payments.list.`),
    }),
    rm: sandboxCommand({
      summary: "remove a rule; fault ls lists them",
      usage: "fault rm <id>",
      example: "fault rm flt_lost_payment",
      call: ({ control }, { positionals: [id = ""] }) => control.faults.remove({ id }),
      lines: (rule) => [lineOf(rule)],
    }),
    clear: sandboxCommand({
      summary: "remove all rules",
      usage: "fault clear",
      call: ({ control }) => control.faults.clear(),
      lines: ({ removed }) => [`Removed ${plural(removed, "fault rule")}.`],
    }),
  },
});

/** Expands a bare status to `status=…`, and 429 to `rate_limit`. A word may contain a value, as in `latency=2s`. */
function fullAction(word: string): string {
  if (word === "429") return "rate_limit";
  return /^\d{3}$/.test(word) ? `status=${word}` : word;
}

const typeIn = (word: string) => (fullAction(word).split("=")[0] ?? "").replaceAll("-", "_");
const actionIn = (word: string) => actions.find(({ type }) => type === typeIn(word));

/** Builds a rule from the arguments. */
export function ruleOf(written: string, names: readonly string[], flags: Flags): FaultsAddInput {
  const { target, fields } = readAction(fullAction(written), flags);
  const named =
    names.length === 0 ? {} : { [target === "api" ? "operation" : "event"]: names.length === 1 ? names[0] : names };
  const match = { ...named, ...present({ merchant: flags.merchant, endpoint: flags.endpoint }) };
  const { times, skip, every, probability, seed, after, for: span, per } = flags;
  const trigger = {
    ...present({ times, skip, every, probability, seed }, numberIn),
    ...present({ after, for: span, per }),
  };
  return {
    ...present({ id: flags.id, name: flags.name, ttl: flags.ttl }),
    ...present({ priority: flags.priority }, numberIn),
    match,
    trigger,
    action: fields as unknown as FaultsAddInput["action"],
  };
}

function readAction(full: string, flags: Flags) {
  const [type = "", ...rest] = full.split("=");
  if (/^\d+$/.test(type))
    usageError(`There is no status ${type}. An action is a status such as 429, or a name: see fault --help --all.`);
  const given = fieldNames.flatMap((name) =>
    flags[kebab(name)] === undefined ? [] : [[name, flags[kebab(name)] || undefined] as const],
  );
  try {
    const action = findAction(type.replaceAll("-", "_"));
    return {
      target: action.target,
      fields: parseActionFields(action, rest.length === 0 ? undefined : rest.join("="), given),
    };
  } catch (error) {
    throw asMisuse(error);
  }
}

/** Converts to a number. Keeps other text, so that the sandbox's error can quote it. */
const numberIn = (text: string) => (/^-?\d+(\.\d+)?$/.test(text) ? Number(text) : text);

function present(texts: Flags, read: (text: string) => unknown = (text) => text): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(texts).flatMap(([name, text]) => (text === undefined ? [] : [[name, read(text)]])),
  );
}

function lineOf(rule: FaultRule): string {
  const { id, name, priority, status, matched, fired } = rule;
  const named = name === null ? "" : ` "${name}"`;
  const ranked = priority === 0 ? "" : ` (priority ${priority})`;
  const affected = status === "armed" ? `, affects ${affectedBy(rule)}` : "";
  const counts = matched === 0 ? "" : `; matched ${count(matched)}, fired ${count(fired)}`;
  return `${id}${named} ${describeRule(rule)}${ranked}: ${status}${affected}${counts}`;
}

/** The calls or deliveries that an armed rule will affect, such as `the next 3 matching calls`. */
function affectedBy({ target, trigger, remaining }: FaultRule): string {
  const { times, per, skip, every, probability } = trigger as Trigger;
  const [one, many] = target === "api" ? ["call", "calls"] : ["delivery", "deliveries"];
  const limit = remaining ?? times;
  const affectsEach = skip === 0 && every === null && probability === 1;
  if (limit === null) return `${affectsEach ? "all" : "some"} matching ${many}`;
  const matching = `matching ${limit === 1 ? one : many}${remaining === null ? ` per ${per.replace("_", " ")}` : ""}`;
  if (!affectsEach) return `up to ${limit} ${matching}`;
  return limit === 1 ? `the next ${matching}` : `the next ${limit} ${matching}`;
}
