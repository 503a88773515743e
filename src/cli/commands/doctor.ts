// `doctor`: looks at this machine for whatever could stand in a sandbox's way, and says what to do about it.

import { readFileSync } from "node:fs";
import { exitCodes } from "../../kernel/errors.ts";
import { completeOptions } from "../../sandbox/options.ts";
import { packageFile } from "../../sandbox/package-files.ts";
import { command, print } from "../command.ts";
import type { Found } from "../doctor-checks.ts";

export const doctor = command({
  summary: "look for what could stand in a sandbox's way on this machine; exit code 1 where something does",
  usage: "doctor",
  sandboxOptions: true,
  flags: { json: { description: "one JSON object a line, for programs" } },
  async run({ options, flags }) {
    const { port, host, db, memory } = completeOptions(options);
    const { engines } = JSON.parse(readFileSync(packageFile("package.json"), "utf8")) as { engines: { node: string } };
    // Loaded only here: what it looks at is no start's concern.
    const { checkDisk, checkFolder, checkLocalhost, checkNode, checkPort, checkProxy, checkSqlite, checkTerminal, freeSpace } =
      await import("../doctor-checks.ts");
    const found = [
      checkNode(process.versions.node, engines.node),
      checkSqlite(),
      await checkPort(port, host),
      ...(memory ? [] : [checkFolder(db), checkDisk(freeSpace(db))]),
      checkTerminal(process.stdout, process.env),
      checkProxy(process.env),
      await checkLocalhost(),
    ];
    for (const one of found) show(one, flags.json !== undefined);
    return found.some(({ state }) => state === "fail") ? exitCodes.runtime : exitCodes.ok;
  },
});

function show(found: Found, asJson: boolean): void {
  print(asJson ? JSON.stringify(found) : `${found.state.padEnd(6)}${found.says}`);
  if (!asJson && found.remedy !== undefined) print(`      ${found.remedy}`);
}
