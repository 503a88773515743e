// Executes every row of docs/events.md: its commands, against a sandbox, send its event.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { eventTypes } from "../../src/areas/index.ts";
import { runCommand } from "../support/commands.ts";
import { open } from "../support/sandbox.ts";

const page = readFileSync(join(import.meta.dirname, "../../docs/events.md"), "utf8");
const rows = page.split("\n").flatMap((line): [string, string[]][] => {
  const [, type, commands] = /^\| `([a-z_.]+)` \| (.+?) \|/.exec(line) ?? [];
  return type === undefined
    ? []
    : [[type, [...(commands ?? "").matchAll(/`merchant-sandbox ([^`]+)`/g)].map(([, words]) => words as string)]];
});

/** The words of a command line; only whole words are quoted. */
const wordsOf = (line: string) => [...line.matchAll(/'([^']*)'|(\S+)/g)].map(([, quoted, plain]) => quoted ?? (plain as string));

test("the page has a row for every type of event", () => {
  expect(rows.map(([type]) => type).sort()).toEqual([...eventTypes].sort());
});

describe("the commands of the page", () => {
  test.each(rows)("%s is sent by %j", async (type, commands) => {
    const bench = await open();
    let id = "";
    for (const command of commands) {
      const { out } = await runCommand(bench.url, ...wordsOf(command.replace("<id>", id)));
      id = (out[0] ?? "").split(" ")[0] as string;
    }
    const [event] = (await bench.control("GET", `/events?limit=1&type=${type}`)).data;
    expect(event).toMatchObject({ type, merchant: "mer_lodge" });
  });
});
