// `types`: writes the TypeScript types of the service, as the sandbox assumes it; it needs no running sandbox.

import { serviceTypesPage } from "../../sandbox/documents.ts";
import { command } from "../command.ts";
import { print, printText, writeOutput } from "../output/print.ts";

export const types = command({
  summary: "print the TypeScript types of the service's records, bodies, replies, errors and events",
  usage: "types",
  flags: {
    out: { value: "file", description: "write them to this file" },
  },
  async run({ flags }) {
    const text = serviceTypesPage();
    if (flags.out === undefined) printText(text.trimEnd());
    else {
      await writeOutput(flags.out, text);
      print(`Wrote ${flags.out}.`);
    }
    return undefined;
  },
});
