// `fixture`: keeps a merchant of a running sandbox as a file, from which `start --fixtures` makes it again.

import { plural } from "../../kernel/text.ts";
import { command, commandGroup } from "../command.ts";
import { print, writeOutput } from "../output/print.ts";
import { connectionFlags } from "../remote/find-sandbox.ts";
import { connectToSandbox } from "../remote/running-sandbox.ts";

const save = command({
  summary: "write a merchant and its records to a file, for start --fixtures",
  usage: "fixture save <merchant> <file>",
  example: "fixture save lodge mine.json",
  flags: connectionFlags,
  async run({ flags, positionals: [merchant, file = ""] }) {
    const sandbox = await connectToSandbox(flags);
    const { id } = await sandbox.merchant(merchant);
    const fixture = await sandbox.control.merchants.fixture({ id });
    await writeOutput(file, fixtureText(fixture));
    const count = Object.values(fixture.records).flat().length;
    print(`Saved ${id} with ${plural(count, "record")} in ${file}. Try merchant-sandbox start --fixtures ${file}.`);
  },
});

export const fixture = commandGroup({
  name: "fixture",
  summary: "keep a merchant with its records as a file: fixture save lodge mine.json",
  default: "save",
  subcommands: { save },
});

type Fixture = Readonly<Record<"merchant" | "records", Readonly<Record<string, unknown>>>>;

/** JSON with a line for each record, which shows a change of one record as a change of one line. */
function fixtureText({ merchant, records, ...head }: Fixture): string {
  const fields = Object.entries(head).map(([name, value]) => `  ${JSON.stringify(name)}: ${oneLine(value)}`);
  const lists = Object.entries(records).map(
    ([kind, all]) =>
      `    ${JSON.stringify(kind)}: [\n${(all as object[]).map((one) => `      ${oneLine(one)}`).join(",\n")}\n    ]`,
  );
  const parts = [...fields, `  "merchant": ${oneLine(merchant)}`, `  "records": {\n${lists.join(",\n")}\n  }`];
  return `{\n${parts.join(",\n")}\n}\n`;
}

/** JSON on one line with spaces, as in `{ "id": "pay_1", "amount": 100 }`. */
function oneLine(value: unknown): string {
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  if (Array.isArray(value)) return `[${value.map(oneLine).join(", ")}]`;
  const fields = Object.entries(value).map(([name, field]) => `${JSON.stringify(name)}: ${oneLine(field)}`);
  return fields.length === 0 ? "{}" : `{ ${fields.join(", ")} }`;
}
