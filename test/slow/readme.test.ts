// Runs the commands of the README and of docs/data.md, docs/reference.md and docs/webhooks.md. Only the port and the
// program name are replaced.

import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { catalogue, eventTypes } from "../../src/areas/index.ts";
import { ASSUMED } from "../../src/schema/assumed.ts";
import { fences, linesOf, openShell, printed, readPage, section } from "../support/page.ts";
import { folder, launch, launchFile, type Program, runCommand } from "../support/program.ts";
import { type Bench, call, freePort, open } from "../support/sandbox.ts";
import { deliver, log, openRegistered, receive, register, settle, trigger } from "../support/webhooks.ts";

const readme = readPage("README.md");
const data = readPage("docs/data.md");
const webhooks = readPage("docs/webhooks.md");

/** The arguments after the program name, without a trailing comment. The pages quote no argument. */
const words = (line: string) => {
  const [, rest] = /^(?:npm ci && )?npx merchant-sandbox([^#'"]*)(#.*)?$/.exec(line) ?? [];
  if (rest === undefined) throw new Error(`not a plain call of the program: ${line}`);
  return rest.trim().split(/\s+/).filter(Boolean);
};

/** Runs a line of a page in a shell, on this sandbox. Returns the output. */
async function shell(line: string, url: string): Promise<string> {
  const { code, out } = await openShell({ MERCHANT_SANDBOX_URL: url }).run(
    line.replaceAll("http://127.0.0.1:4747", url),
  );
  expect([line, code]).toEqual([line, 0]);
  return out;
}

const asPrinted = (text: string) => new RegExp(printed(fences(text, "text")[0] ?? ""));

async function startWithLine(line: string): Promise<Program & { url: string }> {
  const program = launch([...words(line), "--port", "0"]);
  const ready = await program.line((said) => said.includes(" is ready at "));
  return { ...program, url: /ready at (\S+)\/v1 /.exec(ready)?.[1] ?? "" };
}

describe("the README", () => {
  test("the first command starts the sandbox, and the third calls it", async () => {
    const [start = "", , curl = ""] = linesOf(readme.slice(0, readme.indexOf("\n## ")));
    const { url } = await startWithLine(start);
    expect(JSON.parse(await shell(curl, url))).toMatchObject({
      object: "list",
      data: [{ object: "payment" }, {}, {}],
      has_more: true,
    });
  });

  test("the first webhook arrives and is signed", async () => {
    const text = section(readme, "Your first webhook");
    const [receiveLine = "", decline = "", look = "", ...more] = linesOf(text);
    expect(more).toEqual([]);
    const { url } = await startWithLine(linesOf(readme)[0] ?? "");
    const receiving = launch([...words(receiveLine), "--port", "0"], { MERCHANT_SANDBOX_URL: url });
    await receiving.line((line) => line.startsWith("Receiving"));

    const declined = JSON.parse(await shell(decline, url));
    expect(declined).toMatchObject({ object: "booking", status: "declined" });
    const arrived = await receiving.line((line) => line.startsWith("booking.declined"));
    await receiving.line((line) => line === "  }");
    const body = JSON.parse(receiving.out.filter((line) => line.startsWith("  ")).join("\n"));
    expect(body.data).toEqual(declined);
    await call(url, "POST", "/_sandbox/drain", { key: null, body: {} });
    expect(`${arrived}\n${await shell(look, url)}`).toMatch(asPrinted(text));
  });

  test("after a lost response, a retry without an Idempotency-Key creates a second record", async () => {
    const text = section(readme, "Break something");
    const bench = await open({ clock: "real" });
    expect(await shell(fences(text, "sh")[0] ?? "", bench.url)).toMatch(asPrinted(text));
  });

  test("lists every operation by its path, and marks operations with an assumed request body", () => {
    const listed = [...section(readme, "Operations").matchAll(/`([A-Z]+ \/[^`]+)`(\*?)/g)].map(
      ([, operation, mark]) => `${operation}${mark}`,
    );
    const isAssumed = (body: object | undefined) => body !== undefined && ASSUMED in body;
    expect(listed.sort()).toEqual(
      catalogue.map(({ method, path, body }) => `${method} ${path}${isAssumed(body) ? "*" : ""}`).sort(),
    );
  });
});

describe("docs/data.md", () => {
  test("its commands create, change and list records, and send an event", async () => {
    const text = data.slice(0, data.indexOf("\n## "));
    const [make = "", move = "", show = "", trigger = "", create = "", list = "", ...more] = linesOf(text);
    expect(more).toEqual([]);
    const bench = await open();
    const said = async (line: string) => {
      const { code, out, error } = await runCommand(bench.url, ...words(line));
      expect([line, code, error]).toEqual([line, 0, ""]);
      return out;
    };
    expect((await said(make))[0]).toMatch(/^pay_\w+ succeeded 12\.50 EUR/);
    expect((await said(move))[0]).toMatch(/^bkg_pending_2 confirmed /);
    expect((await said(show)).filter((line) => line.includes(" failed "))).toHaveLength(5);
    expect((await said(trigger))[0]).toMatch(/^evt_\w+ payout\.paid of po_\w+: /);
    expect(JSON.parse(await shell(create, bench.url))).toMatchObject({
      object: "payment",
      status: "succeeded",
      amount: 1_250,
    });
    expect(JSON.parse(await shell(list, bench.url))).toMatchObject({
      object: "list",
      data: [{ status: "failed" }, {}, {}, {}, {}],
    });
  });

  test("names the key of each seeded merchant", async () => {
    const bench = await open();
    const rows = [...section(data, "Seeded merchants").matchAll(/^\| `(sk_test_\w+)` \|/gm)].map(([, key]) => key);
    const { data: merchants } = await bench.control("GET", "/merchants");
    expect(rows).toEqual(merchants.flatMap(({ apiKeys }: { apiKeys: string[] }) => apiKeys));
  });

  test("its commands reset and restore a snapshot, and its code generates the load for demonstrations", async () => {
    const bench = await open();
    for (const line of linesOf(section(data, "Reset and snapshots")))
      expect([line, await runCommand(bench.url, ...words(line))]).toEqual([
        line,
        expect.objectContaining({ code: 0, error: "" }),
      ]);
    const [code = ""] = fences(section(data, "A load for demonstrations"), "ts");
    await new Function("sandbox", `return (async () => {${code}})()`)(bench);
    const { data: requests } = await bench.control("GET", "/requests?limit=100");
    expect(requests.length).toBe(24);
    const types = (await bench.control("GET", "/events?limit=100")).data.map(({ type }: { type: string }) => type);
    expect(types).toEqual(expect.arrayContaining(["payment.succeeded", "booking.created"]));
  });
});

test("the commands of docs/reference.md succeed in the order of the page, in one sandbox", {
  timeout: 60_000,
}, async () => {
  const bench = await open({ clock: "real" });
  const commands = fences(readPage("docs/reference.md"), "sh");
  expect(commands.length).toBe(catalogue.length);
  const { run } = openShell();
  for (const command of commands) {
    const { out } = await run(`${command.replace("http://127.0.0.1:4747", bench.url)} -s -w '\n%{http_code}'`);
    expect([command, out]).toEqual([command, expect.stringMatching(/\n2\d\d$/)]);
  }
});

describe("docs/webhooks.md", () => {
  test("shows the registration and a delivery as the sandbox returns them", async () => {
    const bench = await open();
    const [curl = ""] = linesOf(section(webhooks, "Register"));
    const endpoint = JSON.parse(await shell(curl, bench.url));
    expect(endpoint).toMatchObject({ url: "http://localhost:3000/", secret: expect.stringMatching(/^whsec_/) });
    const receiver = await receive();
    await register(bench, receiver.url);
    await bench.call("POST", "/v1/hospitality/bookings/bkg_pending/decline");
    await receiver.arrived(1);
    const [arrival] = receiver.arrivals;
    const shown = JSON.parse(fences(section(webhooks, "A delivery"), "json")[0] ?? "");
    expect(arrival?.event).toMatchObject({ ...shown, id: expect.stringMatching(/^evt_/) });
    expect(Object.keys(arrival?.event)).toEqual(Object.keys(shown));
    const named = [...section(webhooks, "A delivery").matchAll(/^\| `([\w-]+)` \|/gm)].map(
      ([, name]) => name?.toLowerCase() ?? "",
    );
    expect(named).toHaveLength(4);
    for (const name of named) expect([name, arrival?.headers[name]]).toEqual([name, expect.any(String)]);
    const types = [...webhooks.matchAll(/"events": \["([^"]+)"\]/g)].map(([, type]) => type ?? "");
    expect(types.filter((type) => type !== "*" && !eventTypes.has(type))).toEqual([]);
  });

  test("its openssl command computes the signature of a delivery", async () => {
    const { bench, receiver, id, secret } = await openRegistered();
    await trigger(bench, "a.b", { text: "ação 🙂" });
    const [arrival] = await receiver.arrived(1);
    const { cwd, run } = openShell({ MERCHANT_WEBHOOK_SECRET: secret });
    writeFileSync(join(cwd, "body.json"), arrival?.body ?? "");
    const [openssl = "", explain = ""] = linesOf(section(webhooks, "Verify"));
    const signature = arrival?.headers["x-webhook-signature"] ?? "";
    expect((await run(openssl)).out.split(" ")[0]).toBe(signature);

    const question = JSON.stringify({ endpoint: id, body: arrival?.body.toString(), signature }).replaceAll(
      "'",
      "'\\''",
    );
    const asked = explain.replace(/-d '.*'$/, () => `-d '${question}'`);
    expect(JSON.parse(await shell(asked, bench.url))).toMatchObject({ matches: true });
  });

  /** Runs the receiver of the page on a free port, with the secret of its endpoint. */
  async function runReceiver(bench: Bench, env: Record<string, string> = {}) {
    const port = await freePort();
    const { secret } = await register(bench, `http://localhost:${port}/`);
    const [source = ""] = fences(webhooks, "js");
    const file = join(folder(), "receiver.mjs");
    writeFileSync(
      file,
      source.replace('listen(3000, "localhost")', `listen(${port}, "localhost", () => console.log("listening"))`),
    );
    const program = launchFile(file, [], { MERCHANT_WEBHOOK_SECRET: secret, ...env });
    await program.line((line) => line === "listening");
    return { ...program, port };
  }

  test("its receiver acts once on a genuine delivery, and rejects forged and old deliveries", async () => {
    const bench = await open({ clock: "real", retrySchedule: "1h" });
    const receiver = await runReceiver(bench);
    const event = await trigger(bench, "a.b");
    await receiver.line((line) => line === `a.b ${event}`);
    await settle(bench);
    await bench.control("POST", `/events/${event}/replay`, {});
    await settle(bench);
    const genuine = await log(bench);
    expect(genuine.map(({ responseStatus, trigger }) => [responseStatus, trigger])).toEqual([
      [200, "test"],
      [200, "replay"],
    ]);
    expect(receiver.out).toEqual(["listening", `a.b ${event}`]);

    const [{ requestBody = "", requestHeaders = {} } = {}] = genuine;
    const forge = (body: string, headers: Record<string, string>) =>
      call(`http://localhost:${receiver.port}`, "POST", "/", { key: null, body, headers });
    const { "X-Webhook-Signature": signature = "" } = requestHeaders;
    expect((await forge(requestBody, { "x-webhook-signature": signature })).status).toBe(200);
    expect((await forge(requestBody.replace("a.b", "a.c"), { "x-webhook-signature": signature })).status).toBe(401);
    expect((await forge(requestBody, { "x-webhook-signature": signature.toUpperCase() })).status).toBe(401);
    expect((await forge(requestBody, {})).status).toBe(401);

    await bench.control("PUT", "/clock", { mode: "offset", now: "2020-01-01T00:00:00Z" });
    await deliver(bench, "a.b");
    expect((await log(bench)).find(({ created }) => created < 1_600_000_000)).toMatchObject({
      status: "failed",
      responseStatus: 400,
    });
    expect(receiver.out).toEqual(["listening", `a.b ${event}`]);
  });

  test("its receiver accepts deliveries from a frozen clock if OLDEST_EVENT switches off the age check", async () => {
    const statusOf = async (env: Record<string, string>) => {
      const bench = await open();
      await runReceiver(bench, env);
      await deliver(bench, "a.b");
      return (await log(bench)).map(({ responseStatus }) => responseStatus);
    };
    expect(await statusOf({})).toEqual([400]);
    const [, name = "", value = ""] = /`(OLDEST_EVENT)=(\w+)`/.exec(webhooks) ?? [];
    expect(await statusOf({ [name]: value })).toEqual([200]);
  });

  test("its command sends an event, and the list of failed attempts is empty at first", async () => {
    const bench = await open();
    const [look = ""] = linesOf(section(webhooks, "Retries"));
    expect(JSON.parse(await shell(look, bench.url))).toEqual({ object: "list", data: [], has_more: false });
    const triggered = linesOf(webhooks).find((line) => line.includes(" trigger ")) ?? "";
    const sent =
      /^evt_\w+ payment\.succeeded of pay_\w+: no endpoint of \w+ is subscribed .*\n {2}on the way: \S+ payment\.pending\n$/;
    expect(await shell(triggered, bench.url)).toMatch(sent);
    expect((await bench.control("GET", "/events")).data[0].body.data).toMatchObject({ amount: 1250 });
  });
});
