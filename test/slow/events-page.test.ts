// Executes every cell of docs/events.md against a sandbox: its commands, or its call of the API, send the event of the row.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { exampleCalls } from "../../scripts/docs/pages.ts";
import { eventTypes } from "../../src/areas/index.ts";
import { runCommand } from "../support/program.ts";
import { type Bench, open } from "../support/sandbox.ts";

const page = readFileSync(join(import.meta.dirname, "../../docs/events.md"), "utf8");
const rows = page.split("\n").flatMap((line): [type: string, commands: string, calls: string][] => {
  const [, type, commands, calls] = /^\| `([a-z_.]+)` \| (.*?) \| (.*?) \|$/.exec(line) ?? [];
  return type === undefined ? [] : [[type, commands as string, calls as string]];
});
const cells = rows.flatMap(([type, ...row]) => row.filter((cell) => cell !== "").map((cell) => [type, cell] as const));

test("the page has a row for every type of event", () => {
  expect(rows.map(([type]) => type).sort()).toEqual([...eventTypes].sort());
});

describe("every cell of the page", () => {
  test.each(cells)("%s is sent by %s", async (type, cell) => {
    const bench = await open();
    let id = "";
    for (const step of cell.split("<br>")) id = step.startsWith("[") ? await call(bench, step, id) : await command(bench, step, id);
    const [event] = (await bench.control("GET", `/events?limit=1&type=${type}`)).data;
    expect(event).toMatchObject({ type, merchant: "mer_lodge" });
  });
});

/** Runs a command about the record with this id; returns the id that it prints. */
async function command(bench: Bench, step: string, id: string): Promise<string> {
  const [, line = ""] = /^`merchant-sandbox ([^`]+)`$/.exec(step) ?? [];
  const { code, out } = await runCommand(bench.url, ...wordsOf(line.replace("<id>", id)));
  expect([step, code]).toEqual([step, 0]);
  return (out[0] ?? "").split(" ")[0] as string;
}

/** The words of a command line; only whole words are quoted. */
const wordsOf = (line: string) => [...line.matchAll(/'([^']*)'|(\S+)/g)].map(([, quoted, plain]) => quoted ?? (plain as string));

/** Makes the example call of the linked operation, about the record with this id if there is one. */
async function call(bench: Bench, step: string, id: string): Promise<string> {
  const [, method = "", path = "", operation] = /^\[`(\S+) (\S+)`\]\(reference\.md#([\w.]+)\)/.exec(step) ?? [];
  const example = exampleCalls().find((one) => one.id === operation);
  expect(example).toMatchObject({ method });
  const address = id === "" ? `/v1${example?.path}` : path.replace("{id}", id);
  const answer = await bench.call(method, address, { key: null, headers: example?.headers ?? {}, body: example?.body, contentType: null });
  expect([step, answer.status]).toEqual([step, expect.toSatisfy((status: number) => status < 300)]);
  return answer.body.id;
}
