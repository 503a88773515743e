// `doctor`: checks this machine for problems that would keep a sandbox from working, and says how to fix them.

import { readFileSync } from "node:fs";
import { exitCodes } from "../../kernel/errors.ts";
import { completeOptions } from "../../sandbox/options.ts";
import { packageFile } from "../../sandbox/package-files.ts";
import { command, print } from "../command.ts";
import type { Found } from "../doctor-checks.ts";

export const doctor = command({
  summary: "check this machine for problems (exit code 1 if there are any)",
  usage: "doctor",
  sandboxOptions: true,
  flags: { json: { description: "print one JSON object per line" } },
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
