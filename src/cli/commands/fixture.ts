// `fixture`: saves a merchant of a running sandbox to a file, from which `start --fixtures` creates it again.

import { existsSync } from "node:fs";
import { fixtureText, recordCount } from "../../client/fixture-text.ts";
import { usageError } from "../../kernel/errors.ts";
import { PROGRAM } from "../../kernel/program-name.ts";
import { plural } from "../../kernel/text.ts";
import { command, commandGroup } from "../command.ts";
import { print, writeOutput } from "../output/print.ts";
import { connectionFlags } from "../remote/find-sandbox.ts";
import { connectToSandbox } from "../remote/running-sandbox.ts";

const save = command({
  summary: "write a merchant and its records to a file, for start --fixtures",
  usage: "fixture save <merchant> <file>",
  example: "fixture save lodge mine.json",
  flags: {
    force: { description: "replace a file that exists" },
    json: { description: "print one JSON object" },
    ...connectionFlags,
  },
  async run({ flags, positionals: [merchant, file = ""] }) {
    if (flags.force === undefined && existsSync(file))
      usageError(`${file} exists already: choose another name, or replace it with --force.`);
    const sandbox = await connectToSandbox(flags);
    const { id } = await sandbox.merchant(merchant);
    const fixture = await sandbox.control.merchants.fixture({ id });
    await writeOutput(file, fixtureText(fixture));
    const records = recordCount(fixture);
    if (flags.json !== undefined) return print(JSON.stringify({ id, apiKey: fixture.merchant.apiKey, records, file }));
    print(`Saved ${id} with ${plural(records, "record")} in ${file}. Try ${PROGRAM} start --fixtures ${file}.`);
  },
});

export const fixture = commandGroup({
  name: "fixture",
  summary: "keep a merchant with its records as a file: fixture save lodge mine.json",
  default: "save",
  subcommands: { save },
});
