// `fault`: arms, lists and removes the fault rules of a running sandbox.

import type { FaultRule, FaultsAddInput } from "../../../generated/control-api.ts";
import { catalogue, eventTypes, matchingTypes } from "../../areas/index.ts";
import type { FaultTarget } from "../../contracts/fault.ts";
import type { Action } from "../../faults/action.ts";
import { parseActionFields } from "../../faults/inline-syntax.ts";
import { findAction } from "../../faults/read-rule.ts";
import { actions } from "../../faults/rule-schema.ts";
import { BUDGET_SCOPES } from "../../faults/trigger.ts";
import { ApiError, SandboxError, usageError } from "../../kernel/errors.ts";
import { kebab } from "../../kernel/text.ts";
import type { FlagDefinition, Flags } from "../arguments.ts";
import { command, commandGroup } from "../command.ts";
import type { HelpSection } from "../help.ts";
import { print } from "../output/print.ts";
import { connectionFlags } from "../remote/find-sandbox.ts";
import { connectToSandbox } from "../remote/running-sandbox.ts";

/** A flag for each field of the actions, which the help lists with its actions. A field has the same meaning in every action that has it. */
const fieldNames = [...new Set(actions.flatMap(({ schema }) => Object.keys(schema.properties)))].filter((name) => name !== "type");
const actionFlags = Object.fromEntries(
  fieldNames.map((name): [string, FlagDefinition] => {
    const fields = actions.flatMap(({ schema }) => schema.properties[name] ?? []) as { type?: string; enum?: string[] }[];
    const isSwitch = fields.every(({ type }) => type === "boolean");
    const values = fields.flatMap((field) => field.enum ?? []);
    return [kebab(name), { ...(isSwitch ? {} : { value: "value" }), description: `set ${name}`, hidden: true, values: () => values }];
  }),
);

const triggerFlags = {
  times: { value: "n", description: "fire this many times (default: 1)" },
  skip: { value: "n", description: "skip this many matches first" },
  every: { value: "n", description: "fire at every n-th match" },
  probability: { value: "p", description: "fire with this probability, from 0 to 1" },
  seed: { value: "n", description: "repeat the same random choices" },
  after: { value: "duration", description: "start after this time" },
  for: { value: "duration", description: "stop after this time" },
  per: {
    value: "what",
    description: "count separately per rule, key, operation, idempotency_key, event or endpoint",
    values: () => BUDGET_SCOPES,
  },
} satisfies Record<string, FlagDefinition>;

const ruleFlags = {
  merchant: { value: "merchant", description: "match only calls or deliveries of this merchant" },
  endpoint: { value: "endpoint", description: "match only deliveries to this endpoint" },
  id: { value: "id", description: "use this id, such as flt_lost_payment (default: generated)" },
  name: { value: "text", description: "give the rule a readable name" },
  ttl: { value: "duration", description: "remove the rule after this time" },
  priority: { value: "n", description: "try rules with a higher priority first (default: 0)" },
} satisfies Record<string, FlagDefinition>;

const SECTIONS: Readonly<Record<FaultTarget, string>> = { api: "Actions on calls", delivery: "Actions on deliveries of webhooks" };

/** The actions by what they act on, each with its fields and an example. */
const sections = (): HelpSection[] =>
  Object.entries(SECTIONS).map(([target, title]) => ({
    title,
    rows: actions.filter((action) => action.target === target).map((action) => [written(action), helpOf(action)] as const),
  }));

function written({ type, main, schema }: Action): string {
  const name = kebab(type);
  return main === undefined ? name : `${name}[=<${valuesOf(schema.properties[main]) ?? main}>]`;
}

function helpOf({ description, example, schema, main }: Action): string {
  const flags = Object.entries(schema.properties)
    .filter(([name]) => name !== "type" && name !== main)
    .map(([name, field]) => `--${kebab(name)}${(field as { type?: string }).type === "boolean" ? "" : ` <${valuesOf(field) ?? "value"}>`}`);
  return [description, ...(flags.length > 0 ? [flags.join(" ")] : []), `fault add ${example}`].join("\n");
}

const valuesOf = (field: object | undefined) => (field as { enum?: string[] } | undefined)?.enum?.join("|");

/** The action, and any number of operations or events. */
const MAX_POSITIONALS = 100;

const json: FlagDefinition = { description: "print one JSON object per line" };

const add = command({
  summary: "arm a rule: fault add 429 payments.list --times 3 --retry-after 2",
  usage: "fault add <action>[=<value>] [operation|event ...]",
  positionals: MAX_POSITIONALS,
  flags: { ...triggerFlags, ...ruleFlags, ...actionFlags, json, ...connectionFlags },
  sections,
  words([action]) {
    if (action === undefined) return actions.map(({ type }) => type.replaceAll("_", "-"));
    return targetOf(action) === "delivery" ? [...eventTypes] : catalogue.map(({ id }) => id);
  },
  async run({ flags, positionals: [action, ...names] }) {
    if (action === undefined) throw new SandboxError("The action is missing: merchant-sandbox fault add 503 payments.list.", "usage");
    const rule = ruleOf(action, names, flags);
    const main = actions.find(({ type }) => type === rule.action?.type)?.main;
    const words = main === undefined ? {} : { [main]: `${action.split("=")[0]}=<${main}>` };
    show(await (await connectToSandbox(flags, words)).control.faults.add(rule), flags);
    return undefined;
  },
});

const targetOf = (word: string) => actions.find(({ type }) => type === (word.split("=")[0] ?? "").replaceAll("-", "_"))?.target;

export const fault = commandGroup({
  name: "fault",
  summary: "inject faults into calls and deliveries",
  default: "ls",
  sections,
  subcommands: {
    add,
    ls: command({
      summary: "list the rules with their counts (the default)",
      usage: "fault ls",
      flags: { json, ...connectionFlags },
      async run({ flags }) {
        const { data } = await (await connectToSandbox(flags)).control.faults.list();
        for (const rule of data) show(rule, flags);
        if (data.length === 0 && flags.json === undefined) print("No fault rules. Try merchant-sandbox fault add 503 payments.list.");
        return undefined;
      },
    }),
    rm: command({
      summary: "remove a rule",
      usage: "fault rm <id>",
      positionals: 1,
      flags: { json, ...connectionFlags },
      async run({ flags, positionals: [id] }) {
        if (id === undefined)
          throw new SandboxError(
            "The id of the rule is missing: merchant-sandbox fault rm <id>. List them with merchant-sandbox fault ls.",
            "usage",
          );
        show(await (await connectToSandbox(flags)).control.faults.remove({ id }), flags);
        return undefined;
      },
    }),
    clear: command({
      summary: "remove all rules",
      usage: "fault clear",
      flags: { json, ...connectionFlags },
      async run({ flags }) {
        const reply = await (await connectToSandbox(flags)).control.faults.clear();
        print(flags.json === undefined ? `Removed ${reply.removed} fault rule${reply.removed === 1 ? "" : "s"}.` : JSON.stringify(reply));
        return undefined;
      },
    }),
  },
});

/** The rule that the arguments describe. A bare status stands for `status=…`, except 429, which is `rate_limit`. */
export function ruleOf(written: string, names: readonly string[], flags: Flags): FaultsAddInput {
  const full = written === "429" ? "rate_limit" : /^\d{3}$/.test(written) ? `status=${written}` : written;
  const [type = "", ...rest] = full.split("=");
  const { target, fields } = asUsageError(() => {
    const action = findAction(type.replaceAll("-", "_"));
    const given = fieldNames.flatMap((name) =>
      flags[kebab(name)] === undefined ? [] : [[name, flags[kebab(name)] || undefined] as const],
    );
    return { target: action.target, fields: parseActionFields(action, rest.length === 0 ? undefined : rest.join("="), given) };
  });
  const known = target === "api" ? names : matchingTypes(names, usageError);
  const named = known.length === 0 ? {} : { [target === "api" ? "operation" : "event"]: known.length === 1 ? known[0] : known };
  const match = { ...named, ...present({ merchant: flags.merchant, endpoint: flags.endpoint }) };
  const { times, skip, every, probability, seed, after, for: span, per } = flags;
  const trigger = { ...present({ times, skip, every, probability, seed }, numberIn), ...present({ after, for: span, per }) };
  return {
    ...present({ id: flags.id, name: flags.name, ttl: flags.ttl }),
    ...present({ priority: flags.priority }, numberIn),
    match,
    trigger,
    action: fields as unknown as FaultsAddInput["action"],
  };
}

/** Turns the 400 of the rule syntax into a usage error of the command. */
function asUsageError<T>(read: () => T): T {
  try {
    return read();
  } catch (error) {
    throw error instanceof ApiError ? new SandboxError(error.message, "usage") : error;
  }
}

/** Keeps text that is not a number, so that the check of the rule can quote it. */
const numberIn = (text: string) => (/^-?\d+(\.\d+)?$/.test(text) ? Number(text) : text);

function present(texts: Flags, read: (text: string) => unknown = (text) => text): Record<string, unknown> {
  return Object.fromEntries(Object.entries(texts).flatMap(([name, text]) => (text === undefined ? [] : [[name, read(text)]])));
}

function show(rule: FaultRule, flags: Flags): void {
  if (flags.json !== undefined) {
    print(JSON.stringify(rule));
    return;
  }
  const { type, ...fields } = rule.action;
  const left = rule.remaining === null ? "" : `, ${rule.remaining} left`;
  const values = Object.entries(fields).map(([name, value]) => ` ${name}=${typeof value === "string" ? value : JSON.stringify(value)}`);
  const match = Object.entries(rule.match).map(([name, value]) => ` ${name}=${typeof value === "string" ? value : JSON.stringify(value)}`);
  const name = rule.name === null ? "" : ` "${rule.name}"`;
  const priority = rule.priority === 0 ? "" : ` (priority ${rule.priority})`;
  print(
    `${rule.id}${name} ${type}${values.join("")}${match.join("")}${priority}: ${rule.status}, seen ${rule.seen}, fired ${rule.fired}${left}`,
  );
}
