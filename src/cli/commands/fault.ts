// `fault`: arms, lists and removes the fault rules of a running sandbox.

import type { RuleState } from "../../contracts/fault.ts";
import { parseActionFields } from "../../faults/inline-syntax.ts";
import { findAction } from "../../faults/read-rule.ts";
import { actions } from "../../faults/rule-schema.ts";
import { ApiError, SandboxError } from "../../kernel/errors.ts";
import { escapeControlCharacters } from "../../kernel/escape-control.ts";
import type { FlagDefinition } from "../arguments.ts";
import { command, print, subcommandNamed } from "../command.ts";
import { type Running, running, runningFlags } from "../remote/running-sandbox.ts";

type Flags = Record<string, string | undefined>;

const kebab = (name: string) => name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);

/** Every field of every action, as a flag: the same name means the same wherever it stands. */
const fieldNames = [...new Set(actions.flatMap(({ schema }) => Object.keys(schema.properties)))].filter((name) => name !== "type");
const actionFlags = Object.fromEntries(
  fieldNames.map((name): [string, FlagDefinition] => {
    const having = actions.filter(({ schema }) => Object.hasOwn(schema.properties, name));
    const isSwitch = having.every(({ schema }) => (schema.properties[name] as { type?: string }).type === "boolean");
    return [kebab(name), { ...(isSwitch ? {} : { value: "value" }), description: `of ${having.map((action) => action.type).join(", ")}` }];
  }),
);

const triggerFlags = {
  times: { value: "n", description: "how often; once unless given" },
  skip: { value: "n", description: "how many matches to let pass first" },
  every: { value: "n", description: "at every so many matches" },
  probability: { value: "p", description: "how likely, from 0 to 1" },
  seed: { value: "n", description: "makes the same choices again" },
  after: { value: "duration", description: "how long to wait before it begins" },
  for: { value: "duration", description: "how long it holds" },
  per: { value: "what", description: "whose budget is counted: rule, key, operation, idempotency_key, event or endpoint" },
} satisfies Record<string, FlagDefinition>;

const ruleFlags = {
  merchant: { value: "merchant", description: "only this merchant's calls or deliveries" },
  endpoint: { value: "endpoint", description: "only deliveries to this endpoint" },
  id: { value: "id", description: "a name for machines, such as flt_lost_payment" },
  name: { value: "text", description: "a name for people" },
  ttl: { value: "duration", description: "how long the rule lives" },
  priority: { value: "n", description: "rules with a higher one are tried first; 0 unless given" },
} satisfies Record<string, FlagDefinition>;

/** One for what to do, one for the action, and any number of names. */
const MOST_WORDS = 100;

export const fault = command({
  summary: "let calls and deliveries go wrong: fault add 429 payments.list --times 3 --retry-after 2",
  usage: "fault [add ACTION[=VALUE] [OPERATION|EVENT...] | ls | rm ID | clear]",
  positionals: MOST_WORDS,
  flags: { ...triggerFlags, ...ruleFlags, ...actionFlags, json: { description: "one JSON object a line" }, ...runningFlags },
  async run({ flags, positionals: [act = "ls", ...words] }) {
    await subcommandNamed("fault", acts, act)(running(flags), words, flags);
    return undefined;
  },
});

const acts: Record<string, (sandbox: Running, words: string[], flags: Flags) => Promise<void>> = {
  async add(sandbox, [action, ...names], flags) {
    if (action === undefined) throw new SandboxError("Say which action: merchant-sandbox fault add 503 payments.list.", "usage");
    show(await sandbox.control<RuleState>("POST", "/faults", ruleOf(action, names, flags)), flags);
  },
  async ls(sandbox, _, flags) {
    const { data } = await sandbox.control<{ data: RuleState[] }>("GET", "/faults");
    for (const rule of data) show(rule, flags);
    if (data.length === 0 && flags.json === undefined) print("No fault rules. Try merchant-sandbox fault add 503 payments.list.");
  },
  async rm(sandbox, [id], flags) {
    if (id === undefined)
      throw new SandboxError("Say which rule: merchant-sandbox fault rm ID; merchant-sandbox fault ls lists them.", "usage");
    show(await sandbox.control<RuleState>("DELETE", `/faults/${encodeURIComponent(id)}`), flags);
  },
  async clear(sandbox) {
    const { removed } = await sandbox.control<{ removed: number }>("DELETE", "/faults");
    print(`Removed ${removed} fault rule${removed === 1 ? "" : "s"}.`);
  },
};

/** A rule from the words of a command. A bare status is an answer of that status; 429 is the rate limit's. */
export function ruleOf(written: string, names: readonly string[], flags: Flags): Record<string, unknown> {
  const full = written === "429" ? "rate_limit" : /^\d{3}$/.test(written) ? `status=${written}` : written;
  const [type = "", ...rest] = full.split("=");
  const { target, fields } = understood(() => {
    const action = findAction(type.replaceAll("-", "_"));
    const given = fieldNames.flatMap((name) =>
      flags[kebab(name)] === undefined ? [] : [[name, flags[kebab(name)] || undefined] as const],
    );
    return { target: action.target, fields: parseActionFields(action, rest.length === 0 ? undefined : rest.join("="), given) };
  });
  const named = names.length === 0 ? {} : { [target === "api" ? "operation" : "event"]: names.length === 1 ? names[0] : names };
  const match = { ...named, ...present({ merchant: flags.merchant, endpoint: flags.endpoint }) };
  const { times, skip, every, probability, seed, after, for: span, per } = flags;
  const trigger = { ...present({ times, skip, every, probability, seed }, Number), ...present({ after, for: span, per }) };
  return {
    ...present({ id: flags.id, name: flags.name, ttl: flags.ttl }),
    ...present({ priority: flags.priority }, Number),
    match,
    trigger,
    action: fields,
  };
}

/** What the grammar refuses is here a wrong use of the command. */
function understood<T>(read: () => T): T {
  try {
    return read();
  } catch (error) {
    throw error instanceof ApiError ? new SandboxError(error.message, "usage") : error;
  }
}

function present(texts: Flags, read: (text: string) => unknown = (text) => text): Record<string, unknown> {
  return Object.fromEntries(Object.entries(texts).flatMap(([name, text]) => (text === undefined ? [] : [[name, read(text)]])));
}

function show(rule: RuleState, flags: Flags): void {
  if (flags.json !== undefined) {
    print(JSON.stringify(rule));
    return;
  }
  const { type, ...fields } = rule.action;
  const left = rule.remaining === null ? "" : `, ${rule.remaining} left`;
  const told = Object.entries(fields).map(([name, value]) => ` ${name}=${typeof value === "string" ? value : JSON.stringify(value)}`);
  const what = Object.entries(rule.match).map(([name, value]) => ` ${name}=${typeof value === "string" ? value : JSON.stringify(value)}`);
  const name = rule.name === null ? "" : ` "${rule.name}"`;
  const first = rule.priority === 0 ? "" : ` (priority ${rule.priority})`;
  print(
    escapeControlCharacters(
      `${rule.id}${name} ${type}${told.join("")}${what.join("")}${first}: ${rule.status}, seen ${rule.seen}, fired ${rule.fired}${left}`,
    ),
  );
}
