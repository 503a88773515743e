// docs/testing.md: its expectations match the run it describes, its commands work, and its exit codes are right.

import { createHmac } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { Expectation } from "../../src/contracts/expectations.ts";
import { fences, openShell, readPage, section } from "../support/page.ts";
import { runCommand } from "../support/program.ts";
import { open } from "../support/sandbox.ts";
import { type Arrival, openRegistered, receive, register } from "../support/webhooks.ts";

const page = readPage("docs/testing.md");
const here = (line: string, url: string) => line.replaceAll("http://127.0.0.1:4747", url);

describe("verify", () => {
  const [command = ""] = fences(section(page, "Verify"), "sh");
  const [expected = ""] = fences(section(page, "Verify"), "json");

  test("the example passes for the run it describes, and fails before it", async () => {
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

test("the report commands write the files on the page", async () => {
  const bench = await open();
  await bench.call("GET", "/v1/payments");
  const { cwd, run } = openShell();
  const [commands = ""] = fences(section(page, "Report"), "sh");
  await run(here(commands, bench.url));
  const beginning = (name: string) => readFileSync(join(cwd, name), "utf8").slice(0, 20);
  expect(["html", "md", "xml", "har"].map((kind) => beginning(`report.${kind}`))).toEqual([
    expect.stringMatching(/^<!doctype html>/),
    expect.stringMatching(/^# /),
    expect.stringMatching(/^<\?xml /),
    expect.stringMatching(/^\{"log":\{"version/),
  ]);
});

describe("audit", () => {
  const SECRET = "whsec_0123456789abcdef";
  const isGenuine = ({ body, headers }: Arrival) =>
    createHmac("sha256", SECRET).update(body).digest("hex") === headers["x-webhook-signature"];
  const codes = new Map([...section(page, "Audit").matchAll(/^\| (\d) \| (.*) \|$/gm)].map((match) => [Number(match[1]), match[2]]));

  const statusOf: Record<number, (arrival: Arrival) => number> = {
    0: (arrival) => (isGenuine(arrival) ? (arrival.event === undefined ? 400 : 200) : 401),
    1: (arrival) => (isGenuine(arrival) ? (arrival.event === undefined ? 500 : 200) : 401),
    3: () => 200,
    4: () => 200,
  };

  test("documents its exit codes", () => {
    expect([...codes.keys()].map(String)).toEqual(Object.keys(statusOf));
  });

  test.each([...codes])("exits with %i if %s", async (code) => {
    const { url } = await open({ clock: "real" });
    const receiver = await receive();
    receiver.always((arrival, outgoing) => void outgoing.writeHead(statusOf[code]?.(arrival) ?? 500).end());
    if (code === 4) await receiver.close();
    const ended = await runCommand(url, "audit", receiver.url, "--secret", SECRET);
    expect([ended.code, ended.error], ended.out.join("\n")).toEqual([code, ""]);
    expect(ended.out.at(-1)).toMatch(code === 0 ? /^pass: 12 of 12 probes passed, 0 failed\.$/ : /^(fail|inconclusive): /);
    expect(ended.out.some((line) => line.includes("accepted a forged event"))).toBe(code === 3);
  });

  test("requires a URL, and prints JSON with --json", async () => {
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
