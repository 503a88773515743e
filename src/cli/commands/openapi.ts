// `openapi`, `types`, `schema` and `assumptions`: print the OpenAPI documents, the TypeScript types, the JSON Schemas
// of `--json` output, and what the service documents or the sandbox assumes. None needs a running sandbox.

import type { ServiceFact } from "../../contracts/fact.ts";
import { usageError } from "../../kernel/errors.ts";
import { readAssumptions } from "../../sandbox/assumptions.ts";
import { operationTypesPage, serviceTypesPage } from "../../sandbox/documents.ts";
import { completeOptions, type GivenOptions, type OptionName } from "../../sandbox/options.ts";
import type { Assumptions } from "../../store/assumptions.ts";
import { command } from "../command.ts";
import { lineSchemas } from "../output/line-schemas.ts";
import { print, printText, writeOutput } from "../output/print.ts";
import { connectionFlags, findSandbox } from "../remote/find-sandbox.ts";

const DIALECT = "https://json-schema.org/draft/2020-12/schema";

/** The options that set assumptions. These commands also read them from merchant-sandbox.json. */
export const SETTING_ASSUMPTIONS: readonly OptionName[] = [
  "assumptions",
  "rateLimit",
  "retrySchedule",
  "webhookTimeout",
];

export const assumptionsOf = (options: GivenOptions): Promise<Assumptions> =>
  readAssumptions(completeOptions(options), async () => (await import("../../sandbox/documents.ts")).ownFacts());

export const openapi = command({
  summary: "print the OpenAPI document, for client generators: openapi > merchant.json",
  usage: "openapi",
  sandboxOptions: SETTING_ASSUMPTIONS,
  flags: {
    control: { description: "print the document of the control API instead of the service's" },
    "3.0": { description: "write OpenAPI 3.0 instead of 3.1, for tools that know only that" },
    "no-extensions": { description: "leave out the fields that begin with x-sandbox-" },
    url: {
      ...connectionFlags.url,
      description: "name this sandbox as the server",
      defaultText: "the sandbox of this folder, or port 4747",
    },
    db: connectionFlags.db,
  },
  async run({ flags, options }) {
    const { url } = await findSandbox(flags);
    const { controlOpenapi, serviceOpenapi } = await import("../../sandbox/documents.ts");
    const form = {
      version: flags["3.0"] === undefined ? "3.1" : "3.0",
      extensions: flags["no-extensions"] === undefined ? "on" : "off",
    } as const;
    const document =
      flags.control === undefined ? serviceOpenapi(url, form, await assumptionsOf(options)) : controlOpenapi(url, form);
    printText(JSON.stringify(document, null, 2));
  },
});

export const types = command({
  summary: "print the TypeScript types of the service, or of one operation: types payroll.create",
  usage: "types [operation]",
  example: "types payroll.create",
  flags: {
    write: { value: "file", description: "write them to this file" },
  },
  async run({ flags, positionals: [operation] }) {
    const text = operation === undefined ? serviceTypesPage() : operationTypesPage(operation);
    if (flags.write === undefined) printText(text.trimEnd());
    else {
      await writeOutput(flags.write, text);
      print(`Wrote ${flags.write}.`);
    }
  },
});

const SCHEMA_NAMES = Object.keys(lineSchemas);

export const schema = command({
  summary: "print the JSON Schema of what --json prints: schema events",
  usage: `schema <${SCHEMA_NAMES.join("|")}>`,
  example: "schema events",
  async run({ positionals: [name = ""] }) {
    const found = Object.hasOwn(lineSchemas, name) ? lineSchemas[name] : undefined;
    if (!found) usageError(`There is no schema ${name}. There are ${SCHEMA_NAMES.join(" and ")}.`);
    const { summary: description, schema } = found;
    printText(JSON.stringify({ $schema: DIALECT, title: name, description, ...schema() }, null, 2));
  },
});

export const assumptions = command({
  summary: "list documented and assumed facts about the service: assumptions payments.list",
  usage: "assumptions [text]",
  sandboxOptions: SETTING_ASSUMPTIONS,
  flags: {
    json: { description: "print one JSON object per line" },
  },
  async run({ flags, options, positionals: [text = ""] }) {
    const documents = await import("../../sandbox/documents.ts");
    const facts = documents.assumptions(await assumptionsOf(options)).facts.filter(({ id }) => id.includes(text));
    if (facts.length === 0)
      usageError(`No fact has "${text}" in its id. The id payments.list.status, for example, has "payments.list".`);
    printText(facts.map(flags.json === undefined ? lineOf : (fact) => JSON.stringify(fact)).join("\n"));
  },
});

const lineOf = ({ id, value, default: usual, settable, origin, why, setting }: ServiceFact) => {
  const source = usual === undefined ? `${origin}${settable ? ", can be set" : ""}` : `set, default: ${usual}`;
  const reason = why === undefined ? "" : `. ${why}`;
  return `${id}: ${value} (${source})${reason}${setting === undefined ? "" : ` Change it with ${setting}.`}`;
};
