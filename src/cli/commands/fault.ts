// `fault`: arms, lists and removes the fault rules of a running sandbox.

import type { FaultRule, FaultsAddInput } from "../../client/control-plane.generated.ts";
import { parseActionFields } from "../../faults/inline-syntax.ts";
import { findAction } from "../../faults/read-rule.ts";
import { actions } from "../../faults/rule-schema.ts";
import { ApiError, SandboxError } from "../../kernel/errors.ts";
import type { FlagDefinition, Flags } from "../arguments.ts";
import { command, subcommandNamed } from "../command.ts";
import { print } from "../output/print.ts";
import { connectionFlags, connectToSandbox, type RunningSandbox } from "../remote/running-sandbox.ts";

const kebab = (name: string) => name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);

/** A flag for each field of the actions. A field has the same meaning in every action that has it. */
const fieldNames = [...new Set(actions.flatMap(({ schema }) => Object.keys(schema.properties)))].filter((name) => name !== "type");
const actionFlags = Object.fromEntries(
  fieldNames.map((name): [string, FlagDefinition] => {
    const owners = actions.filter(({ schema }) => Object.hasOwn(schema.properties, name));
    const isSwitch = owners.every(({ schema }) => (schema.properties[name] as { type?: string }).type === "boolean");
    return [
      kebab(name),
      { ...(isSwitch ? {} : { value: "value" }), description: `set the ${name} of ${owners.map((action) => action.type).join(", ")}` },
    ];
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
  per: { value: "what", description: "count separately per rule, key, operation, idempotency_key, event or endpoint" },
} satisfies Record<string, FlagDefinition>;

const ruleFlags = {
  merchant: { value: "merchant", description: "match only calls or deliveries of this merchant" },
  endpoint: { value: "endpoint", description: "match only deliveries to this endpoint" },
  id: { value: "id", description: "use this id, such as flt_lost_payment (default: generated)" },
  name: { value: "text", description: "give the rule a readable name" },
  ttl: { value: "duration", description: "remove the rule after this time" },
  priority: { value: "n", description: "try rules with a higher priority first (default: 0)" },
} satisfies Record<string, FlagDefinition>;

/** The subcommand, the action, and any number of operations or events. */
const MAX_POSITIONALS = 100;

export const fault = command({
  summary: "inject faults into calls and deliveries: fault add 429 payments.list --times 3 --retry-after 2",
  usage: "fault [add <action>[=<value>] [operation|event ...] | ls | rm <id> | clear]",
  positionals: MAX_POSITIONALS,
  flags: { ...triggerFlags, ...ruleFlags, ...actionFlags, json: { description: "print one JSON object per line" }, ...connectionFlags },
  async run({ flags, positionals: [act = "ls", ...words] }) {
    await subcommandNamed("fault", acts, act)(connectToSandbox(flags), words, flags);
    return undefined;
  },
});

const acts: Record<string, (sandbox: RunningSandbox, words: string[], flags: Flags) => Promise<void>> = {
  async add(sandbox, [action, ...names], flags) {
    if (action === undefined) throw new SandboxError("The action is missing: merchant-sandbox fault add 503 payments.list.", "usage");
    show(await sandbox.control.faults.add(ruleOf(action, names, flags)), flags);
  },
  async ls(sandbox, _, flags) {
    const { data } = await sandbox.control.faults.list();
    for (const rule of data) show(rule, flags);
    if (data.length === 0 && flags.json === undefined) print("No fault rules. Try merchant-sandbox fault add 503 payments.list.");
  },
  async rm(sandbox, [id], flags) {
    if (id === undefined)
      throw new SandboxError(
        "The id of the rule is missing: merchant-sandbox fault rm <id>. List them with merchant-sandbox fault ls.",
        "usage",
      );
    show(await sandbox.control.faults.remove({ id }), flags);
  },
  async clear(sandbox) {
    const { removed } = await sandbox.control.faults.clear();
    print(`Removed ${removed} fault rule${removed === 1 ? "" : "s"}.`);
  },
};

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
  const named = names.length === 0 ? {} : { [target === "api" ? "operation" : "event"]: names.length === 1 ? names[0] : names };
  const match = { ...named, ...present({ merchant: flags.merchant, endpoint: flags.endpoint }) };
  const { times, skip, every, probability, seed, after, for: span, per } = flags;
  const trigger = { ...present({ times, skip, every, probability, seed }, Number), ...present({ after, for: span, per }) };
  return {
    ...present({ id: flags.id, name: flags.name, ttl: flags.ttl }),
    ...present({ priority: flags.priority }, Number),
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
