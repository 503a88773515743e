// The explorer of the dashboard in a browser: the operations that it lists, their examples, and a call as code.

import { execFile, spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, onTestFinished, test } from "vitest";
import { type ApiDocument, type ApiOperation, filledPath, operationsOf } from "../../ui/explorer/api-document.ts";
import { snippets } from "../../ui/explorer/call-snippets.ts";
import { type Bench, open } from "../support/sandbox.ts";

const run = promisify(execFile);

const serviceOperations = async (bench: Bench): Promise<ApiOperation[]> =>
  operationsOf("service", (await bench.control("GET", "/openapi.json")) as ApiDocument);

const exampleValues = ({ parameters }: ApiOperation) =>
  Object.fromEntries(parameters.filter(({ example }) => example !== undefined).map(({ name, example }) => [name, String(example)]));

test("lists the operations of the service by area, with an Idempotency-Key where one is taken", async () => {
  const operations = await serviceOperations(await open());
  expect(operations).toHaveLength(28);
  expect(operations.every(({ area, summary, responses }) => area !== "" && summary !== "" && responses.length > 0)).toBe(true);
  const undescribed = operations.flatMap(({ id, responses }) =>
    responses.filter(({ description }) => description === "").map(({ status }) => `${id} ${status}`),
  );
  expect(undescribed).toEqual([]);
  expect(operations.find(({ id }) => id === "bookings.decline")).toMatchObject({ takesIdempotencyKey: true, area: "Hospitality" });
  expect(operations.find(({ id }) => id === "payments.list")).toMatchObject({ takesIdempotencyKey: false, body: undefined });
});

test("fills the path and the query, escaped, and leaves empty query parameters out", async () => {
  const operations = await serviceOperations(await open());
  const payments = operations.find(({ id }) => id === "payments.list") as ApiOperation;
  expect(filledPath(payments, { limit: "2", starting_after: "a&b", ending_before: "" })).toBe("/v1/payments?limit=2&starting_after=a%26b");
  const customer = operations.find(({ id }) => id === "customers.get") as ApiOperation;
  expect(filledPath(customer, { id: "a/b ?" })).toBe("/v1/customers/a%2Fb%20%3F");
});

test("the example of every operation succeeds with the first API key", async () => {
  const bench = await open();
  const failed: string[] = [];
  for (const operation of await serviceOperations(bench)) {
    const { method, body } = operation;
    const { status } = await bench.call(method, filledPath(operation, exampleValues(operation)), { ...(body !== undefined && { body }) });
    if (status >= 300) failed.push(`${operation.id}: ${status}`);
  }
  expect(failed).toEqual([]);
});

const hasPython = spawnSync("python3", ["-c", "import requests"]).status === 0;

const shell = (code: string) => ["sh", "-c", code] as const;
const node = (code: string) => ["node", "--input-type=module", "-e", code] as const;
const python = (code: string) => ["python3", "-c", code] as const;

const hasGo = spawnSync("go", ["version"]).status === 0;
/** Where Go has no cache, it compiles its HTTP client first. */
const COLD_GO_MS = 180_000;
const inGo = hasGo ? "" : " (skipped: go is not installed)";

test.skipIf(!hasGo)(
  `the call as Go is a program that compiles, whatever it contains${inGo}`,
  async () => {
    const folder = mkdtempSync(join(tmpdir(), "merchant-sandbox-go-"));
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
    const headers = { Authorization: "Bearer sk_test_lodge", "Idempotency-Key": `k'"$\\x` };
    const calls = [
      { method: "GET", url: "http://127.0.0.1:4747/v1/payments?limit=1", headers, body: undefined },
      { method: "POST", url: "http://127.0.0.1:4747/v1/payments", headers, body: `{"reason": "It's \\"late\\" ☃ 😀 \u2028"}` },
    ];
    for (const [index, call] of calls.entries()) {
      writeFileSync(join(folder, `${index}.go`), snippets.Go?.(call) ?? "");
      const words = ["build", "-o", join(folder, "program"), join(folder, `${index}.go`)];
      await run("go", words, { env: { ...process.env, GO111MODULE: "off" } });
    }
  },
  COLD_GO_MS,
);

test.each([
  { language: "curl", commandOf: shell, isInstalled: spawnSync("curl", ["--version"]).status === 0 },
  { language: "fetch", commandOf: node, isInstalled: true },
  { language: "Python", commandOf: python, isInstalled: hasPython },
])("the call as $language sends the same path, headers and body, whatever they contain", async (given) => {
  const { language, commandOf, isInstalled } = given;
  const bench = await open();
  const path = "/v1/hospitality/bookings/it's%20%24(1)/decline";
  const body = JSON.stringify({ reason: `It's "late" \\ $HOME \`id\` %s @x ☃ 😀 \u2028`, notes: "two\nlines" }, null, 2);
  const headers = { Authorization: "Bearer sk_test_lodge", "Idempotency-Key": `k'"$\\x`, "Content-Type": "application/json" };
  const code = snippets[language]?.({ method: "POST", url: `${bench.url}${path}?a=%5B1%5D`, headers, body }) ?? "";
  if (!isInstalled) return expect(code).toContain("decline?a=%5B1%5D");
  const [program, ...words] = commandOf(code);
  expect((await run(program, words)).stdout).toContain("resource_not_found");
  const [{ id }] = (await bench.control("GET", "/requests?limit=1")).data;
  const logged = await bench.control("GET", `/requests/${id}`);
  expect(logged).toMatchObject({ method: "POST", path, merchant: "mer_lodge", request: { body } });
  expect(logged.query.replace(/^\?/, "")).toBe("a=%5B1%5D");
});
