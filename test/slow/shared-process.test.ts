// Commands in one process behave as in separate processes: the state of one command does not affect the next.

import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { type Ended, folder, launch, runShared } from "../support/program.ts";
import { freePort } from "../support/sandbox.ts";

test("a command has the same output and exit code in a shared process as in its own, also when run again", async () => {
  const cwd = folder();
  writeFileSync(join(cwd, "merchant-sandbox.json"), '{ "prot": 1 }');
  const commands: [words: string[], cwd: string][] = [
    [["status", "--json"], folder()],
    [["status"], cwd],
    [["help", "wait"], folder()],
    [["payments"], folder()],
  ];
  const variables = { MERCHANT_SANDBOX_PORT: String(await freePort()) };
  const found: Ended[][] = [[], [], []];
  for (const [words, here] of commands) {
    found[0]?.push(await launch(words, variables, here).ended);
    for (const shared of found.slice(1)) shared.push(await runShared(words, variables, here));
  }
  expect(found[1]).toEqual(found[0]);
  expect(found[2]).toEqual(found[0]);
  expect(found[0]?.map(({ code }) => code)).toEqual([1, 2, 0, 2]);
});
