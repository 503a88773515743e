// How a sandbox starts with a service file: from the options, the command line and the folder's file, and what its database remembers.

import { join } from "node:path";
import { expect, test } from "vitest";
import { readyFacts, readyLine } from "../../src/cli/output/output.ts";
import { createSandbox } from "../../src/sandbox/create.ts";
import { runCommand } from "../support/commands.ts";
import { open } from "../support/sandbox.ts";
import { openAs, serviceFile } from "../support/service-file.ts";

/** The line that a start prints. */
async function started(db: string, service?: string): Promise<string> {
  const sandbox = await createSandbox({ db, memory: false, service, clock: "2026-01-05T12:00:00Z" });
  try {
    return readyLine(await readyFacts(sandbox)).replace(/^.* kept in /, "");
  } finally {
    await sandbox.close();
  }
}

test("a database remembers its service file, and a start with another says so once", async () => {
  const file = serviceFile({ "bookings.decline.status": 202 });
  const other = serviceFile({ "bookings.decline.status": 201 });
  const db = join(file, "..", "sandbox.db");
  expect(await started(db, file)).toBe(`${db}; responds as ${file} says`);
  expect(await started(db, file)).toBe(`${db}; responds as ${file} says`);
  const may = "so stored responses and deliveries may have that form";
  expect(await started(db, other)).toBe(`${db}; responds as ${other} says; used before with ${file}, ${may}`);
  expect(await started(db)).toBe(`${db}; used before with ${other}, ${may}`);
  expect(await started(db)).toBe(db);
  expect(await started(db, file)).toBe(`${db}; responds as ${file} says; used before without a service file, ${may}`);
});

test("the same facts in another file, order or with other evidence are the same", async () => {
  const file = serviceFile({ "bookings.decline.status": 202, "payments.list.order": "oldest first" });
  const same = serviceFile({ "payments.list.order": "oldest first", "bookings.decline.status": { value: 202, seen: 3 } });
  const db = join(file, "..", "sandbox.db");
  await started(db, file);
  expect(await started(db, same)).toBe(`${db}; responds as ${same} says`);
});

test("status names the service file", async () => {
  const file = serviceFile({ "bookings.decline.status": 202 });
  const bench = await open({ service: file });
  const { out } = await runCommand(bench.url, "status");
  expect(out).toEqual([expect.stringContaining(`in memory, responds as ${file} says, clock`)]);
  const { out: lines } = await runCommand(bench.url, "status", "--json");
  expect(JSON.parse(lines[0] ?? "")).toMatchObject({ ready: true, service: file });
});

test("lessons and the audit of a receiver say that they need the plain service", async () => {
  const facts = { "bookings.decline.status": 202 };
  const bench = await openAs(facts);
  const refused = { status: 409, body: { code: "invalid_state", message: expect.stringContaining("plain service") } };
  expect(await bench.call("POST", "/_sandbox/learners", { key: null, body: {} })).toMatchObject(refused);
  expect(await bench.call("POST", "/_sandbox/audit", { key: null, body: { url: "http://127.0.0.1:3999/" } })).toMatchObject(refused);
  const { code, error } = await runCommand(undefined, "learn", "--service", serviceFile(facts));
  expect([code, error]).toEqual([2, expect.stringContaining("The lessons describe the plain service")]);
});
