// `types`: writes the TypeScript types of the service, as the sandbox assumes it or as a service file says; it needs no running sandbox.

import { serviceTypesPage } from "../../sandbox/documents.ts";
import { readService } from "../../sandbox/service.ts";
import { command } from "../command.ts";
import { print, printText } from "../output/print.ts";
import { writeOutput } from "../output/write-output.ts";

export const types = command({
  summary: "print the TypeScript types of the service's records, bodies, replies, errors and events",
  usage: "types",
  sandboxOptions: ["service"],
  flags: {
    out: { value: "file", description: "write them to this file" },
  },
  async run({ flags, options }) {
    const service = typeof options.service === "string" ? await readService(options.service) : undefined;
    const text = serviceTypesPage(service);
    if (flags.out === undefined) printText(text.trimEnd());
    else {
      await writeOutput(flags.out, text);
      print(`Wrote ${flags.out}.`);
    }
    return undefined;
  },
});
