// The examples of docs/events.md, docs/scenarios.md and docs/testing.md: commands and calls do what the pages say.

import { createHmac } from "node:crypto";
import { appendFileSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { exampleCalls } from "../../scripts/docs/pages.ts";
import { eventTypes } from "../../src/areas/index.ts";
import { Expectation } from "../../src/contracts/expectations.ts";
import { insist, ORDER } from "../support/insist.ts";
import { fences, openShell, readPage, section } from "../support/page.ts";
import { folder, runCommand } from "../support/program.ts";
import { type Bench, open } from "../support/sandbox.ts";
import { type Arrival, openRegistered, receive, register } from "../support/webhooks.ts";

const rows = readPage("docs/events.md")
  .split("\n")
  .flatMap((line): [type: string, commands: string, calls: string][] => {
    const [, type, commands, calls] = /^\| `([a-z_.]+)` \| (.*?) \| (.*?) \|$/.exec(line) ?? [];
    return type === undefined ? [] : [[type, commands as string, calls as string]];
  });
const cells = rows.flatMap(([type, ...row]) => row.filter((cell) => cell !== "").map((cell) => [type, cell] as const));

test("docs/events.md has a row for every type of event", () => {
  expect(rows.map(([type]) => type).sort()).toEqual([...eventTypes].sort());
});

describe("docs/events.md", () => {
  test.each(cells)("%s is sent by %s", async (type, cell) => {
    const bench = await open();
    let id = "";
    for (const step of cell.split("<br>"))
      id = step.startsWith("[") ? await call(bench, step, id) : await command(bench, step, id);
    const [event] = (await bench.control("GET", `/events?limit=1&type=${type}`)).data;
    expect(event).toMatchObject({ type, merchant: "mer_lodge" });
  });
});

/** Runs a command for the record with this id. Returns the id that the command prints. */
async function command(bench: Bench, step: string, id: string): Promise<string> {
  const [, line = ""] = /^`merchant-sandbox ([^`]+)`$/.exec(step) ?? [];
  const { code, out } = await runCommand(bench.url, ...wordsOf(line.replace("<id>", id)));
  expect([step, code]).toEqual([step, 0]);
  return (out[0] ?? "").split(" ")[0] as string;
}

/** The words of a command line; only whole words are quoted. */
const wordsOf = (line: string) =>
  [...line.matchAll(/'([^']*)'|(\S+)/g)].map(([, quoted, plain]) => quoted ?? (plain as string));

/** Makes the example call of the linked operation, for the record with this id if there is one. */
async function call(bench: Bench, step: string, id: string): Promise<string> {
  const [, method = "", path = "", operation] = /^\[`(\S+) (\S+)`\]\(reference\.md#([\w.]+)\)/.exec(step) ?? [];
  const example = exampleCalls().find((one) => one.id === operation);
  expect(example).toMatchObject({ method });
  const address = id === "" ? `/v1${example?.path}` : path.replace("{id}", id);
  const answer = await bench.call(method, address, {
    key: null,
    headers: example?.headers ?? {},
    body: example?.body,
    contentType: null,
  });
  expect([step, answer.status]).toEqual([step, expect.toSatisfy((status: number) => status < 300)]);
  return answer.body.id;
}

const fixtures = join(import.meta.dirname, "../../fixtures/scenarios");
const files = readdirSync(fixtures);

describe("the scenario command", () => {
  const scenario = async (url: string, ...words: string[]) => {
    const { code, out, error } = await runCommand(url, "scenario", ...words);
    return { code, text: [...out, error].join("\n") };
  };

  test("lists, starts, scores and stops scenarios; the exit code of score shows the verdict", async () => {
    const bench = await open();
    expect((await scenario(bench.url)).text.split("\n").filter((line) => line !== "")).toHaveLength(files.length);
    expect(await scenario(bench.url, "score", "lost-response")).toEqual({
      code: 4,
      text:
        "lost-response is not armed, so it has no score. " +
        "Arm it with npx merchant-sandbox scenario start lost-response.\n",
    });
    expect(await scenario(bench.url, "start", "lost-response", "--merchant", "lodge")).toMatchObject({
      code: 0,
      text: expect.stringContaining("lost-response armed for mer_lodge: inconclusive, 0 of 10 points"),
    });
    await insist(bench, "k");
    expect(await scenario(bench.url, "score", "lost-response")).toMatchObject({
      code: 0,
      text: expect.stringContaining("pass, 10 of 10 points"),
    });
    const twice = { body: ORDER };
    await bench.call("POST", "/v1/hospitality/pricing-rules", twice).catch(() => undefined);
    await bench.control("POST", "/verify", {
      within: "300ms",
      all: [{ never: { match: { operation: "payments.list" }, for: "300ms" } }],
    });
    await bench.call("POST", "/v1/hospitality/pricing-rules", twice);
    const failed = await scenario(bench.url, "score", "lost-response", "--merchant", "lodge");
    expect(failed).toMatchObject({
      code: 3,
      text: expect.stringMatching(/fail effect\.single: 0 of 4\n {4}req_\w+ took effect/),
    });
    expect((await scenario(bench.url, "show", "lost-response")).text).toContain(
      "A correct client repeats the same request",
    );
    expect(JSON.parse((await scenario(bench.url, "stop", "lost-response", "--json")).text)).toMatchObject({
      armed: false,
      verdict: "fail",
    });
    expect((await bench.control("GET", "/faults")).data).toEqual([]);
  });

  test("explains a missing or wrong name", async () => {
    const bench = await open();
    expect(await scenario(bench.url, "scor")).toMatchObject({
      code: 2,
      text: expect.stringContaining("Did you mean score?"),
    });
    expect(await scenario(bench.url, "start")).toMatchObject({
      code: 2,
      text: expect.stringContaining("<name> is missing"),
    });
    expect(await scenario(bench.url, "start", "./own.json")).toMatchObject({
      code: 2,
      text: expect.stringContaining("--scenario ./own.json"),
    });
    expect((await scenario(bench.url, "start", "lost-respons")).text).toContain("Did you mean lost-response?");
  });
});

test("docs/scenarios.md shows what its commands print", async () => {
  const { url } = await open({ clock: "real" });
  const page = readPage("docs/scenarios.md");
  const { run } = openShell({ MERCHANT_SANDBOX_URL: url });
  const [commands = ""] = fences(page, "sh");
  const { out } = await run(commands.replaceAll("http://127.0.0.1:4747", url));
  expect(out.endsWith(`${fences(page, "text")[0]}\n`), out).toBe(true);
});

const page = readPage("docs/testing.md");
const here = (line: string, url: string) => line.replaceAll("http://127.0.0.1:4747", url);

describe("docs/testing.md on verify", () => {
  const [command = ""] = fences(section(page, "Verify"), "sh");
  const [expected = ""] = fences(section(page, "Verify"), "json");

  test("the example fails at first, and passes once the described calls are made", async () => {
    const { bench } = await openRegistered();
    const { cwd, run } = openShell();
    const impatient = { ...JSON.parse(expected), within: "1ms" };
    writeFileSync(join(cwd, "expected.json"), JSON.stringify(impatient));
    expect((await run(here(command, bench.url))).code).toBe(22);
    writeFileSync(join(cwd, "expected.json"), expected);
    const waiting = run(here(command, bench.url));
    for (let time = 0; time < 2; time++) await bench.call("GET", "/v1/payments");
    await bench.call("POST", "/v1/hospitality/pricing-rules", {
      body: { name: "Summer", adjustmentType: "percentage", adjustmentValue: 1_500 },
    });
    await bench.call("POST", "/v1/hospitality/bookings/bkg_pending/decline", { body: {} });
    const { verdict, results } = JSON.parse((await waiting).out);
    expect(verdict, JSON.stringify(results)).toBe("pass");
  });

  test("every expectation has a row", () => {
    const rows = [...section(page, "Verify").matchAll(/^\| `(\w+)` \|/gm)].map((match) => match[1]);
    expect(rows.sort()).toEqual(Object.keys(Expectation.properties).sort());
  });
});

test("the report command of docs/testing.md writes a file in each format", async () => {
  const bench = await open();
  await bench.call("GET", "/v1/payments");
  const { cwd, run } = openShell();
  const text = section(page, "Report");
  const [command = ""] = fences(text, "sh");
  const [, ...formats] = [...text.matchAll(/^\| `(\w+)` \|/gm)].map(([, format = ""]) => format);
  for (const format of formats) await run(here(command.replaceAll("html", format), bench.url));
  const beginnings = formats.map((format) => readFileSync(join(cwd, `report.${format}`), "utf8").slice(0, 20));
  expect(beginnings).toEqual([
    expect.stringMatching(/^\{"/),
    expect.stringMatching(/^<!doctype html>/),
    expect.stringMatching(/^# /),
    expect.stringMatching(/^<\?xml /),
    expect.stringMatching(/^\{"log":\{"version/),
  ]);
});

describe("docs/testing.md on audit", () => {
  const SECRET = "whsec_0123456789abcdef";
  const isGenuine = ({ body, headers }: Arrival) =>
    createHmac("sha256", SECRET).update(body).digest("hex") === headers["x-webhook-signature"];
  const codes = new Map(
    [...section(page, "Audit").matchAll(/^\| (\d) \| (.*) \|$/gm)].map((match) => [Number(match[1]), match[2]]),
  );

  /**
   * A receiver that verifies the signature first. `unreadable` is its status for a signed body that is not an event.
   */
  const verifying = (unreadable: number) => (arrival: Arrival) => {
    if (!isGenuine(arrival)) return 401;
    return arrival.event === undefined ? unreadable : 200;
  };
  const statusOf: Record<number, (arrival: Arrival) => number> = {
    0: verifying(400),
    1: verifying(500),
    3: () => 200,
    4: () => 200,
  };

  test("lists the exit codes 0, 1, 3 and 4", () => {
    expect([...codes.keys()].map(String)).toEqual(Object.keys(statusOf));
  });

  test.each([...codes])("audit exits with %i if %s", async (code) => {
    const { url } = await open({ clock: "real" });
    const receiver = await receive();
    const file = join(folder(), "orders.log");
    writeFileSync(file, "");
    const acted = new Set<string>();
    receiver.always((arrival, outgoing) => {
      const status = statusOf[code]?.(arrival) ?? 500;
      const { id } = arrival.event ?? {};
      if (status === 200 && id !== undefined && !acted.has(id)) appendFileSync(file, `${acted.add(id).size}\n`);
      outgoing.writeHead(status).end();
    });
    if (code === 4) await receiver.close();
    const counted = code === 0 ? ["--effects", `wc -l < '${file}'`] : [];
    const ended = await runCommand(url, "audit", receiver.url, "--secret", SECRET, ...counted);
    expect([ended.code, ended.error], ended.out.join("\n")).toEqual([code, ""]);
    expect(ended.out.at(-1)).toMatch(
      code === 0
        ? /^pass: (\d+) of \1 probes passed, 0 failed; not checked: whether it rejects old events \(--max-age\)\.$/
        : /^(fail|inconclusive): /,
    );
    expect(ended.out.some((line) => line.includes("accepted a forged event"))).toBe(code === 3);
  });

  test("audit requires a URL, and prints JSON with --json", async () => {
    const missing = await runCommand(undefined, "audit");
    expect([missing.code, missing.error]).toEqual([2, expect.stringContaining("<url> is missing")]);
    const bench = await open({ clock: "real" });
    const receiver = await receive();
    receiver.always((_, outgoing) => void outgoing.writeHead(401).end());
    const { secret } = await register(bench, receiver.url);
    const { code, out } = await runCommand(bench.url, "audit", receiver.url, "--json");
    expect([code, JSON.parse(out.join(""))]).toEqual([
      1,
      expect.objectContaining({ verdict: "fail", forgeryAccepted: false, url: receiver.url }),
    ]);
    expect(out.join("")).not.toContain(secret);
    expect((await bench.control("GET", "/deliveries")).data).toEqual([]);
  });
});
