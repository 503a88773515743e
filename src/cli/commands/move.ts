// `move`: takes a record of a running sandbox to another state, and changes its fields.

import { SandboxError } from "../../kernel/errors.ts";
import { command } from "../command.ts";
import { fieldFlags, fieldsOf, readFields } from "../records/field-flags.ts";
import { findKind, kindIn, kindNamed, kindNames, newestEvent, printChange, recordFlags, statusNamed } from "../records/record-command.ts";
import { connectToSandbox } from "../remote/running-sandbox.ts";

const EXAMPLE = "move payment pay_pending succeeded";

export const move = command({
  summary: `change the status or fields of a record, and send its events: ${EXAMPLE}`,
  usage: "move <kind> <id> [<status>] [--<field> <value> ...]",
  positionals: 3,
  flags: recordFlags,
  words: ([word, id, status]) =>
    word === undefined ? kindNames : id === undefined || status !== undefined ? [] : Object.keys(findKind(word)?.transitions ?? {}),
  flagsFor(argv) {
    const word = kindIn(argv, recordFlags);
    return word === undefined ? {} : fieldFlags(fieldsOf(kindNamed(word, EXAMPLE), false));
  },
  async run({ flags, positionals: [word, id, target] }) {
    const resource = kindNamed(word, EXAMPLE);
    if (id === undefined) throw new SandboxError(`The id of the record is missing: merchant-sandbox ${EXAMPLE}.`, "usage");
    const status = target === undefined ? {} : { status: statusNamed(resource, target) };
    const sandbox = await connectToSandbox(flags);
    const { records } = sandbox.control;
    const { id: merchant } = await sandbox.merchant(flags.merchant);
    const { kind } = resource;
    const currencyOf = async () => (await records.get({ kind, id, merchant })).currency as string | null;
    const fields = { ...(await readFields(resource, false, flags, currencyOf)), ...status };
    if (Object.keys(fields).length === 0)
      throw new SandboxError(`move needs a status or a field to change: merchant-sandbox ${EXAMPLE}.`, "usage");
    const since = await newestEvent(sandbox, merchant);
    const record = await records.change({ ...fields, kind, id, merchant });
    await printChange(sandbox, record, { merchant, since, flags });
    return undefined;
  },
});
