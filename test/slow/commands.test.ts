// The commands for a running sandbox: effects, output and errors.

import { mkdtempSync, readFileSync, rmSync, statSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { readWebhooks } from "../../src/compare/read-recording.ts";
import { attempted } from "../support/attacks.ts";
import { launch, type Program, run } from "../support/program.ts";
import { type Bench, type CallOptions, call, NOON_SECONDS, open } from "../support/sandbox.ts";
import { advance, log, settle, trigger } from "../support/webhooks.ts";

/** Runs a command against a sandbox until it exits. */
const command = (bench: Bench, ...words: string[]) => run(words, { MERCHANT_SANDBOX_URL: bench.url });

/** Runs a command that must succeed and returns its lines. */
async function lines(bench: Bench, ...words: string[]): Promise<string[]> {
  const { code, out, error } = await command(bench, ...words);
  expect([code, error]).toEqual([0, ""]);
  return out;
}

interface Receiving extends Program {
  /** Its endpoint. */
  id: string;
  stop(): Promise<void>;
}

async function receive(bench: Bench, ...words: string[]): Promise<Receiving> {
  const program = launch(["receive", "--port", "0", ...words], { MERCHANT_SANDBOX_URL: bench.url });
  const first = await program.line((line) => line.startsWith("Receiving"));
  return {
    ...program,
    id: /as (we_\w+)\./.exec(first)?.[1] ?? "",
    async stop() {
      program.child.kill("SIGINT");
      expect(await program.ended).toMatchObject({ code: 0, error: "" });
    },
  };
}

const endpoints = async (bench: Bench, key = "sk_test_lodge") => (await bench.call("GET", "/v1/webhooks", { key })).body.data;
const attempts = async (bench: Bench) => (await log(bench)).map(({ attempt, status, responseStatus }) => [attempt, status, responseStatus]);

describe("receive", () => {
  test("registers an endpoint, verifies and prints deliveries, and removes the endpoint on exit", async () => {
    const bench = await open();
    const receiving = await receive(bench);
    expect(receiving.out[0]).toMatch(
      /^Receiving \* of mer_lodge at http:\/\/localhost:\d+\/ as we_\w+\. Press Ctrl-C to stop and remove the endpoint\.$/,
    );
    expect(await endpoints(bench)).toMatchObject([{ id: receiving.id, events: ["*"], status: "enabled" }]);
    const event = await trigger(bench, "payment.succeeded", { amount: 5 });
    const body = await receiving.line((line) => line.startsWith("  {"));
    expect(receiving.out[1]).toBe(`payment.succeeded ${event} signature ok, answering 200`);
    expect(JSON.parse(body)).toMatchObject({ id: event, type: "payment.succeeded", data: { amount: 5 } });
    await settle(bench);
    await receiving.stop();
    expect(await endpoints(bench)).toEqual([]);
    expect(await attempts(bench)).toEqual([[1, "succeeded", 200]]);
  });

  test("prints no secret of a delivery", async () => {
    const bench = await open();
    const receiving = await receive(bench);
    await trigger(bench, "a.b", { pin: 77331199, note: "https://x.example/?access%5Ftoken=hidden-away" });
    const body = await receiving.line((line) => line.startsWith("  {"));
    expect(JSON.parse(body).data).toEqual({ pin: "…redacted…", note: "https://x.example/?access%5Ftoken=…redacted…" });
    await receiving.stop();
  });

  test("--for and --events select the merchant and the event types", async () => {
    const bench = await open();
    const receiving = await receive(bench, "--for", "market", "--events", "payout.paid,payroll.created");
    expect(receiving.out[0]).toContain("Receiving payout.paid, payroll.created of mer_market");
    expect(await endpoints(bench, "sk_test_market")).toMatchObject([{ events: ["payout.paid", "payroll.created"] }]);
    await trigger(bench, "payout.paid", {}, "sk_test_market");
    await trigger(bench, "payout.failed", {}, "sk_test_market");
    await trigger(bench, "payout.paid");
    await settle(bench);
    await receiving.stop();
    expect(receiving.out.filter((line) => line.includes("signature"))).toHaveLength(1);
  });

  test("--fail 2 answers the first two deliveries with 500, and the third attempt succeeds", async () => {
    const bench = await open();
    const receiving = await receive(bench, "--fail", "2");
    await trigger(bench);
    await advance(bench, "1h");
    expect(await attempts(bench)).toEqual([
      [1, "failed", 500],
      [2, "failed", 500],
      [3, "succeeded", 200],
    ]);
    expect(receiving.out.filter((line) => line.includes("answering")).map((line) => line.slice(-3))).toEqual(["500", "500", "200"]);
    await receiving.stop();
  });

  test("--slow delays each response beyond the sandbox's timeout", async () => {
    const bench = await open({ webhookTimeout: "50ms", retrySchedule: "1h" });
    const receiving = await receive(bench, "--slow", "10m");
    await trigger(bench);
    await settle(bench);
    const [attempt] = await log(bench);
    expect(attempt).toMatchObject({ attempt: 1, status: "failed", errorCode: "timeout", responseStatus: null });
    await receiving.stop();
  });

  test("--status 410 disables the endpoint", async () => {
    const bench = await open();
    const receiving = await receive(bench, "--status", "410");
    await trigger(bench);
    await advance(bench, "1h");
    expect(await attempts(bench)).toEqual([[1, "failed", 410]]);
    expect(await endpoints(bench)).toMatchObject([{ id: receiving.id, status: "disabled", health: { disabledReason: "gone" } }]);
    await receiving.stop();
  });

  test("--secret verifies deliveries for an endpoint registered elsewhere, and reports a wrong signature", async () => {
    const bench = await open();
    const { body: other } = await bench.call("POST", "/v1/webhooks", { body: { url: "http://localhost:3000/", events: ["a.b"] } });
    const receiving = await receive(bench, "--secret", other.secret);
    const url = /at (\S+),/.exec(receiving.out[0] ?? "")?.[1] ?? "";
    expect(await endpoints(bench)).toHaveLength(1);
    await bench.call("POST", "/v1/webhooks", { body: { url, events: ["c.d"] } });
    await trigger(bench, "c.d");
    expect(await receiving.line((line) => line.includes("SIGNATURE"))).toMatch(
      /^SIGNATURE WRONG, answering 401: \d+ bytes that are not shown$/,
    );
    await settle(bench);
    await receiving.stop();
  });

  test("prints nothing of an unsigned request, which does not use up --fail", async () => {
    const bench = await open();
    const receiving = await receive(bench, "--fail", "1");
    const [{ url }] = await endpoints(bench);
    const unsigned: Record<string, string>[] = [{}, { "X-Webhook-Signature": "0".repeat(64), "X-Webhook-Event": "forged" }];
    for (const headers of unsigned) {
      attempted("Forged webhooks to `receive`");
      const posted = await fetch(url, { method: "POST", body: "forged\nforged", headers });
      expect(posted.status).toBe(401);
    }
    await trigger(bench);
    await settle(bench);
    expect(await attempts(bench)).toEqual([[1, "failed", 500]]);
    expect(receiving.out.slice(1, 3)).toEqual([
      "NO SIGNATURE, answering 401: 13 bytes that are not shown",
      "SIGNATURE WRONG, answering 401: 13 bytes that are not shown",
    ]);
    expect(receiving.out.filter((line) => line.includes("forged"))).toEqual([]);
    await receiving.stop();
  });

  test("reads at most a mebibyte, and rejects web pages and other hosts", async () => {
    const bench = await open();
    const receiving = await receive(bench);
    const [{ url }] = await endpoints(bench);
    const post = (options: CallOptions) => call(url, "POST", "/", { key: null, ...options });
    attempted("Forged webhooks to `receive`", 3);
    const large = "x".repeat(8 * 1_048_576);
    expect((await post({ body: large, chunked: 65_536 })).status).toBe(413);
    expect(await receiving.line((line) => line.startsWith("Refused"))).toBe("Refused a request of more than 1048576 bytes, answering 413");
    expect((await post({ body: "{}", headers: { host: "evil.example" } })).status).toBe(403);
    expect((await post({ body: "{}", headers: { origin: "http://evil.example" } })).status).toBe(403);
    await receiving.line((line) => line.includes("from a web page of http://evil.example, answering 403"));
    await receiving.stop();
  });

  test("--accept-unsigned logs what it cannot verify, through a tunnel too, but nothing of a web page", async () => {
    const folder = mkdtempSync(join(tmpdir(), "receive-"));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    const file = join(folder, "received.jsonl");
    const receiving = await receive(await open(), "--accept-unsigned", "--log", file);
    const url = /at (\S+),/.exec(receiving.out[0] ?? "")?.[1] ?? "";
    const body = '{"id":"evt_1","type":"payment.succeeded","data":{}}';
    const post = (headers: Record<string, string>) => call(url, "POST", "/in", { key: "sk_live_mine", body, headers });
    expect((await post({ host: "tunnel.example", "x-webhook-id": "evt_1", "x-webhook-signature": "f00d" })).status).toBe(200);
    expect((await post({ origin: "http://evil.example" })).status).toBe(403);
    const logged = readFileSync(file, "utf8");
    expect(
      logged
        .trim()
        .split("\n")
        .map((line) => JSON.parse(line)),
    ).toEqual([
      expect.objectContaining({
        method: "POST",
        url: "/in",
        body,
        status: 200,
        headers: expect.objectContaining({ "x-webhook-id": "evt_1" }),
      }),
    ]);
    expect(logged).not.toContain("sk_live_");
    expect(readWebhooks(logged, "received.jsonl")).toMatchObject([{ entry: "received.jsonl#1", text: body, status: 200 }]);
    expect(statSync(file).mode & 0o777).toBe(0o600);
    await receiving.stop();
  });

  test("passes the audit: rejects forged and unreadable deliveries", async () => {
    const bench = await open();
    const receiving = await receive(bench);
    const [{ url }] = await endpoints(bench);
    expect((await command(bench, "audit", url)).code).toBe(0);
    await receiving.stop();
  });

  test("prints untrusted text without its escapes", async () => {
    const bench = await open();
    const receiving = await receive(bench);
    await trigger(bench, "a.b", { text: "\u001b[2J\u202e" });
    const shown = await receiving.line((line) => line.startsWith("  {"));
    expect(shown).toContain("\\u001b[2J");
    for (const hidden of ["\u001b", "\u202e"]) expect(shown).not.toContain(hidden);
    await settle(bench);
    await receiving.stop();
  });

  test("exits cleanly when the sandbox stopped first", async () => {
    const bench = await open();
    const receiving = await receive(bench);
    await bench.close();
    await receiving.stop();
  });

  test("rejects a port in use, and exits", async () => {
    const bench = await open();
    const server = createServer();
    onTestFinished(() => void server.close());
    await new Promise<void>((resolve) => server.listen(0, "localhost", resolve));
    const { port } = server.address() as AddressInfo;
    const ended = await command(bench, "receive", "--port", String(port));
    expect([ended.code, ended.error]).toEqual([5, expect.stringContaining("Choose another with --port <n>.")]);
    expect(await endpoints(bench)).toEqual([]);
  });
});

describe("trigger", () => {
  test("makes the record of an event, whose id can be fetched", async () => {
    const bench = await open();
    await bench.call("POST", "/v1/webhooks", { body: { url: "http://localhost:3000/", events: ["payment.succeeded"] } });
    const [line] = await lines(bench, "trigger", "payment.succeeded", "--data", '{"amount": 7}');
    const [event] = (await bench.control("GET", "/events?type=payment.succeeded")).data;
    const { id } = event.body.data;
    expect(line).toBe(`${event.id} payment.succeeded of ${id}: queued for 1 endpoint`);
    expect(await bench.control("GET", `/records/payment/${id}`)).toMatchObject({ id, amount: 7, status: "succeeded" });
  });

  test("--synthetic sends an event of any data without a record", async () => {
    const bench = await open();
    const [line] = await lines(bench, "trigger", "payment.succeeded", "--synthetic", "--data", '{"amount": 7}', "--for", "mer_stage");
    const [event] = (await bench.control("GET", "/events")).data;
    expect(line).toBe(`${event.id} payment.succeeded: no endpoint of mer_stage subscribed to it`);
    expect(event).toMatchObject({ type: "payment.succeeded", merchant: "mer_stage", body: { data: { amount: 7 }, livemode: false } });
  });

  test("sends a type that the service never sends only with --synthetic", async () => {
    const bench = await open();
    expect(await command(bench, "trigger", "paymet.succeeded")).toMatchObject({
      code: 2,
      error:
        "merchant-sandbox: The service sends no event paymet.succeeded. Did you mean payment.succeeded? Add --synthetic to send it all the same.\n",
    });
    const { code, out } = await command(bench, "trigger", "paymet.succeeded", "--synthetic");
    expect(code).toBe(0);
    expect(out).toEqual([expect.stringMatching(/^evt_\w+ paymet\.succeeded: no endpoint of mer_lodge subscribed to it$/)]);
  });
});

describe("deliveries and replay", () => {
  test("list the newest attempts as lines or JSON, and deliver again", async () => {
    const bench = await open();
    expect(await lines(bench, "deliveries")).toEqual([expect.stringMatching(/^No deliveries yet\. Try merchant-sandbox receive/)]);
    expect(await lines(bench, "deliveries", "--json")).toEqual([]);
    const receiving = await receive(bench, "--fail", "1");
    const event = await trigger(bench, "a.b");
    await advance(bench, "1s");
    const [second, first] = await lines(bench, "deliveries");
    expect(first).toMatch(new RegExp(`^whd_\\w+ a\\.b ${event} http://localhost:\\d+/ attempt 1/6 failed 500$`));
    expect(second).toMatch(new RegExp(`^whd_\\w+ a\\.b ${event} http://localhost:\\d+/ attempt 2/6 succeeded 200$`));
    expect(await lines(bench, "deliveries", "--status", "failed")).toEqual([first]);
    expect(await lines(bench, "deliveries", "--limit", "1")).toEqual([second]);
    expect(await lines(bench, "deliveries", "--for", "lodge", "--limit", "1")).toEqual([second]);
    expect(await lines(bench, "deliveries", "--for", "market", "--json")).toEqual([]);
    const [json] = await lines(bench, "deliveries", "--json", "--limit", "1");
    expect(JSON.parse(json ?? "")).toMatchObject({ eventId: event, attempt: 2, status: "succeeded" });

    const attempt = first?.split(" ")[0] ?? "";
    for (const id of [attempt, event]) {
      const [said] = await lines(bench, "replay", id);
      expect(said).toMatch(/^Delivering again as whd_\w+\.$/);
      await settle(bench);
      const [newest] = await lines(bench, "deliveries", "--limit", "1");
      expect(newest).toContain(`${said?.slice("Delivering again as ".length, -1)} a.b ${event}`);
    }
    expect(receiving.out.filter((line) => line.startsWith(`a.b ${event}`))).toHaveLength(4);
    await receiving.stop();
    expect(await lines(bench, "replay", event)).toEqual(["No endpoint is subscribed to its type."]);
  });
});

describe("reset and clock", () => {
  test("reset everything, or one merchant by id or key", async () => {
    const bench = await open();
    const make = () =>
      Promise.all(["mer_lodge", "mer_market"].map((merchant) => bench.control("POST", "/records/customer", { merchant, id: "cus_new" })));
    const left = async () => {
      const answers = ["sk_test_lodge", "sk_test_market"].map((key) => bench.call("GET", "/v1/customers/cus_new", { key }));
      return (await Promise.all(answers)).map(({ status }) => status);
    };
    await make();
    expect(await lines(bench, "reset", "lodge")).toEqual(["Reset mer_lodge to the fixtures."]);
    expect(await left()).toEqual([404, 200]);
    expect(await lines(bench, "reset", "mer_market")).toEqual(["Reset mer_market to the fixtures."]);
    expect(await left()).toEqual([404, 404]);
    await make();
    expect(await lines(bench, "reset")).toEqual(["Reset everything to the fixtures."]);
    expect(await left()).toEqual([404, 404]);
  });

  test("show the time, move it, and print the events of an advance", async () => {
    const bench = await open();
    expect(await lines(bench, "clock")).toEqual(["2026-01-05T12:00:00.000Z (frozen)"]);
    const receiving = await receive(bench, "--fail", "1");
    const event = await trigger(bench, "a.b");
    await settle(bench);
    const played = await lines(bench, "clock", "advance", "1s");
    expect(played).toEqual([
      expect.stringMatching(new RegExp(`^2026-01-05T12:00:01\\.000Z whd_\\w+ a\\.b ${event} succeeded$`)),
      "2026-01-05T12:00:01.000Z (frozen)",
    ]);
    await receiving.stop();
    expect(await lines(bench, "clock", "freeze", "2026-03-01")).toEqual(["2026-03-01T00:00:00.000Z (frozen)"]);
    expect(await lines(bench, "clock", "freeze")).toEqual(["2026-03-01T00:00:00.000Z (frozen)"]);
    expect((await lines(bench, "clock", "set", "2030-01-01T00:00:00Z"))[0]).toMatch(/^2030-01-01T00:0\d:\d\d\.\d{3}Z \(offset\)$/);
    expect((await lines(bench, "clock", "real"))[0]).toMatch(/ \(real\)$/);
    expect((await bench.control("GET", "/clock")).unix).not.toBe(NOON_SECONDS);
  });
});

describe("fault", () => {
  test("adds, lists, removes and clears rules", async () => {
    const bench = await open();
    expect(await lines(bench, "fault")).toEqual([expect.stringContaining("No fault rules.")]);
    const [added = ""] = await lines(bench, "fault", "add", "429", "payments.list", "--times", "3", "--retry-after", "2");
    expect(added).toMatch(/^flt_\w+ rate_limit retryAfter=2 operation=payments\.list: armed, seen 0, fired 0, 3 left$/);
    expect((await bench.call("GET", "/v1/payments")).headers["retry-after"]).toBe("2");
    expect((await lines(bench, "fault", "ls")).join()).toContain("armed, seen 1, fired 1, 2 left");
    expect((await lines(bench, "fault", "rm", added.split(" ")[0] ?? "")).join()).toContain("removed");
    await lines(bench, "fault", "add", "outage", "--for", "30s");
    expect(await lines(bench, "fault", "clear")).toEqual(["Removed 1 fault rule."]);
    expect((await command(bench, "fault", "add", "outag")).error).toMatch(/Did you mean outage/);
  });
});

describe("traffic", () => {
  const traffic = (bench: Bench, ...words: string[]) => command(bench, "traffic", ...words);

  test("starts, shows and stops", async () => {
    const bench = await open();
    expect((await traffic(bench)).out).toEqual(["No traffic. Try merchant-sandbox traffic start --rate 2/s --for 1m."]);
    const started = await traffic(
      bench,
      "start",
      "--rate",
      "1/s",
      "--for",
      "1m",
      "--mix",
      "customer=1,payment=0",
      "--merchant",
      "mer_stage",
    );
    expect(started).toMatchObject({ code: 0, error: "", out: ["mer_stage 1/s for 1m: running, 0 happened"] });
    await advance(bench, "10s");
    expect((await traffic(bench, "status")).out).toEqual(["mer_stage 1/s for 1m: running, 10 happened (customer 10)"]);
    const [line = ""] = (await traffic(bench, "stop", "--merchant", "mer_stage", "--json")).out;
    expect(JSON.parse(line)).toMatchObject({ merchant: "mer_stage", status: "stopped", happened: 10 });
  });

  test("explains invalid arguments", async () => {
    const bench = await open();
    expect(await traffic(bench, "begin")).toMatchObject({ code: 2, error: expect.stringContaining("It has start, stop, status") });
    expect(await traffic(bench, "start", "--mix", "payment")).toMatchObject({ code: 2, error: expect.stringContaining("payment=3") });
    expect(await traffic(bench, "start", "--mix", "paymant=1")).toMatchObject({
      code: 2,
      error: expect.stringContaining("Did you mean payment?"),
    });
  });
});

describe("is rejected", () => {
  const wrong: [words: string[], code: number, says: string][] = [
    [["receive", "--port", "70000"], 2, "--port takes a whole number from 0 to 65535"],
    [["receive", "--status", "99"], 2, "--status takes a whole number from 200 to 599"],
    [["receive", "--fail", "some"], 2, '--fail takes a whole number from 0 to 99999; received "some"'],
    [["receive", "--slow", "down"], 2, '--slow: "down" is not a duration'],
    [["receive", "--port", "0", "--for", "nobody"], 2, "There is no merchant nobody. There are mer_lodge, "],
    [["receive", "--port", "0", "--events", "Not A Type"], 2, "merchant-sandbox: The service sends no event Not A Type."],
    [["receive", "--sceret", "x"], 2, "Did you mean --secret?"],
    [["receive", "here"], 2, 'Unexpected argument "here"'],
    [["trigger"], 2, "merchant-sandbox trigger payment.succeeded"],
    [["trigger", "payout.paid", "--data", "{"], 2, "--data is not JSON"],
    [["trigger", "a.b", "c.d"], 2, 'Unexpected argument "c.d"'],
    [["trigger", "Payment Succeeded"], 2, "merchant-sandbox: The service sends no event Payment Succeeded."],
    [["deliveries", "all"], 2, 'Unexpected argument "all"'],
    [["deliveries", "--limit", "0"], 2, "merchant-sandbox: --limit must be at least 1"],
    [["deliveries", "--status", "lost"], 2, "merchant-sandbox: --status must be"],
    [["deliveries", "--limit"], 2, "--limit needs a value"],
    [["replay"], 2, "<id> is missing, as in merchant-sandbox replay <id>."],
    [["replay", "pay_001"], 2, 'replay takes the id of an attempt (whd_…) or of an event (evt_…); received "pay_001".'],
    [["replay", "evt_none"], 2, "merchant-sandbox: There is no event evt_none"],
    [["reset", "nobody"], 2, "no merchant nobody"],
    [["clock", "advance"], 2, "clock advance 1h"],
    [["clock", "advance", "soon"], 2, 'merchant-sandbox: <duration> must be a span such as 30s, 5m or 24h; received "soon".'],
    [["clock", "advnace", "1h"], 2, "Did you mean advance?"],
    [["fault", "rm", "flt_none"], 2, "There is no fault rule flt_none. None is armed."],
    [["scenario", "start", "lost-respons"], 2, "merchant-sandbox: There is no scenario lost-respons"],
    [["clock", "set"], 2, "clock set 2026-01-05T09:00:00Z"],
  ];

  test.each(wrong)("%j with exit code %i", async (words, code, says) => {
    const bench = await open();
    const ended = await command(bench, ...words);
    expect([ended.code, ended.out], ended.error).toEqual([code, []]);
    expect(ended.error).toContain(says);
    expect(ended.error).toMatch(/^merchant-sandbox: [^\n]+\n$/);
    expect(await endpoints(bench)).toEqual([]);
  });

  const everyCommand = [["receive", "--port", "0"], ["trigger", "payout.paid"], ["deliveries"], ["replay", "evt_x"], ["reset"], ["clock"]];
  test.each(everyCommand.map((words) => [words]))("%j where no sandbox is", async (words) => {
    const bench = await open();
    await bench.close();
    const ended = await command(bench, ...words);
    expect([ended.code, ended.out]).toEqual([1, []]);
    expect(ended.error).toBe(
      `merchant-sandbox: No sandbox answers at ${bench.url} (connect ECONNREFUSED 127.0.0.1:${bench.port}). ` +
        "Start one with merchant-sandbox, or name another one with --url <url>.\n",
    );
  });

  test("without the token that the sandbox requires", async () => {
    const bench = await open({ controlToken: "open-sesame" });
    const ended = await command(bench, "clock");
    expect([ended.code, ended.error]).toEqual([1, expect.stringContaining("requires its control token: add --control-token <token>")]);
    expect(await lines(bench, "clock", "--control-token", "open-sesame")).toEqual(["2026-01-05T12:00:00.000Z (frozen)"]);
    expect(await lines(bench, "clock", "--control-token", "open-sesame", "--url", `${bench.url}/v1/`)).toHaveLength(1);
  });
});
