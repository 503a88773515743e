// The client of the control API: a method for each operation, the same in this process and over HTTP.

import { describe, expect, test } from "vitest";
import { controlCatalogue } from "../../src/control/index.ts";
import { connect, createSandbox, SandboxError, verifySignature } from "../../src/index.ts";
import { open, shareForBlock } from "../support/sandbox.ts";

type Methods = Record<
  string,
  ((given?: object) => Promise<unknown>) | Record<string, (given?: object) => Promise<unknown>>
>;

const camel = (name: string) => name.replaceAll(/_(\w)/g, (_, letter: string) => letter.toUpperCase());

function methodOf(plane: unknown, id: string) {
  const [group = "", name = ""] = camel(id).split(".");
  const methods = plane as Methods;
  return group === "sandbox" ? methods[name] : (methods[group] as Record<string, unknown>)[name];
}

const refusal = (work: Promise<unknown>) =>
  work.then(
    () => undefined,
    (error: SandboxError) => error,
  );

/** Hides `elapsed`, a real time that differs from call to call. */
const untimed = (reply: unknown) =>
  JSON.parse(JSON.stringify(reply, (key, value) => (key === "elapsed" ? "any" : value)));

describe("every operation", () => {
  const sandbox = shareForBlock();

  test.each(controlCatalogue.map(({ id }) => id))("%s is a method, in this process and over HTTP", (id) => {
    expect(methodOf(sandbox(), id)).toBeTypeOf("function");
    expect(methodOf(connect(sandbox().url), id)).toBeTypeOf("function");
  });

  const plain = controlCatalogue.filter(
    ({ method, path, query }) => method === "GET" && !path.includes("{") && !query.required?.length,
  );
  test.each(plain.map(({ id, path }) => [id, path]))("%s returns the response of GET %s", async (id, path) => {
    const bench = sandbox();
    const answered = await bench.call("GET", `/_sandbox${path}`, { key: null });
    const plane = [bench, connect(bench.url)].map((one) => (methodOf(one, id) as () => Promise<unknown>)());
    const whole = untimed(answered.body ?? answered.text);
    expect((await Promise.all(plane)).map(untimed)).toEqual([whole, whole]);
  });

  const wrong: [name: string, id: string, given: object, path: string, method: string, body?: object][] = [
    ["an unknown id", "requests.get", { id: "req_99" }, "/requests/req_99", "GET"],
    ["an unknown field", "clock.advance", { bye: "1h" }, "/clock/advance", "POST", { bye: "1h" }],
    ["an unknown parameter", "requests.list", { merchand: "mer_lodge" }, "/requests?merchand=mer_lodge", "GET"],
    ["a limit out of range", "events.list", { limit: 0 }, "/events?limit=0", "GET"],
    ["a field with an unknown value", "clock.set", { mode: "standing" }, "/clock", "PUT", { mode: "standing" }],
    ["a value that the handler rejects", "clock.advance", { by: "soon" }, "/clock/advance", "POST", { by: "soon" }],
    ["a parameter for a call with none", "snapshots.save", { name: "one", as: "two" }, "/snapshots/one?as=two", "PUT"],
    ["an id that a URL must encode", "faults.get", { id: "a/b?c" }, "/faults/a%2Fb%3Fc", "GET"],
  ];
  test.each(wrong)("rejects %s with the error of the HTTP API", async (_, id, given, path, method, body) => {
    const bench = sandbox();
    const { body: refused, status } = await bench.call(method, `/_sandbox${path}`, { key: null, body });
    expect(status).toBeGreaterThanOrEqual(400);
    const { requestId: _id, ...details } = refused.details;
    for (const plane of [bench, connect(bench.url)]) {
      const error = await refusal((methodOf(plane, id) as (given: object) => Promise<unknown>)(given));
      expect(error).toBeInstanceOf(SandboxError);
      expect(error).toMatchObject({ message: refused.message, code: refused.code, details });
    }
  });
});

test("path parameters, query and body are passed in one argument", async () => {
  const sandbox = await open();
  const payment = await sandbox.records.make({
    kind: "payment",
    merchant: "mer_lodge",
    amount: 12_500,
    currency: "EUR",
  });
  expect(payment).toMatchObject({ object: "payment", amount: 12_500, status: "pending" });
  const changed = await sandbox.records.move({ kind: "payment", id: String(payment.id), status: "succeeded" });
  expect(changed).toMatchObject({ id: payment.id, status: "succeeded" });
  expect(await sandbox.rateLimits.set({ merchant: "mer_lodge", remaining: 0 })).toMatchObject({ remaining: 0 });
  await sandbox.call("GET", "/v1/payments");
  const { data } = await sandbox.requests.list({ merchant: "mer_lodge", limit: 1 });
  expect(data).toMatchObject([{ operation: "payments.list", status: 429 }]);
  const page = await sandbox.events.list({ type: "payment.succeeded", merchant: "mer_lodge", limit: 5 });
  expect(page.data.map(({ body }) => (body as { data: { id: string } }).data.id)).toEqual([payment.id]);
});

test("a report is an object as JSON or HAR, and a string as JUnit", async () => {
  const sandbox = await open();
  for (const plane of [sandbox, connect(sandbox.url)]) {
    expect(await plane.report()).toHaveProperty("sandbox");
    expect(await plane.report({ format: "junit" })).toMatch(/^<\?xml /);
    expect(await plane.report({ format: "har" })).toHaveProperty("log.version", "1.2");
  }
});

test("arguments and results are copies that the caller may change", async () => {
  const sandbox = await open();
  const action = { type: "status" as const, status: 500 };
  const rule = await sandbox.faults.add({ action });
  action.status = 200;
  rule.action.status = 201;
  expect(await sandbox.faults.get({ id: rule.id })).toMatchObject({ action: { status: 500 } });
});

test("a path parameter that is missing or not a string causes an error that names it", async () => {
  const sandbox = await open();
  // @ts-expect-error: the id of the request is required
  await expect(sandbox.requests.get({})).rejects.toThrow("requests.get needs id, which is text; received none.");
  // @ts-expect-error: an id is a string
  await expect(sandbox.requests.get({ id: 7 })).rejects.toThrow("requests.get needs id, which is text; received 7.");
});

test.each([
  [{ port: -1 }, "port must be at least 0; received -1."],
  [{ memory: 1 }, "memory must be a boolean; received 1."],
  [{ faults: [{ action: { type: "drop" } }] }, "faults must be a string; received an array."],
  [{ scenario: [7] }, "scenario.0 must be a string; received 7."],
])("an invalid option is rejected with its name, what it must be, and what was received: %j", async (options, says) => {
  await expect(createSandbox(options as object)).rejects.toThrow(says);
});

test("verifySignature refuses a parsed body and a secret that is not set", () => {
  const given = { body: "{}", signature: "00", secret: "whsec_local" };
  expect(verifySignature(given)).toBe(false);
  // @ts-expect-error: the body must be as it was received
  expect(() => verifySignature({ ...given, body: {} })).toThrow("as text or bytes; received an object. In Express,");
  // @ts-expect-error: an environment variable may be unset
  expect(() => verifySignature({ ...given, secret: undefined })).toThrow("such as whsec_local; received undefined.");
});

test("a mistyped operation or event type does not compile", async () => {
  const sandbox = await open();
  const action = { type: "status", status: 503 } as const;
  // @ts-expect-error: the operation is payments.list
  await expect(sandbox.faults.add({ action, match: { operation: "payment.list" } })).rejects.toThrow(
    "Did you mean payments.list?",
  );
  const { warnings } = await sandbox.faults.add({
    action: { type: "drop" },
    // @ts-expect-error: the type is payment.succeeded
    match: { event: ["payment.*", "payment.suceeded"] },
  });
  expect(warnings).toEqual([expect.stringContaining("Did you mean payment.succeeded?")]);
  // @ts-expect-error: the operation is payments.list
  const all = sandbox.verify({ all: [{ sequence: [{ operation: "payments.*" }, { operation: "payment.list" }] }] });
  await expect(all).rejects.toThrow("Did you mean payments.list?");
});

test.each([true, false])("a closed sandbox throws an error that says so (used before: %s)", async (isUsed) => {
  const sandbox = await createSandbox();
  if (isUsed) await sandbox.clock.get();
  await sandbox.close();
  await expect(sandbox.clock.get()).rejects.toThrow("The sandbox is closed.");
});

test("a sandbox that is closing still answers its first call, and then closes", async () => {
  const sandbox = await createSandbox();
  const closed = sandbox.close();
  expect(await sandbox.health()).toMatchObject({ status: "ready" });
  await closed;
  await expect(sandbox.health()).rejects.toThrow("The sandbox is closed.");
});

test("method groups such as `clock` also work on a copy, a derived object and a proxy of a client", async () => {
  const sandbox = await open();
  for (const other of [{ ...sandbox }, Object.create(sandbox), new Proxy(sandbox, {})])
    expect(await other.clock.get()).toMatchObject({ mode: "frozen" });
});

describe("a sandbox in another process", () => {
  test("requires its control token", async () => {
    const sandbox = await open({ controlToken: "let-me-in" });
    await expect(connect(sandbox.url).health()).rejects.toMatchObject({ code: "control_token_required" });
    for (const [controlToken, says] of [
      [undefined, /^This sandbox requires its control token\. Send the sandbox's token /],
      ["let-me-out", /^The control token is wrong\. Send the sandbox's token /],
    ] as const)
      await expect(connect(sandbox.url, { controlToken }).health()).rejects.toThrow(says);
    expect(await connect(`${sandbox.url}/`, { controlToken: "let-me-in" }).health()).toMatchObject({ status: "ready" });
    expect(await sandbox.health()).toMatchObject({ status: "ready" });
  });

  test("that does not answer, or whose address is not a URL, is reported in one sentence", async () => {
    const sandbox = await createSandbox();
    await sandbox.close();
    await expect(connect(sandbox.url).health()).rejects.toThrow(
      /^No sandbox answers at .*: .*Start one with npx merchant-sandbox\.$/,
    );
    expect(() => connect("localhost:4747")).toThrow(
      'The address of a sandbox looks like http://127.0.0.1:4747; received "localhost:4747".',
    );
  });
});
