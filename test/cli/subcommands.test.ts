// The help of subcommands, and the commands that save snapshots and print documents.

import { expect, test } from "vitest";
import { everyCommand } from "../../src/cli/commands/index.ts";
import { runCommand } from "../support/program.ts";
import { open } from "../support/sandbox.ts";

test("the help of a group lists its subcommands, and each flag once", async () => {
  const bench = await open();
  for (const [name, { subcommands }] of Object.entries(await everyCommand())) {
    const { out } = await runCommand(bench.url, name, "--help");
    for (const { usage } of Object.values(subcommands ?? {})) expect(out.join("\n")).toContain(usage);
    const flags = out.flatMap((line) => /^ {2}(--[a-z-]+)/.exec(line)?.[1] ?? []);
    if (name !== "scenario" && name !== "traffic") expect(flags).toEqual([...new Set(flags)]);
  }
});

test("snapshot saves, lists, loads and deletes", async () => {
  const bench = await open();
  const said = async (...words: string[]) => (await runCommand(bench.url, "snapshot", ...words)).out.join("\n");
  expect(await said()).toBe("No snapshots. Try merchant-sandbox snapshot save before.");
  expect(await said("save", "before")).toMatch(/^Saved before in .*before/);
  const rules = async () => (await bench.control("GET", "/records/pricing_rule")).data.length as number;
  const before = await rules();
  await runCommand(bench.url, "make", "pricing-rule");
  expect(await rules()).toBe(before + 1);
  expect(await said("load", "before")).toBe("Restored before.");
  expect([await rules(), await said("ls")]).toEqual([before, expect.stringMatching(/^before \d+ KiB /)]);
  expect(await said("rm", "before")).toBe("Deleted before.");
});

test("openapi prints both documents", async () => {
  const { url } = await open();
  const printed = async (...words: string[]) => JSON.parse((await runCommand(url, "openapi", ...words)).out.join("\n"));
  expect((await printed()).servers[0].url).toBe(`${url}/v1`);
  expect((await printed("--control")).info.title).toContain("ontrol");
});
