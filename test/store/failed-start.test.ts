// The database file after a start that failed.

import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeEach, expect, onTestFinished, test } from "vitest";
import { createSandbox } from "../../src/index.ts";
import { type Bench, open } from "../support/sandbox.ts";

let folder: string;
let other: Bench;
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), "merchant-sandbox-start-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  other = await open();
});

const onFile = (port: number) => createSandbox({ db: join(folder, "sandbox.db"), memory: false, port });
const failToStart = () => expect(onFile(other.port)).rejects.toThrow(`Port ${other.port} is taken`);

test("a start on a port that is taken removes the database that it created", async () => {
  await failToStart();
  expect(readdirSync(folder)).toEqual([]);
});

test("a start on a port that is taken leaves a database that was there before", async () => {
  const first = await onFile(0);
  const { id } = await first.records.create({ kind: "payment", status: "succeeded", amount: 1_250 });
  await first.close();
  await failToStart();
  const again = await onFile(0);
  onTestFinished(() => again.close());
  expect(await again.records.list({ kind: "payment", limit: 1 })).toMatchObject({ data: [{ id }] });
});
