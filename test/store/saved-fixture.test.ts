// `fixture save`: a sandbox that starts from the file answers every GET like the sandbox that saved it.

import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { catalogue, resources } from "../../src/areas/index.ts";
import { folder, linesOf, runCommand } from "../support/program.ts";
import { type Bench, open } from "../support/sandbox.ts";

/** All responses to GET: every page of every list, and every record of every kind. */
async function everything(bench: Bench, key: string, merchant: string): Promise<Record<string, unknown>> {
  const answers: Record<string, unknown> = {};
  const gets = catalogue.filter(
    ({ method, path, area }) => method === "GET" && area !== "Webhooks" && !path.includes("{"),
  );
  for (const { path } of gets) {
    const { status, body } = await bench.call("GET", `/v1${path}`, { key });
    answers[path] = [status, body];
    for (let page = body; page.has_more; ) {
      const after = page.data.at(-1).id;
      page = (await bench.call("GET", `/v1${path}?starting_after=${after}`, { key })).body;
      answers[`${path} after ${after}`] = page;
    }
  }
  for (const { kind, hidden } of resources.filter((resource) => resource.hidden.length === 0))
    answers[kind] = [hidden, (await bench.control("GET", `/records/${kind}?merchant=${merchant}&limit=100`)).data];
  const { data: customers } = await bench.control("GET", `/records/customer?merchant=${merchant}&limit=100`);
  for (const { id } of customers) answers[id] = (await bench.call("GET", `/v1/customers/${id}`, { key })).body;
  return answers;
}

test.each(["lodge", "market", "stage", "blank"])(
  "the file of %s restores all records, including those that were created, refunded or changed by the clock",
  async (name) => {
    const bench = await open();
    const merchant = `mer_${name}`;
    const make = (kind: string, fields: object) => bench.control("POST", `/records/${kind}`, { merchant, ...fields });
    const { id } = await make("payment", { status: "succeeded", amount: 1_250, metadata: { order: "7" } });
    await bench.control("PATCH", `/records/payment/${id}`, { merchant, status: "refunded" });
    await make("customer", { name: "A new customer" });
    await bench.control("POST", "/clock/advance", { by: "3d" });
    const file = join(folder(), "mine.json");
    await linesOf(bench, "fixture", "save", name, file);
    const { now } = await bench.control("GET", "/clock");
    const copy = await open({ clock: now, fixtures: file });
    expect(await everything(copy, `sk_test_${name}`, merchant)).toEqual(
      await everything(bench, `sk_test_${name}`, merchant),
    );
    // New records do not get ids of the file, even if a later start has made time-driven changes.
    for (const next of [copy, await open({ clock: "2026-03-02T12:00:00Z", fixtures: file })])
      for (const kind of ["payment", "customer"]) {
        const made = await linesOf(next, "make", kind);
        expect(made[0]).toMatch(/^(pay|cus)_\w{16}\b/);
      }
  },
);

test("the file has one line for each record and contains no secret, and its dates move with the clock", async () => {
  const bench = await open();
  await bench.control("PUT", "/endpoints", { url: "http://localhost:3000/", secret: "whsec_never_in_a_file" });
  const file = join(folder(), "mine.json");
  const [said = ""] = await linesOf(bench, "fixture", "save", "lodge", file, "--json");
  const text = readFileSync(file, "utf8");
  const records = text.match(/^ {6}\{ "id": /gm)?.length;
  expect(JSON.parse(said)).toEqual({ id: "mer_lodge", apiKey: "sk_test_lodge", records, file });
  expect(text).not.toMatch(/whsec_|lodge-password/);
  for (const { id } of (await bench.control("GET", "/records/payment?merchant=mer_lodge&limit=100")).data)
    expect(text.split("\n").filter((line) => line.includes(`{ "id": "${id}",`))).toHaveLength(1);
  const later = await open({ clock: "2026-03-02T12:00:00Z", fixtures: file });
  const { data } = (await later.call("GET", "/v1/payments?limit=1")).body;
  expect(data[0].created).toBeGreaterThan(Date.parse("2026-02-01") / 1_000);
});

test("an existing file is kept without --force, and replaced with it", async () => {
  const { url } = await open();
  const file = join(folder(), "mine.json");
  writeFileSync(file, "mine");
  expect(await runCommand(url, "fixture", "save", "blank", file)).toMatchObject({
    code: 2,
    error: expect.stringContaining("mine.json exists already: choose another name, or replace it with --force."),
  });
  expect(readFileSync(file, "utf8")).toBe("mine");
  expect(await runCommand(url, "fixture", "save", "blank", file, "--force")).toMatchObject({ code: 0 });
  expect(JSON.parse(readFileSync(file, "utf8"))).toMatchObject({ merchant: { apiKey: "sk_test_blank" } });
});

test("an unknown merchant is refused before a file is written", async () => {
  const { url } = await open();
  expect(await runCommand(url, "fixture", "save", "lodg", join(folder(), "mine.json"))).toMatchObject({
    code: 2,
    error: expect.stringContaining("Did you mean"),
  });
});
