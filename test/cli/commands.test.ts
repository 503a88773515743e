// Runs the commands for a running sandbox in this process, and checks their effects, output and errors.

import { spawnSync } from "node:child_process";
import { copyFileSync, readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";
import { afterEach, describe, expect, test, vi } from "vitest";
import { happenedLines } from "../../src/cli/commands/clock.ts";
import { readGithubFile } from "../support/github-files.ts";
import { folder, launchCommand, linesOf, runCommand } from "../support/program.ts";
import { type Bench, listen, NOON_SECONDS, open } from "../support/sandbox.ts";
import { advance, deliver, openRegistered, receive, register, settle, trigger } from "../support/webhooks.ts";

test("trigger names endpoints that came with a snapshot: they get nothing until replay waiting", async () => {
  const receiver = await receive();
  const before = await open();
  await register(before, receiver.url);
  const { file } = await before.control("PUT", "/snapshots/shared");
  const snapshot = join(folder(), "shared.db");
  copyFileSync(file, snapshot);
  await before.close();
  const bench = await open({ memory: false, db: join(folder(), "data.db"), snapshot });
  const held = await runCommand(bench.url, "trigger", "booking.declined");
  expect([held.code, held.out[0]]).toEqual([0, expect.stringContaining("queued for 1 endpoint")]);
  expect(held.error).toContain(`Nothing is sent to ${receiver.url} until you run npx merchant-sandbox replay waiting.`);
  await linesOf(bench, "replay", "waiting");
  await receiver.arrived(1);
  expect((await runCommand(bench.url, "trigger", "booking.declined")).error).toBe("");
});

test("requests --trace adds events and attempts to the requests, unless there is another filter", async () => {
  const { bench } = await openRegistered();
  const trace = "4bf92f3577b34da6a3ce929d0e0e4736";
  const headers = { traceparent: `00-${trace}-00f067aa0ba902b7-01` };
  await bench.call("POST", "/v1/hospitality/bookings/bkg_pending/decline", { body: {}, headers });
  await settle(bench);
  expect(await linesOf(bench, "requests", "--trace", trace)).toEqual([
    "request req_lodge_2  POST /v1/hospitality/bookings/bkg_pending/decline  200 bkg_pending declined",
    expect.stringMatching(/^ {2}event evt_\w+ {2}booking\.declined {2}1 succeeded$/),
    expect.stringMatching(/^ {4}delivery whd_\w+ {2}attempt 1 of 6 to http\S+ {2}200$/),
  ]);
  const { steps } = await bench.traces.get({ id: trace });
  const objects = await linesOf(bench, "requests", "--trace", trace.toUpperCase(), "--json");
  expect(objects.map((line) => JSON.parse(line))).toEqual(steps);
  expect(await linesOf(bench, "requests", "--trace", trace, "--status", "2xx")).toEqual([
    expect.stringMatching(/ POST \/v1\/hospitality\/bookings\/bkg_pending\/decline 200 .* req_lodge_2$/),
  ]);
  expect(await linesOf(bench, "requests", "--trace", "f".repeat(32))).toEqual([
    `No requests match --trace ${"f".repeat(32)}. Without this filter there are 2.`,
  ]);
  const refused = await runCommand(bench.url, "requests", "--trace", "4bf9");
  expect([refused.code, refused.error]).toEqual([2, expect.stringContaining("--trace must be a trace id")]);
});

describe("an empty list", () => {
  test("names each filter value that does not exist", async () => {
    const { bench, id } = await openRegistered();
    await deliver(bench);
    const typo = `we_x${id.slice(4)}`;
    expect(await linesOf(bench, "deliveries", "--type", "payment.suceeded", "--endpoint", typo)).toEqual([
      `There is no endpoint ${typo}. Did you mean ${id}? The service never sends payment.suceeded. ` +
        "Did you mean payment.succeeded? Only a test event can have this type. Without these filters there is 1.",
    ]);
    expect(await linesOf(bench, "deliveries", "--request", "req_lodge_99")).toEqual([
      expect.stringMatching(/^The log has no request req_lodge_99\. .* Without this filter there is 1\.$/),
    ]);
    const { out, error } = await runCommand(bench.url, "events", "--type", "payment.suceeded", "--json");
    expect([out, error]).toEqual([[], expect.stringContaining("Did you mean payment.succeeded?")]);
  });

  test("says how many rows there are without the filters", async () => {
    const { bench } = await openRegistered();
    await deliver(bench);
    const empty = async (...args: string[]) => (await linesOf(bench, ...args)).join();
    expect(await empty("requests", "--status", "418", "--merchant", "lodge")).toBe(
      "No requests match --merchant lodge --status 418. Without these filters there are 2.",
    );
    expect(await empty("events", "--merchant", "stage")).toBe(
      "No events match --merchant stage. Without this filter there is 1.",
    );
    expect(await empty("deliveries", "--filter", "status:418 is:fault")).toBe(
      'No deliveries match --filter "status:418 is:fault". Without this filter there is 1.',
    );
    expect(await empty("endpoints", "--merchant", "stage")).toBe(
      "No endpoints match --merchant stage. Without this filter there is 1.",
    );
    expect(await empty("verdicts", "--rule", "effect.single")).toBe(
      "No verdicts match --rule effect.single. Without this filter there are 2.",
    );
    const idle = await open();
    expect((await linesOf(idle, "verdicts", "--rule", "effect.single")).join()).toMatch(/^No verdicts yet\. /);
  });

  test("is not printed for a removed merchant, whose rows are still listed by its id or name", async () => {
    const bench = await open();
    const { id: merchant, apiKey } = await bench.merchants.add();
    await bench.call("GET", "/v1/payments", { key: apiKey });
    await bench.call("POST", "/v1/webhooks", { key: apiKey, body: { url: (await receive()).url, events: ["*"] } });
    await deliver(bench, "payment.succeeded", { amount: 1 }, apiKey);
    await bench.merchants.remove({ id: merchant });
    for (const list of ["requests", "events", "deliveries", "verdicts"])
      for (const name of [merchant, merchant.slice("mer_".length)])
        expect((await linesOf(bench, list, "--merchant", name)).join(), list).not.toMatch(/^No /);
    const { code, error } = await runCommand(bench.url, "requests", "--merchant", `${merchant}0`);
    expect([code, error]).toEqual([2, expect.stringContaining(`There is no merchant ${merchant}0.`)]);
  });

  test("of deliveries says how many wait for their first attempt", async () => {
    const { bench } = await openRegistered();
    await bench.control("POST", "/faults", { action: { type: "delay", by: "1h" } });
    await trigger(bench);
    expect(await linesOf(bench, "deliveries")).toEqual(["No attempts yet; 1 waiting for the first one."]);
  });

  test("of requests is an error if the operation does not exist", async () => {
    const bench = await open();
    const { code, error } = await runCommand(bench.url, "requests", "--operation", "payment.list");
    expect([code, error]).toEqual([
      2,
      expect.stringContaining("There is no operation payment.list. Did you mean payments.list?"),
    ]);
  });
});

describe("trigger", () => {
  test("creates a record that emits the event", async () => {
    const bench = await open();
    await bench.call("POST", "/v1/webhooks", {
      body: { url: "http://localhost:3000/", events: ["payment.succeeded"] },
    });
    const [line, ...others] = await linesOf(bench, "trigger", "payment.succeeded", "--data", '{"amount": 7}');
    const [event, before] = (await bench.control("GET", "/events")).data;
    expect(others).toEqual([`  on the way: ${before.id} payment.pending`]);
    const { id } = event.body.data;
    expect(line).toBe(`${event.id} payment.succeeded of ${id}: queued for 1 endpoint`);
    expect(await bench.control("GET", `/records/payment/${id}`)).toMatchObject({ id, amount: 7, status: "succeeded" });
  });

  test("--synthetic sends an event with any data, without a record", async () => {
    const bench = await open();
    const [line] = await linesOf(
      bench,
      "trigger",
      "payment.succeeded",
      "--synthetic",
      "--data",
      '{"amount": 7}',
      "--merchant",
      "mer_stage",
    );
    const [event] = (await bench.control("GET", "/events")).data;
    expect(line).toBe(`${event.id} payment.succeeded: no endpoint of mer_stage is subscribed to it`);
    expect(event).toMatchObject({
      type: "payment.succeeded",
      merchant: "mer_stage",
      body: { data: { amount: 7 }, livemode: false },
    });
  });

  test("requires --synthetic for a type that the service never sends", async () => {
    const bench = await open();
    expect(await runCommand(bench.url, "trigger", "paymet.succeeded")).toMatchObject({
      code: 2,
      error:
        "The service sends no event paymet.succeeded. Did you mean payment.succeeded? " +
        "Add --synthetic to send it anyway.",
    });
    const { code, out } = await runCommand(bench.url, "trigger", "paymet.succeeded", "--synthetic");
    expect(code).toBe(0);
    expect(out).toEqual([
      expect.stringMatching(/^evt_\w+ paymet\.succeeded: no endpoint of mer_lodge is subscribed to it$/),
    ]);
  });
});

describe("deliveries and replay", () => {
  test("list the newest attempts as lines or JSON, and replay an attempt or an event", async () => {
    const bench = await open();
    expect(await linesOf(bench, "deliveries")).toEqual([
      expect.stringMatching(/^No deliveries yet\. Try npx merchant-sandbox receive/),
    ]);
    expect(await linesOf(bench, "deliveries", "--json")).toEqual([]);
    const receiver = await receive("localhost");
    const { id: endpoint } = await register(bench, receiver.url);
    receiver.script(500);
    const event = await trigger(bench, "a.b");
    await advance(bench, "1s");
    const [second, first] = await linesOf(bench, "deliveries");
    const line = (rest: string) =>
      new RegExp(`^2026-01-05T\\S+ delivery of a\\.b ${event} to http://localhost:\\d+/hooks ${rest}`);
    expect(first).toMatch(line("1/6 500 .*ms mer_lodge whd_\\w+ next at 2026-01-05T12:00:01"));
    expect(second).toMatch(line("2/6 200 .*ms mer_lodge whd_\\w+ delivered$"));
    expect(await linesOf(bench, "deliveries", "--status", "failed")).toEqual([first]);
    const attempt = /whd_\w+/.exec(first ?? "")?.[0] ?? "";
    const newer = /whd_\w+/.exec(second ?? "")?.[0] ?? "";
    for (const filter of [[], ["--merchant", "lodge"]])
      expect(await linesOf(bench, "deliveries", ...filter, "--limit", "1")).toEqual([
        second,
        `Older ones: add --starting-after ${newer}.`,
      ]);
    expect(await linesOf(bench, "deliveries", "--starting-after", newer)).toEqual([first]);
    expect(await linesOf(bench, "deliveries", "--merchant", "market", "--json")).toEqual([]);
    const [json] = await linesOf(bench, "deliveries", "--json", "--limit", "1");
    expect(JSON.parse(json ?? "")).toMatchObject({ eventId: event, attempt: 2, status: "succeeded" });

    for (const id of [attempt, event]) {
      const [said] = await linesOf(bench, "replay", id);
      expect(said).toMatch(/^Delivering again as whd_\w+\.$/);
      await settle(bench);
      const [newest] = await linesOf(bench, "deliveries", "--limit", "1");
      expect(newest).toContain(said?.slice("Delivering again as ".length, -1));
    }
    expect(receiver.arrivals).toHaveLength(4);
    await bench.call("DELETE", `/v1/webhooks/${endpoint}`);
    expect(await linesOf(bench, "replay", event)).toEqual(["No endpoint is subscribed to its type."]);
  });
});

/** Registers an endpoint, and sends a write twice without an Idempotency-Key, because the first response is lost. */
async function lostWrite(bench: Bench) {
  const receiver = await receive();
  const { id: endpoint, secret } = await register(bench, receiver.url);
  await linesOf(bench, "fault", "add", "lost-response", "pricing_rules.create");
  const body = '{"name": "Mid\'s",\n"adjustmentType": "percentage", "adjustmentValue": 1500}';
  const write = () => bench.call("POST", "/v1/hospitality/pricing-rules", { body });
  await write().catch(() => undefined);
  await write();
  await settle(bench);
  const { data } = await bench.control("GET", "/requests?operation=pricing_rules.create");
  return { endpoint, secret, body, ids: data.map(({ id }: { id: string }) => id) as [string, string] };
}

describe("verdicts", () => {
  test("names the faults that have not fired yet if nothing failed", async () => {
    const bench = await open();
    const { id } = await bench.control("POST", "/faults", {
      match: { operation: "payments.list" },
      action: { type: "status", status: 503 },
    });
    const armed = `${id} is armed and has not fired yet.`;
    expect(await linesOf(bench, "verdicts", "--failed")).toEqual([`No failures. ${armed}`]);
    expect(await linesOf(bench, "verdicts")).toEqual([`No verdicts. ${armed}`]);
    await bench.call("GET", "/v1/payments");
    expect((await linesOf(bench, "verdicts", "--failed")).join()).not.toContain("armed");
  });

  test("names the delivery of a verdict only once", async () => {
    const { bench, receiver } = await openRegistered();
    receiver.script(401);
    await deliver(bench);
    const [line = ""] = await linesOf(bench, "verdicts", "--rule", "webhook.genuine_taken");
    expect(line).toMatch(
      / verdict fail webhook\.genuine_taken mer_lodge vdt_\d+ whd_\w+ \(\S+\) had a valid signature/,
    );
    expect(line.match(/whd_/g)).toHaveLength(1);
  });
});

describe("details", () => {
  test("of a delivery begin with its result and verdict, and end with a line for each attempt", async () => {
    const { bench, receiver } = await openRegistered();
    receiver.script(401);
    await deliver(bench);
    await advance(bench, "1s");
    await settle(bench);
    const [second = "", first = ""] = await linesOf(bench, "deliveries");
    const id = /whd_\w+/.exec(first)?.[0] ?? "";
    const details = await linesOf(bench, "deliveries", id);
    expect(details.slice(0, 5)).toEqual([
      `id: ${id}`,
      "status: failed",
      "responseStatus: 401",
      "errorMessage: The receiver answered 401; only 2xx accepts a delivery.",
      "verdicts:",
    ]);
    expect(details[5]).toMatch(
      /^ {2}- fail webhook\.genuine_taken, id vdt_\d+, message .*, hint Check the secret first: /,
    );
    expect(details.slice(-3)).toEqual(["attempts:", `  - ${second}`, `  - ${first}`]);
    expect(details.filter((line) => line.startsWith("status:"))).toHaveLength(1);
    const [json = ""] = await linesOf(bench, "deliveries", id, "--json");
    expect(JSON.parse(json)).toMatchObject({ id, eventType: "payment.succeeded", attempts: [second, first] });
    const event = /evt_\w+/.exec(first)?.[0] ?? "";
    expect((await linesOf(bench, "events", event)).slice(-3)).toEqual(["attempts:", `  - ${second}`, `  - ${first}`]);
  });

  const ids = { requests: "req_1", events: "evt_1", deliveries: "whd_1", verdicts: "vdt_1", endpoints: "we_1" };
  const pairs = Object.keys(ids).flatMap((command) => Object.entries(ids).map((other) => [command, ...other] as const));

  test.each(pairs)(
    "%s rejects an unknown id of %s, %s, and names the right command if it is another one",
    async (command, group, id) => {
      const bench = await open();
      const { code, error } = await runCommand(bench.url, command, id);
      const isOwn = command === group;
      expect(code).toBe(2);
      expect(error.includes(`Show it with npx merchant-sandbox ${group} ${id}.`)).toBe(!isOwn);
      expect(error.startsWith(`${id} is the id of a`)).toBe(!isOwn);
    },
  );
});

describe("verify", () => {
  test.each([
    ['{"requests":1}', "requests must be an object; received 1."],
    ['{"requests":{"match":{"operation":"a"},"cont":1}}', "Unknown field requests.cont. Did you mean count?"],
    [
      '{"requests":{"match":{"operation":1},"count":3}}',
      "requests.match.operation matches none of the shapes that are allowed; received 1.\n" +
        "requests.count must be an object; received 3.",
    ],
    ['{"requests":{"match":{"operation":"a"}}}', "requests.match.operation: there is no operation a."],
  ])("names the wrong fields of a JSON expectation: %s", async (text, problem) => {
    const { url } = await open();
    const { code, error } = await runCommand(url, "verify", text);
    expect([code, error]).toEqual([2, expect.stringContaining(`${text}: ${problem}`)]);
  });

  test("accepts the JSON expectation that its help shows", async () => {
    const bench = await open();
    const help = await linesOf(bench, "verify", "--help");
    const example = /'(\{.*\})'/.exec(help.find((line) => line.includes('{"requests"')) ?? "")?.[1] ?? "";
    expect(await runCommand(bench.url, "verify", example)).toMatchObject({ code: 3 });
  });
});

describe("lists", () => {
  test("lead from a failed verdict to its requests, and print a request as curl", async () => {
    const bench = await open();
    const { ids, body } = await lostWrite(bench);
    const [later, earlier] = ids;
    const failed = await linesOf(bench, "verdicts", "--failed");
    expect(failed).toEqual((await linesOf(bench, "verdicts")).filter((line) => line.includes(" verdict fail ")));
    expect(failed.join("\n")).toContain(`${earlier},${later}: ${earlier} took effect, but its response was lost`);
    const verdict = /vdt_\d+/.exec(failed.find((line) => line.includes("idempotency.present")) ?? "")?.[0] ?? "";
    expect(await linesOf(bench, "verdicts", verdict)).toEqual(
      expect.arrayContaining([`requests: ${earlier}, ${later}`, expect.stringMatching(/^hint: Create one key/)]),
    );
    const [line = ""] = await linesOf(bench, "requests", "--limit", "1");
    expect(line).toMatch(
      new RegExp(`^2026-01-05T12:00:00\\.000Z POST /v1/hospitality/pricing-rules 200 .* mer_lodge ${later}$`),
    );
    expect((await linesOf(bench, "requests", "--filter", "is:fault")).join("\n")).toMatch(
      new RegExp(` no response .* ${earlier} fault flt_`),
    );
    const details = await linesOf(bench, "requests", earlier);
    expect(details).toEqual(
      expect.arrayContaining([`id: ${earlier}`, expect.stringMatching(/^ {2}- fail idempotency\.present, id vdt_/)]),
    );
    expect(details.filter((text) => text.startsWith("status:"))).toEqual([]);
    const curl = await linesOf(bench, "requests", earlier, "--curl");
    expect(curl.join("\n")).toContain(
      `-H 'Authorization: Bearer sk_test_lodge' -H 'Content-Type: application/json' --data-raw`,
    );
    expect(await launchCommand("sh", ["-c", `${curl.join("\n")} -o /dev/null`]).ended).toMatchObject({
      code: 0,
      error: "",
    });
    const [{ id: resent }] = (await bench.control("GET", "/requests?limit=1")).data;
    expect((await bench.control("GET", `/requests/${resent}`)).request.body).toBe(body);
  });

  test("show events and endpoints, and the details of one", async () => {
    const bench = await open();
    const { endpoint, secret, ids } = await lostWrite(bench);
    const events = await linesOf(bench, "events", "--type", "pricing_rule.created");
    expect(events.map((line) => /(req_lodge_\d+) (.*)$/.exec(line)?.slice(1))).toEqual(
      ids.map((id) => [id, "1 succeeded"]),
    );
    const event = /evt_\w+/.exec(events[0] ?? "")?.[0] ?? "";
    expect(await linesOf(bench, "events", event)).toEqual(
      expect.arrayContaining([`request: ${ids[0]}`, "type: pricing_rule.created"]),
    );
    expect(await linesOf(bench, "endpoints")).toEqual([
      expect.stringMatching(new RegExp(`^${endpoint} mer_lodge http:\\S+ \\* healthy$`)),
    ]);
    expect(await linesOf(bench, "endpoints", endpoint)).toEqual(expect.arrayContaining([`secret: ${secret}`]));
    expect(await linesOf(bench, "endpoints", "--merchant", "market", "--json")).toEqual([]);
  });
});

describe("reset and clock", () => {
  test("reset restores everything, or the data of one merchant by its id or short name", async () => {
    const bench = await open();
    const make = () =>
      Promise.all(
        ["mer_lodge", "mer_market"].map((merchant) =>
          bench.control("POST", "/records/customer", { merchant, id: "cus_new" }),
        ),
      );
    const left = async () => {
      const answers = ["sk_test_lodge", "sk_test_market"].map((key) =>
        bench.call("GET", "/v1/customers/cus_new", { key }),
      );
      return (await Promise.all(answers)).map(({ status }) => status);
    };
    await make();
    await bench.control("POST", "/clock/advance", { by: "1h" });
    const ofOne = (id: string) => [
      `Reset the data, faults and verdicts of ${id}; the clock and other merchants are unchanged.`,
    ];
    expect(await linesOf(bench, "reset", "lodge")).toEqual(ofOne("mer_lodge"));
    expect(await left()).toEqual([404, 200]);
    expect(await linesOf(bench, "reset", "mer_market")).toEqual(ofOne("mer_market"));
    expect(await left()).toEqual([404, 404]);
    await make();
    expect((await bench.control("GET", "/clock")).now).toBe("2026-01-05T13:00:00.000Z");
    expect(await linesOf(bench, "reset")).toEqual([
      "Reset everything: data, faults, verdicts, and the clock to 2026-01-05T12:00:00.000Z (frozen).",
    ]);
    expect(await left()).toEqual([404, 404]);
  });

  test("clock shows the time, changes it, and prints what happened during an advance", async () => {
    const bench = await open();
    expect(await linesOf(bench, "clock")).toEqual(["2026-01-05T12:00:00.000Z (frozen)"]);
    const receiver = await receive();
    await register(bench, receiver.url);
    receiver.script(500);
    const event = await deliver(bench, "a.b");
    const played = await linesOf(bench, "clock", "advance", "1s");
    expect(played).toEqual([
      expect.stringMatching(new RegExp(`^2026-01-05T12:00:01\\.000Z whd_\\w+ a\\.b ${event} succeeded$`)),
      "2026-01-05T12:00:01.000Z (frozen)",
    ]);
    expect((await linesOf(bench, "clock", "advance", "1ms"))[0]).toBe("Nothing was due.");
    const happened = (await linesOf(bench, "clock", "advance", "30d")).filter((line) => line.includes("  mer_"));
    expect(happened.filter((line) => !/^ {2}\d\d:\d\dZ {2}mer_/.test(line))).toEqual([]);
    expect(await linesOf(bench, "clock", "freeze", "2026-03-01")).toEqual(["2026-03-01T00:00:00.000Z (frozen)"]);
    expect(await linesOf(bench, "clock", "freeze")).toEqual(["2026-03-01T00:00:00.000Z (frozen)"]);
    expect((await linesOf(bench, "clock", "set", "2030-01-01T00:00:00Z"))[0]).toMatch(
      /^2030-01-01T00:0\S+Z, [\d.]+ d .*this machine$/,
    );
    expect((await linesOf(bench, "clock", "real"))[0]).toMatch(/ \(real\)$/);
    expect((await bench.control("GET", "/clock")).unix).not.toBe(NOON_SECONDS);
  });
});

describe("fault", () => {
  test("adds, lists, removes and clears rules", async () => {
    const bench = await open();
    expect(await linesOf(bench, "fault")).toEqual([expect.stringContaining("No fault rules.")]);
    const [added = ""] = await linesOf(
      bench,
      "fault",
      "add",
      "429",
      "payments.list",
      "--times",
      "3",
      "--retry-after",
      "2",
    );
    expect(added).toMatch(
      /^flt_\w+ rate_limit \(retryAfter 2\) on payments\.list, 3 times: armed, affects the next 3 matching calls$/,
    );
    expect((await bench.call("GET", "/v1/payments")).headers["retry-after"]).toBe("2");
    expect((await linesOf(bench, "fault", "ls")).join()).toContain(
      "armed, affects the next 2 matching calls; matched 1, fired 1",
    );
    expect((await linesOf(bench, "fault", "rm", added.split(" ")[0] ?? "")).join()).toContain("removed");
    await linesOf(bench, "fault", "add", "503", "payments.list", "--merchant", "market");
    expect((await bench.faults.list()).data.map(({ match }) => match.merchant)).toEqual(["mer_market"]);
    await bench.faults.clear();
    expect((await linesOf(bench, "fault", "add", "outage", "--for", "30s")).join()).toContain(
      "on all operations, every match, for 30s: armed, affects all matching calls",
    );
    expect(await runCommand(bench.url, "fault", "add", "drop", "payment.*", "paymet.failed")).toMatchObject({
      code: 0,
      out: [expect.stringContaining(" drop on payment.*, paymet.failed, 1 time: armed")],
      error: expect.stringContaining(
        "The service never sends paymet.failed. Did you mean payment.failed? Only a test event can have",
      ),
    });
    expect((await runCommand(bench.url, "fault", "add", "drop", "payments.list")).error).toMatch(
      /The service never sends payments\.list\. It is an operation; these affect calls: status, rate_limit, .*\. Only a test/,
    );
    const noteOn = async (status: string) => (await runCommand(bench.url, "fault", "add", status)).error.split(": ")[1];
    expect([await noteOn("424"), await noteOn("599"), await noteOn("492"), await noteOn("509")]).toEqual([
      undefined,
      "599 is not a registered HTTP status.\n",
      "492 is not a registered HTTP status. Did you mean 429?\n",
      "509 is not a registered HTTP status. Did you mean 409?\n",
    ]);
    for (const line of (await linesOf(bench, "fault", "--json")).slice(1))
      await linesOf(bench, "fault", "rm", JSON.parse(line).id);
    expect(await linesOf(bench, "fault", "clear")).toEqual(["Removed 1 fault rule."]);
  });
});

const wrong: [words: string[], code: number, says: string][] = [
  [["receive", "--port", "70000"], 2, "--port takes a whole number from 0 to 65535"],
  [["receive", "--fail", "some"], 2, '--fail takes a whole number from 0 to 99999; received "some"'],
  [["receive", "--slow", "down"], 2, '--slow: "down" is not a duration'],
  [["receive", "--port", "0", "--merchant", "nobody"], 2, "There is no merchant nobody. There are mer_lodge, "],
  [
    ["receive", "--port", "0", "--events", "Not A Type"],
    2,
    "No event type matches Not A Type. docs/events.md lists all types.",
  ],
  [["receive", "--sceret", "x"], 2, "Did you mean --secret?"],
  [["receive", "--assume", "rate_limit.limit=5"], 2, "--assume goes with --secret"],
  [["trigger"], 2, "<type> is missing. Example: npx merchant-sandbox trigger payment.succeeded"],
  [["trigger", "payout.paid", "--data", "{"], 2, "--data is not JSON"],
  [
    ["deliveries", "all"],
    2,
    "No attempt all is logged. The log keeps the newest 10,000, and all that is pending, until a reset or a restore.",
  ],
  [["requests", "--operation", "payments.list", "--statsu", "429"], 2, "Did you mean --status?"],
  [["requests", "--status", "bad"], 2, "--status must be a status such as 429, or a class such as 4xx"],
  [["events", "evt_none"], 2, "There is no event evt_none."],
  [["verdicts", "vdt_9"], 2, "There is no verdict vdt_9."],
  [["verdicts", "--rule", "retry.bound"], 2, "The judge has no rule retry.bound. Did you mean retry.bounded?"],
  [["deliveries", "--limit", "0"], 2, "--limit must be at least 1"],
  [["deliveries", "--limit"], 2, "--limit needs a value"],
  [["replay"], 2, "<id|waiting> is missing. Example: npx merchant-sandbox replay waiting"],
  [
    ["replay", "pay_001"],
    2,
    'replay takes the id of an attempt (whd_…) or of an event (evt_…), or waiting; received "pay_001".',
  ],
  [["clock", "advance", "soon"], 2, '<duration> must be a duration such as 500ms, 30s or 30d; received "soon".'],
  [["clock", "advance", "40000d"], 2, '<duration> must be at most 36525d; received "40000d".'],
  [["clock", "advnace", "1h"], 2, "Did you mean advance?"],
  [["fault", "rm", "flt_none"], 2, "There is no fault rule flt_none. None is armed."],
  [["clock", "set"], 2, "clock set 2026-01-05T09:00:00Z"],
  [["fault", "add", "503", "paymets.list"], 2, 'There is no operation "paymets.list". Did you mean payments.list?'],
  [
    ["fault", "add", "503", "payments.list", "--times", "many"],
    2,
    '--times must be an integer or null; received "many".',
  ],
  [["fault", "add", "4029"], 2, "There is no status 4029. An action is a status such as 429, or a name"],
  [
    ["fault", "add", "latency=many"],
    2,
    'latency takes a duration such as 600ms or 2s, or a number of milliseconds; received "many".',
  ],
  [["fault", "ls", "--times", "3"], 2, "There is no option --times. See npx merchant-sandbox fault ls --help."],
  [["clock", "advance", "-1h"], 2, "clock advance takes no negative value; received -1h."],
  [["snapshot", "restore", "befor"], 2, "There is no snapshot befor. Save one with npx merchant-sandbox snapshot save"],
  [["listen"], 2, "The URL is missing: npx merchant-sandbox listen --forward-to http://localhost:3000/hooks."],
  [["listen", "--forward-to", "http://example.com/hooks"], 2, "example.com"],
  [
    ["listen", "--forward-to", "localhost/hooks"],
    2,
    "localhost/hooks has no port. Write localhost:3000/hooks, or http://localhost/hooks for port 80.",
  ],
  [
    ["listen", "--merchant", "lodg", "--forward-to", "http://localhost:3000"],
    2,
    "There is no merchant lodg. Did you mean mer_lodge?",
  ],
  [["attach", "nowhere"], 2, 'received "nowhere"'],
  [["env", "--format", "jsno"], 2, "Did you mean json?"],
  [["wait", "--within", "soon"], 2, "--within"],
  [["exec", "--fail-on", "verdict", "--", "true"], 2, 'no condition "verdict". Did you mean verdicts? It takes'],
  [["exec", "--fail-on", "uncovered=payments.lst", "--", "true"], 2, "Did you mean payments.list?"],
  [["exec", "--report", "junt=a.xml", "--", "true"], 2, "Did you mean junit?"],
  [["exec", "--report", "junit", "--", "true"], 2, "--report junit names no file, as in --report junit=report.xml."],
  [["exec", "--report", "pdf=x", "--", "true"], 2, "--report takes <format>=<file>"],
  [["fault", "add", "429", "--retry-after", "soon"], 2, "--retry-after takes seconds, such as 2, or absent,"],
  [["exec"], 2, "The command is missing"],
  [["exec", "--", ""], 2, "The command is missing"],
  [["exec", "--port", "0", "npm", "test", "--coverage"], 2, "npx merchant-sandbox exec --port 0 -- npm test"],
];

/** Commands that take no --url. */
const LOCAL = ["exec", "attach"];

test("a command reports all of its invalid values, one per line", async () => {
  const { url } = await open();
  const rule = ["fault", "add", "503", "paymets.list", "--merchant", "mer_lodg", "--per", "event"];
  const { code, error } = await runCommand(url, ...rule);
  expect([code, error.split("\n")]).toEqual([
    2,
    [
      expect.stringContaining("payments.list?"),
      expect.stringContaining("mer_lodge?"),
      expect.stringContaining("--per must be one of"),
    ],
  ]);
  const many = await runCommand(url, "requests", "--limit", "0", "--status", "9");
  expect(many.error.split("\n")).toEqual([
    expect.stringContaining("--status must"),
    expect.stringContaining("--limit must be at least 1"),
  ]);
});

test.each(wrong)("%j exits with code %i and a message that does not mention the API", async (words, code, says) => {
  const bench = await open();
  const ended = await runCommand(LOCAL.includes(words[0] ?? "") ? undefined : bench.url, ...words);
  expect([ended.code, ended.out, ended.error]).toEqual([code, [], expect.stringContaining(says)]);
  expect(ended.error).not.toMatch(/\n|\/_sandbox|HTTP|PUT |POST |trigger\.|action\./);
  expect((await bench.call("GET", "/v1/webhooks")).body.data).toEqual([]);
});

test("a command names the URL at which no sandbox answers, and says when a sandbox requires its token", async () => {
  const gone = await open();
  await gone.close();
  for (const words of [["receive", "--port", "0"], ["trigger", "payout.paid"], ["clock"]]) {
    const ended = await runCommand(gone.url, ...words);
    expect([ended.code, ended.out]).toEqual([1, []]);
    expect(ended.error).toBe(
      `No sandbox answers at ${gone.url} (connect ECONNREFUSED 127.0.0.1:${gone.port}). ` +
        "Start one with npx merchant-sandbox, or name another one with --url <url>.",
    );
  }
  const bench = await open({ controlToken: "open-sesame" });
  const ended = await runCommand(bench.url, "clock");
  expect([ended.code, ended.error]).toEqual([
    1,
    expect.stringContaining("requires its control token: add --control-token <token>"),
  ]);
  expect((await runCommand(bench.url, "clock", "--control-token", "sesame")).error).toBe(
    "The control token is wrong: give the right one with --control-token <token>, " +
      "or set MERCHANT_SANDBOX_CONTROL_TOKEN.",
  );
  expect(await linesOf(bench, "clock", "--control-token", "open-sesame")).toEqual([
    "2026-01-05T12:00:00.000Z (frozen)",
  ]);
  expect(await linesOf({ url: `${bench.url}/v1/` }, "clock", "--control-token", "open-sesame")).toHaveLength(1);
  expect((await runCommand(bench.url, "attach", "--no-ui")).error).toContain("--control-token");
  expect(await linesOf(bench, "status")).toEqual([`${bench.url} is ready; add --control-token <token> for details.`]);
});

test("status and wait distinguish a ready sandbox, a missing sandbox and another server", async () => {
  const { url } = await open();
  const nobody = "http://127.0.0.1:1";
  const stranger = createServer((_, outgoing) => outgoing.end('{"status":"up"}'));
  const other = `http://127.0.0.1:${await listen(stranger)}`;
  const state =
    `${url} is ready: page ${url}/, version \\S+, process ${process.pid}, ` +
    "in memory, clock at 2026-01-05T12:00:00.000Z \\(frozen\\)";
  expect(await linesOf({ url }, "status")).toEqual([expect.stringMatching(new RegExp(`^${state}`))]);
  expect(await linesOf({ url }, "wait")).toEqual([`Ready at ${url}.`]);
  const gone = await runCommand(nobody, "status", "--json");
  expect([gone.code, JSON.parse(gone.out[0] ?? "")]).toMatchObject([1, { ready: false, pid: null }]);
  for (const [address, why] of [
    [nobody, `No sandbox is ready at ${nobody}: connect ECONNREFUSED`],
    [other, "the server there (status 200) is not a merchant-sandbox"],
  ] as const) {
    expect(await runCommand(address, "wait", "--within", "1ms")).toMatchObject({
      code: 1,
      error: expect.stringContaining(why),
    });
  }
  expect((await runCommand("ftp://here", "wait")).error).toContain('received "ftp://here"');
});

describe("env", () => {
  const token = `it's"$HOME"\`id\`\\%0A#!`;
  const NAMES = ["MERCHANT_BASE_URL", "MERCHANT_API_KEY", "MERCHANT_SANDBOX_URL", "MERCHANT_SANDBOX_CONTROL_TOKEN"];
  const print = `console.log(JSON.stringify(${JSON.stringify(NAMES)}.map((name) => process.env[name])))`;
  const env = ({ url }: Bench, controlToken: string, ...words: string[]) =>
    runCommand(url, "env", "--control-token", controlToken, ...words);
  afterEach(() => void vi.unstubAllEnvs());

  test("prints lines from which a shell gets the exact values, even with special characters in the token", async () => {
    const bench = await open({ controlToken: token });
    const { out } = await env(bench, token, "--merchant", "stage");
    for (const shell of ["sh", "bash"]) {
      const ended = spawnSync(shell, ["-c", `${out.join("\n")}\n'${process.execPath}' -e '${print}'`], {
        encoding: "utf8",
      });
      if (ended.error === undefined)
        expect(JSON.parse(ended.stdout)).toEqual([`${bench.url}/v1`, "sk_test_stage", bench.url, token]);
    }
    const json = await env(bench, token, "--format", "json");
    expect(JSON.parse(json.out.join(""))).toMatchObject({
      MERCHANT_API_KEY: "sk_test_lodge",
      MERCHANT_SANDBOX_CONTROL_TOKEN: token,
    });
  });

  test("--format github appends to GITHUB_ENV and GITHUB_OUTPUT, and masks the token", async () => {
    const bench = await open({ controlToken: token });
    for (const name of ["GITHUB_ENV", "GITHUB_OUTPUT"]) vi.stubEnv(name, "");
    const outside = await env(bench, token, "--format", "github");
    expect([outside.code, outside.error]).toEqual([2, expect.stringContaining("only in a step of GitHub Actions")]);
    const cwd = folder();
    const files = ["GITHUB_ENV", "GITHUB_OUTPUT"].map((name) => join(cwd, name));
    for (const file of files) {
      vi.stubEnv(file.slice(cwd.length + 1), file);
      writeFileSync(file, "BEFORE=1\n");
    }
    const { code, out, error } = await env(bench, token, "--format", "github");
    expect([code, out, error]).toEqual([0, [`::add-mask::${token.replace("%", "%25")}`], ""]);
    for (const file of files) {
      const text = readFileSync(file, "utf8");
      expect(readGithubFile(text)).toEqual({
        BEFORE: "1",
        MERCHANT_BASE_URL: `${bench.url}/v1`,
        MERCHANT_API_KEY: "sk_test_lodge",
        MERCHANT_SANDBOX_URL: bench.url,
        MERCHANT_SANDBOX_CONTROL_TOKEN: token,
      });
      expect(new Set(text.match(/<<end_\w+/g)).size).toBe(4);
    }
  });
});

test("clock advance prints the changes of a day in the order of their times", () => {
  const change = (time: string, kind: string) => {
    const made = { at: `2026-01-05T${time}:00.000Z`, merchant: "mer_lodge", kind, id: "x", from: "a", to: "b" };
    return { ...made, event: null, amount: null, currency: null };
  };
  const lines = happenedLines([change("05:00", "payout"), change("06:00", "booking"), change("08:00", "payout")]);
  expect(lines.slice(1, 4).map((line) => line.trim().slice(0, 6))).toEqual(["05:00Z", "06:00Z", "08:00Z"]);
});
