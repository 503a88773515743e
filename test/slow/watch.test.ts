// `start --watch`: a saved file is loaded again, and a file with a mistake changes nothing.

import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import type { Readable } from "node:stream";
import { expect, test } from "vitest";
import { folder, launch, linesOf, run, start } from "../support/program.ts";
import { call, open } from "../support/sandbox.ts";

const rule = (status: number) =>
  JSON.stringify([
    { match: { operation: "payments.list" }, trigger: { times: null }, action: { type: "status", status } },
  ]);

/** A folder with files, and a sandbox that watches them. */
async function watching(files: Record<string, string>, ...words: string[]) {
  const cwd = folder();
  const save = (name: string, text: string) => writeFileSync(join(cwd, name), text);
  for (const [name, text] of Object.entries(files)) save(name, text);
  const program = await start(["--watch", ...words], {}, cwd);
  /** Waits for the next line about this event. Earlier lines may be about the same event. */
  const next = async (event: string) => {
    const isAbout = (line: string) => line.startsWith(`{"event":"${event}"`);
    const before = program.out.filter(isAbout).length;
    const line = await program.line((one) => isAbout(one) && program.out.filter(isAbout).length > before);
    return JSON.parse(line) as { event: string; files: string[]; error?: string };
  };
  const status = async () => (await call(program.url, "GET", "/v1/payments")).status;
  return { ...program, save, next, status };
}

test("saved fault rules are loaded again; a mistake is reported with its line, and changes no rules", async () => {
  const { save, next, status, child, ended } = await watching(
    { "faults.json": rule(503) },
    ...["--memory", "--faults", "faults.json"],
  );
  expect(await status()).toBe(503);
  let loaded = next("reloaded");
  save("faults.json", rule(502));
  expect(await loaded).toEqual({ event: "reloaded", files: ["faults.json"], needRestart: [], heldEndpoints: [] });
  expect(await status()).toBe(502);
  loaded = next("not_reloaded");
  save("faults.json", rule(502).replace("payments.list", "payments.lst"));
  expect((await loaded).error).toMatch(
    /^faults\.json:1 \/0\/match\/operation: .*payments\.lst.*Did you mean payments\.list/,
  );
  expect(await status()).toBe(502);
  loaded = next("reloaded");
  save("faults.json", rule(500));
  await loaded;
  expect(await status()).toBe(500);
  child.kill("SIGTERM");
  expect((await ended).code).toBe(0);
});

test("a saved merchant-sandbox.json is loaded again, and the sandbox keeps its data", async () => {
  const { url, save, next, status } = await watching({ "merchant-sandbox.json": '{ "rateLimit": "none" }' });
  const { body: made } = await call(url, "POST", "/_sandbox/records/payment", { key: null, body: { amount: 7 } });
  const loaded = next("reloaded");
  save("merchant-sandbox.json", '{ "rateLimit": "1/1h" }');
  await loaded;
  expect([await status(), await status()]).toEqual([200, 429]);
  const { body } = await call(url, "GET", `/_sandbox/records/payment/${made.id}`, { key: null });
  expect(body).toMatchObject({ id: made.id, amount: 7 });
  const refused = next("not_reloaded");
  save("merchant-sandbox.json", '{\n  "rateLimt": "none"\n}');
  expect((await refused).error).toMatch(/^merchant-sandbox\.json:2 \/rateLimt: .*Did you mean rateLimit/);
  const added = next("reloaded");
  save("merchant-sandbox.json", '{ "rateLimit": "1/1h", "endpoints": [{ "url": "http://localhost:2/hooks" }] }');
  expect(await added).toMatchObject({ heldEndpoints: ["http://localhost:2/hooks"] });
  const unusable = next("not_reloaded");
  save("text.db", "This is a text, and it is longer than the header of a database, so that it is read as one.");
  save("merchant-sandbox.json", '{ "rateLimit": "none", "db": "text.db" }');
  expect((await unusable).error).toMatch(
    /is not a usable SQLite file.* The sandbox was opened again with the earlier options\.$/,
  );
  expect([await status(), await status()]).toEqual([200, 429]);
});

test("if the new options cannot be opened, the message says that data in memory started again", async () => {
  const { url, save, next } = await watching({ "merchant-sandbox.json": '{ "memory": true }' });
  const { body: made } = await call(url, "POST", "/_sandbox/records/payment", { key: null, body: { amount: 7 } });
  const unusable = next("not_reloaded");
  save("text.db", "This is a text, and it is longer than the header of a database, so that it is read as one.");
  save("merchant-sandbox.json", '{ "db": "text.db" }');
  expect((await unusable).error).toMatch(
    / The sandbox was opened again with the earlier options, and its data in memory started again\.$/,
  );
  expect((await call(url, "GET", `/_sandbox/records/payment/${made.id}`, { key: null })).status).toBe(404);
});

test("a changed port is reported, because it needs a restart", async () => {
  const cwd = folder();
  const save = (options: object) => writeFileSync(join(cwd, "merchant-sandbox.json"), JSON.stringify(options));
  save({ port: 0, memory: true });
  const program = launch(["start", "--watch", "--no-ui"], {}, cwd);
  const ready = await program.line((line) => line.includes("http://"));
  const [, port] = /127\.0\.0\.1:(\d+)/.exec(ready) ?? [];
  const notes = createInterface({ input: program.child.stderr as Readable });
  save({ port: 4_801, memory: true });
  for await (const note of notes) if (note.includes("Loaded again")) break;
  program.child.kill("SIGTERM");
  const { code, error } = await program.ended;
  expect(code).toBe(0);
  expect(error).toContain(`Loaded again: merchant-sandbox.json. Restart to listen on port 4801 instead of ${port}.\n`);
});

test("saving a fixture resets the data to the saved fixture", async () => {
  const bench = await open();
  const file = join(folder(), "mine.json");
  await linesOf(bench, "fixture", "save", "blank", file);
  const text = readFileSync(file, "utf8");
  const { url, save, next } = await watching({ "mine.json": text }, "--fixtures", "mine.json");
  const loaded = next("reloaded");
  save("mine.json", text.replace("Tabula Rasa", "Tabula Plena").replace("Tabula Rasa", "Tabula Plena"));
  await loaded;
  const { body } = await call(url, "GET", "/v1/merchants/me", { key: "sk_test_blank" });
  expect(body.name).toBe("Tabula Plena");
});

test("--watch is rejected together with --detach", async () => {
  expect(await run(["start", "--detach", "--watch"])).toMatchObject({
    code: 2,
    error: expect.stringContaining("choose --watch or --detach"),
  });
});
