// `make`: creates a record in a running sandbox, in any state, with believable values for every field that is left out.

import type { Resource } from "../../contracts/resource.ts";
import { SandboxError } from "../../kernel/errors.ts";
import { command } from "../command.ts";
import { fieldFlags, fieldsOf, readFields } from "../records/field-flags.ts";
import { homeCurrency, kindIn, kindNamed, kindNames, newestEvent, printChange, recordFlags } from "../records/record-command.ts";
import { connectToSandbox } from "../remote/running-sandbox.ts";

const EXAMPLE = "make payment --status succeeded --amount 12.50";

export const make = command({
  summary: `create a record, and send its events: ${EXAMPLE}`,
  usage: "make <kind> [--status <status>] [--<field> <value> ...]",
  positionals: 1,
  flags: recordFlags,
  words: ([word]) => (word === undefined ? kindNames : []),
  flagsFor(argv) {
    const word = kindIn(argv, recordFlags);
    return word === undefined ? {} : fieldFlags(fieldsOf(makeable(word), true));
  },
  async run({ flags, positionals: [word] }) {
    const resource = makeable(word);
    const sandbox = await connectToSandbox(flags);
    const { id: merchant } = await sandbox.merchant(flags.merchant);
    const fields = await readFields(resource, true, flags, () => homeCurrency(sandbox, merchant));
    const since = await newestEvent(sandbox, merchant);
    const record = await sandbox.control.records.create({ ...fields, kind: resource.kind, merchant });
    await printChange(sandbox, record, { merchant, since, flags });
    return undefined;
  },
});

function makeable(word: string | undefined): Resource {
  const resource = kindNamed(word, EXAMPLE);
  if (resource.kind !== "merchant") return resource;
  throw new SandboxError(
    "make creates records of a merchant. Create a merchant with POST /v1/merchants or POST /_sandbox/merchants.",
    "usage",
  );
}
