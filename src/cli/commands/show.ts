// `show`: lists records of a kind of a running sandbox, or shows one of them.

import type { RecordsListInput } from "../../../generated/control-api.ts";
import { kebab } from "../../kernel/text.ts";
import { command } from "../command.ts";
import { print } from "../output/print.ts";
import { fieldLines, kindNamed, kindNames, recordFlags, recordLine, statusNamed } from "../records/record-command.ts";
import { connectToSandbox } from "../remote/running-sandbox.ts";

export const show = command({
  summary: "list the newest records of a kind, or show one: show payments --status failed",
  usage: "show <kind> [<id>]",
  positionals: 2,
  words: ([word]) => (word === undefined ? kindNames : []),
  flags: {
    status: { value: "status", description: "list only records in this status" },
    limit: { value: "n", description: "list this many records, from 1 to 100 (default: 25)" },
    after: { value: "id", description: "list the records before this one in time: the next page" },
    ...recordFlags,
    json: { description: "print one JSON object per line" },
  },
  async run({ flags, positionals: [word, id] }) {
    const resource = kindNamed(word, "show payments");
    const { kind } = resource;
    const status = flags.status === undefined ? undefined : statusNamed(resource, flags.status);
    const sandbox = await connectToSandbox(flags);
    const { records } = sandbox.control;
    const { id: merchant } = await sandbox.merchant(flags.merchant);
    if (id !== undefined) {
      const record = await records.get({ kind, id, merchant });
      const lines = flags.json === undefined ? fieldLines(resource, record) : [JSON.stringify(record)];
      for (const line of lines) print(line);
      return undefined;
    }
    // The sandbox checks the limit, and quotes it as it was typed.
    const given = { kind, merchant, status, limit: flags.limit, starting_after: flags.after };
    const { data, has_more } = await records.list(given as RecordsListInput);
    for (const record of data) print(flags.json === undefined ? recordLine(record) : JSON.stringify(record));
    if (flags.json !== undefined) return undefined;
    if (data.length === 0) print(`${merchant} has no such records. Try merchant-sandbox make ${kebab(kind)}.`);
    if (has_more) print(`There are more: add --after ${data.at(-1)?.id}.`);
    return undefined;
  },
});
