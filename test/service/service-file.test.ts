// A sandbox with a service file: which files are refused, how it starts, its documents, and `types`, which prints its
// types.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import ts from "typescript";
import { describe, expect, test } from "vitest";
import { readyFacts, readyLine } from "../../src/cli/output/output.ts";
import type { RunReport } from "../../src/contracts/run-report.ts";
import { createSandbox } from "../../src/sandbox/create.ts";
import { runCommand, temporaryFile } from "../support/program.ts";
import { type Bench, open, openAs, serviceFile } from "../support/sandbox.ts";

/** The message with which a sandbox refuses the file, without the path of the folder. */
const refusal = (facts: object | string) =>
  open({ service: serviceFile(facts) }).then(
    () => "started",
    (error: Error) => error.message.replace(/^.*(?=service\.json)/, ""),
  );

const PLACE =
  'service.json:1: a service file has its entries under "facts", such as {"facts": {"bookings.decline.status": 202}};';

describe("a service file", () => {
  test.each([
    [
      { "payments.creat.status": 201 },
      "service.json:3 /facts/payments.creat.status: There is no fact payments.creat.status. Did you mean payments.list.status? merchant-sandbox assumptions lists all facts.",
    ],
    [
      { "error.validation_failed.status": "422" },
      'service.json:3 /facts/error.validation_failed.status: error.validation_failed.status takes a whole number from 400 to 599; received "422". The sandbox has 400.',
    ],
    [
      { "bookings.declin/error.invalid_state.status": 400 },
      "service.json:3 /facts/bookings.declin~1error.invalid_state.status: There is no operation bookings.declin. Did you mean bookings.decline?",
    ],
    [
      { "bookings.decline/bookings.decline.status": 201 },
      "service.json:3 /facts/bookings.decline~1bookings.decline.status: bookings.decline.status holds for all operations: write it without bookings.decline/.",
    ],
    [
      { "error.live_key_refused.status": 401 },
      "service.json:3 /facts/error.live_key_refused.status: error.live_key_refused.status differs by design: Only a sandbox on this machine has this error.",
    ],
    [
      { "error.malformed_http.status": 422 },
      "service.json:3 /facts/error.malformed_http.status: error.malformed_http.status cannot be adopted: the sandbox sends it where it has not read a request.",
    ],
    [
      { "http.paths": "not literally" },
      "service.json:3 /facts/http.paths: http.paths cannot be adopted: the sandbox implements it in code; a setting changes it where one is listed.",
    ],
    [
      { "payments.list.query.limit.default": 500, "payments.list.query.limit.maximum": 50 },
      "service.json:3 /facts/payments.list.query.limit.default: payments.list.query.limit.default contradicts the file's other entries: payments.list.query.limit has a minimum of 1, a default of 500 and a maximum of 50.",
    ],
    ["[]", `${PLACE} received a list.`],
    ['{"payment.fee": "absent"}', `${PLACE} received an object with "payment.fee".`],
    ["{}", `${PLACE} received an empty object.`],
    ["{", "service.json:1: is not JSON: close brace expected."],
    ['{ "fact": {} }', `${PLACE} received an object with "fact".`],
  ])("with %j is refused in one sentence", async (facts, message) => {
    expect(await refusal(facts)).toBe(message);
  });

  test("that does not exist is refused in one sentence", async () => {
    const missing = serviceFile({}).replace(/service\.json$/, "other.json");
    await expect(open({ service: missing })).rejects.toThrow(`Cannot read ${missing}: there is no such file.`);
  });

  test("with questions starts: they are left for a person to decide", async () => {
    const questions = [
      {
        fact: "payments.list.order",
        seen: [
          { value: "oldest first", count: 4 },
          { value: "newest first", count: 1 },
        ],
      },
    ];
    expect(await refusal(JSON.stringify({ $schema: "./service.schema.json", facts: {}, questions }))).toBe("started");
  });
});

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
    const send = () =>
      bench.call("POST", "/v1/hospitality/bookings/bkg_pending/decline", { headers: { "idempotency-key": "one" } });
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
  expect(
    await bench.call("POST", "/_sandbox/audit", { key: null, body: { url: "http://127.0.0.1:3999/" } }),
  ).toMatchObject(refused);
  const { code, error } = await runCommand(undefined, "learn", "--service", serviceFile(facts));
  expect([code, error]).toEqual([2, expect.stringContaining("The lessons describe the plain service")]);
});

test("the OpenAPI document describes the plain service", async () => {
  const facts = {
    "bookings.decline.status": 202,
    "payment.customerId.name": "customer",
    "payments.list.query.limit.maximum": 50,
  };
  const [plain, under] = [await openAs({}), await openAs(facts)];
  const documentOf = async (bench: Bench) => {
    const { servers: _, ...document } = (await bench.control("GET", "/openapi.json")) as Record<string, unknown>;
    return document;
  };
  expect(await documentOf(under)).toEqual(await documentOf(plain));
});

test("the list of facts says which are recorded", async () => {
  const bench = await openAs({ "bookings.decline.status": 202, "payments.list/error.invalid_limit.status": 418 });
  const { facts: listed, total } = await bench.control("GET", "/assumptions");
  const plain = await (await openAs({})).control("GET", "/assumptions");
  expect(listed).toContainEqual({
    id: "bookings.decline.status",
    kind: "success_status",
    value: 202,
    origin: "recorded",
  });
  expect(listed).toContainEqual({
    id: "payments.list/error.invalid_limit.status",
    kind: "error_status",
    value: 418,
    origin: "recorded",
  });
  expect(plain.total - total).toBe(1);
});

test("coverage counts the statuses of the file", async () => {
  const bench = await openAs({ "bookings.decline.status": 202, "error.invalid_state.status": 422 });
  await bench.call("POST", "/v1/hospitality/bookings/bkg_pending/decline");
  const { data } = await bench.control("GET", "/operations");
  const decline = data.find(({ id }: { id: string }) => id === "bookings.decline");
  expect(decline.byStatus).toEqual({ 202: 1 });
  const { coverage } = (await bench.report({ format: "json" })) as RunReport;
  const { statuses } = coverage.find(({ operation }) => operation === "bookings.decline") ?? { statuses: [] };
  expect(statuses.map(({ status }) => status)).toEqual([202, 404, 422]);
});

const syntaxErrors = (source: string) => ts.transpileModule(source, { reportDiagnostics: true }).diagnostics;

/** The declaration of a type, without comments. */
function declared(source: string, name: string): string {
  const [, body = ""] =
    new RegExp(`^export (?:interface|type) ${name} (?:= )?([\\s\\S]*?)(?=\\n\\n|\\n$|$(?![\\s\\S]))`, "m").exec(
      source,
    ) ?? [];
  return body.replaceAll(/^ *\/\*\*.*\*\/\n/gm, "");
}

test("types prints the types of records, bodies, replies, errors and events", async () => {
  const source = (await runCommand(undefined, "types")).out.join("\n");
  expect(syntaxErrors(source)).toEqual([]);
  expect(declared(source, "Payment")).toContain('status: "pending" | "succeeded" | "failed" | "refunded";');
  expect(declared(source, "PricingRulesCreateBody")).toContain("priority?: number | null;");
  expect(declared(source, "PaymentsListReply")).toContain("data: Payment[];");
  expect(declared(source, "ApiError")).toContain("code?: string;");
  expect(declared(source, "WebhookEvent")).toContain("type: string;");
  expect(source).toContain('  | "booking.declined"\n');
});

test("--out writes them to a file", async () => {
  const file = temporaryFile("", "types.ts");
  const { out } = await runCommand(undefined, "types", "--out", file);
  expect(out).toEqual([`Wrote ${file}.`]);
  expect(declared(readFileSync(file, "utf8"), "ApiError")).toContain("code?: string;");
});
