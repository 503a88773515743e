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

test("a start says which service file it follows", async () => {
  const file = serviceFile({ "bookings.decline.status": 202 });
  const db = join(file, "..", "sandbox.db");
  expect(await started(db, file)).toBe(`${db}; responds as ${file} says`);
  expect(await started(db)).toBe(db);
});

test("a database keeps the sandbox's own form, so a start with another file shows its records, events and errors in that file's", async () => {
  const file = serviceFile({ "booking.guestName.name": "guest", "error.invalid_state.code": "not_pending" });
  const db = join(file, "..", "sandbox.db");
  const decline = async (service?: string) => {
    const bench = await open({ db, memory: false, service, clock: "2026-01-05T12:00:00Z" });
    const send = () => bench.call("POST", "/v1/hospitality/bookings/bkg_pending/decline", { headers: { "idempotency-key": "one" } });
    const answers = [await send(), await bench.call("POST", "/v1/hospitality/bookings/bkg_pending/decline")];
    await bench.close();
    return answers.map(({ body }) => body);
  };
  expect(await decline(file)).toMatchObject([{ guest: expect.any(String) }, { code: "not_pending" }]);
  expect(await decline()).toMatchObject([{ guestName: expect.any(String) }, { code: "invalid_state" }]);
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
