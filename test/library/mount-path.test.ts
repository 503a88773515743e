// Clients of a sandbox that an app serves below a path: the control client, commands, the dashboard's calls and a
// lesson. Also compares the request targets that a sandbox rejects in an app and on its own port.

import { createServer, type Server } from "node:http";
import express from "express";
import { describe, expect, test } from "vitest";
import { connect } from "../../src/index.ts";
import { createSandbox, type Sandbox } from "../../src/sandbox/create.ts";
import { perform } from "../../ui/terminal/platform.ts";
import { afterEachTest } from "../support/cleanup.ts";
import { linesOf, runCommand } from "../support/program.ts";
import { call, listen, NOON, open, raw } from "../support/sandbox.ts";

const opened: Sandbox[] = [];
afterEachTest.push(() => Promise.all(opened.splice(0).map((sandbox) => sandbox.close())));

/** Mounts a sandbox in an Express app below a path. */
async function openBelow(path: string): Promise<{ sandbox: Sandbox; server: Server; url: string }> {
  const sandbox = await createSandbox({ clock: NOON, listen: false });
  opened.push(sandbox);
  const server = createServer(express().use(path, sandbox.middleware));
  sandbox.attach(server, path);
  return { sandbox, server, url: `http://127.0.0.1:${await listen(server)}${path}` };
}

describe("below a path", () => {
  test.each(["", "/", "/v1", "/v1/", "/_sandbox", "/_sandbox/ui", "?a#b"])("connect reaches url + %j", async (end) => {
    const { url } = await openBelow("/pay/in");
    const control = connect(url + end);
    expect(await control.overview()).toMatchObject({
      name: "merchant-sandbox",
      baseUrl: expect.stringMatching("/pay/in/v1$"),
    });
    await control.clock.advance({ by: "1h" });
    expect(await control.clock.get()).toMatchObject({ now: "2026-01-05T13:00:00.000Z" });
  });

  test("connect keeps a mount path that begins with /v1", async () => {
    const { url } = await openBelow("/v1/mock");
    expect(await connect(url).overview()).toMatchObject({ name: "merchant-sandbox" });
    expect(await connect(`${url}/v1`).overview()).toMatchObject({ name: "merchant-sandbox" });
  });

  test("connect rejects an address with a missing or a wrong mount path", async () => {
    const { url } = await openBelow("/pay");
    await expect(connect(new URL(url).origin).overview()).rejects.toThrow(/responded with 404, but is not a merchant/);
    const { url: own } = await open();
    await expect(connect(`${own}/pay`).overview()).rejects.toThrow("Nothing is at /pay/_sandbox.");
  });

  test("commands call the sandbox and print addresses below the path", async () => {
    const below = await openBelow("/pay");
    const { url } = below;
    const answer = await call(url, "GET", "/pay/v1/payments?limit=1", { headers: { "idempotency-key": "once" } });
    const id = String(answer.headers["x-sandbox-request-id"]);
    expect(await linesOf(below, "requests")).toEqual([expect.stringContaining("/v1/payments")]);
    expect((await linesOf(below, "requests", id, "--curl")).join("\n")).toContain(`/pay/v1/payments?limit=1'`);
    expect((await linesOf(below, "status"))[0]).toContain(`page ${url}/_sandbox/ui,`);
    await linesOf(below, "fault", "add", "rate_limit", "payments.list");
    expect((await call(url, "GET", "/pay/v1/payments")).status).toBe(429);
    await linesOf(below, "trigger", "payment.succeeded");
    expect((await linesOf(below, "events"))[0]).toContain("payment.succeeded");
    expect(await linesOf(below, "verdicts")).not.toEqual([]);
    expect(await linesOf(below, "env")).toContain(`export MERCHANT_BASE_URL='${url}/v1'`);
    expect(await runCommand(url, "wait", "--within", "1s")).toMatchObject({ code: 0 });
    expect(await linesOf(below, "reset")).not.toEqual([]);
  });

  test("the dashboard's calls reach both APIs", async () => {
    const { url } = await openBelow("/pay");
    const target = { url, token: undefined };
    const customer = { method: "GET", path: "/v1/customers/cus_zoe", key: "sk_test_lodge" };
    expect(await perform(target, customer)).toMatchObject({ status: 200, body: { id: "cus_zoe" } });
    expect(await perform(target, { method: "GET", path: "/clock" })).toMatchObject({ body: { mode: "frozen" } });
  });

  test("a skipped step of a lesson calls the sandbox for the learner", async () => {
    const { sandbox } = await openBelow("/pay");
    const { learner } = await sandbox.learners.join({ name: "Ada" });
    await sandbox.learners.begin({ id: learner.id, name: "idempotency" });
    await sandbox.learners.skip({ id: learner.id });
    expect((await sandbox.requests.list()).data).toMatchObject([{ method: "POST", status: 200 }]);
  });
});

/** Sends a request target unchanged. Returns the status, the error code and the allowed methods of the response. */
async function answerTo(url: string, method: string, target: string): Promise<string> {
  const { port, host } = new URL(url);
  const head = `${method} ${target} HTTP/1.1\r\nHost: ${host}\r\nAuthorization: Bearer sk_test_lodge\r\n`;
  const response = await raw(Number(port), `${head}Connection: close\r\n\r\n`);
  const code = /"code":"(\w+)"/.exec(response)?.[1];
  const allowed = /^Allow: (.*)\r$/im.exec(response)?.[1];
  return [response.slice(9, 12), code, allowed].filter((part) => part !== undefined).join(" ");
}

describe("a request target", () => {
  const openAll = async () => {
    const [own, atRoot, below] = [await open(), await openBelow(""), await openBelow("/pay")];
    return { own: own.url, atRoot: atRoot.url, below: below.url };
  };

  const UNKNOWN = "404 route_not_found";
  test.each([
    ["GET", "/v1/payments#x", UNKNOWN],
    ["GET", "/v1/payments%23", UNKNOWN],
    ["GET", "/v1/payments%c2%a0", UNKNOWN],
    ["GET", "/v1/\\payments", UNKNOWN],
    ["GET", "/v1//payments", UNKNOWN],
    ["GET", "/v1/payments/", UNKNOWN],
    ["GET", "/v1/Payments", UNKNOWN],
    ["GET", "/v1/../_sandbox/clock", UNKNOWN],
    ["GET", "/v1/customers/%zz", UNKNOWN],
    ["GET", "/v1/customers/%c3%28", UNKNOWN],
    ["GET", "/v1/customers/a%2fb", "404 resource_not_found"],
    ["GET", "/v1/customers/cus_zoe?%zz", "200"],
    ["HEAD", "/v1/payments", "200"],
    ["HEAD", "/v1/customers/cus_zoe", "200"],
    ["OPTIONS", "/v1/payments", "405 method_not_allowed GET, HEAD"],
    ["OPTIONS", "/v1/nothing", UNKNOWN],
    ["TRACE", "/v1/payments", "405 method_not_allowed GET, HEAD"],
    ["GET", "/_sandbox/clock#x", UNKNOWN],
    ["GET", "/_sandbox//clock", UNKNOWN],
    ["GET", "/_sandbox/requests/%zz", UNKNOWN],
    ["HEAD", "/_sandbox/clock", "200"],
    ["OPTIONS", "/_sandbox/clock", "405 method_not_allowed GET, HEAD, PUT"],
  ])("%s %s gets %s on the sandbox's own port and in an app", async (method, target, expected) => {
    const { own, atRoot, below } = await openAll();
    expect([
      await answerTo(own, method, target),
      await answerTo(atRoot, method, target),
      await answerTo(below, method, `/pay${target}`),
    ]).toEqual([expected, expected, expected]);
  });

  test.each([
    ["GET", "//v1/payments", UNKNOWN],
    ["GET", "/V1/payments", UNKNOWN],
    ["GET", "/v1\\payments", UNKNOWN],
    ["GET", "/_sandbox\\clock", UNKNOWN],
    ["GET", "http://127.0.0.1/v1/payments", "403 host_not_allowed"],
    ["OPTIONS", "*", "403 host_not_allowed"],
  ])("%s %s is rejected on the sandbox's own port, and passed on in an app", async (method, target, expected) => {
    const { own, atRoot, below } = await openAll();
    expect(await answerTo(own, method, target)).toBe(expected);
    expect(await answerTo(atRoot, method, target)).toBe("404");
    expect(await answerTo(below, method, target)).toBe("404");
  });
});
