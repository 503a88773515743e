// docs/testing.md: its expectations match the run it describes, its commands work, and its exit codes are right.

import { execFile } from "node:child_process";
import { createHmac } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { describe, expect, test } from "vitest";
import { Expectation } from "../../src/contracts/expectations.ts";
import { folder, run, start } from "../support/program.ts";
import { call, control, open } from "../support/sandbox.ts";
import { type Arrival, receive, register } from "../support/webhooks.ts";

const page = readFileSync(join(import.meta.dirname, "../../docs/testing.md"), "utf8");
const section = (title: string) => page.split(/^## /m).find((text) => text.startsWith(`${title}\n`)) ?? "";
const fences = (text: string, language: string) =>
  [...text.matchAll(new RegExp(`^\`\`\`${language}\n([\\s\\S]*?)\n\`\`\`$`, "gm"))].map((match) => match[1] as string);
const shell = (line: string, url: string, cwd: string) =>
  promisify(execFile)("sh", ["-c", line.replaceAll("http://127.0.0.1:4747", url)], { cwd });

describe("verify", () => {
  const [command = ""] = fences(section("Verify"), "sh");
  const [expected = ""] = fences(section("Verify"), "json");

  test("the example passes for the run it describes, and fails before it", async () => {
    const bench = await open();
    const receiver = await receive();
    await register(bench, receiver.url);
    const cwd = folder();
    const impatient = { ...JSON.parse(expected), within: "1ms" };
    writeFileSync(join(cwd, "expected.json"), JSON.stringify(impatient));
    await expect(shell(command, bench.url, cwd)).rejects.toMatchObject({ code: 22 });
    writeFileSync(join(cwd, "expected.json"), expected);
    const waiting = shell(command, bench.url, cwd);
    for (let time = 0; time < 2; time++) await bench.call("GET", "/v1/payments");
    await bench.call("POST", "/v1/hospitality/pricing-rules", {
      body: { name: "Summer", adjustmentType: "percentage", adjustmentValue: 1_500 },
    });
    await bench.call("POST", "/v1/hospitality/bookings/bkg_pending/decline", { body: {} });
    const { verdict, results } = JSON.parse((await waiting).stdout);
    expect(verdict, JSON.stringify(results)).toBe("pass");
  });

  test("every expectation has a row", () => {
    const rows = [...section("Verify").matchAll(/^\| `(\w+)` \|/gm)].map((match) => match[1]);
    expect(rows.sort()).toEqual(Object.keys(Expectation.properties).sort());
  });
});

test("the report commands write the files on the page", async () => {
  const bench = await open();
  await bench.call("GET", "/v1/payments");
  const cwd = folder();
  const [commands = ""] = fences(section("Report"), "sh");
  await shell(commands, bench.url, cwd);
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
  const codes = new Map([...section("Audit").matchAll(/^\| (\d) \| (.*) \|$/gm)].map((match) => [Number(match[1]), match[2]]));

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
    const { url } = await start(["--memory"]);
    const receiver = await receive();
    receiver.always((arrival, outgoing) => void outgoing.writeHead(statusOf[code]?.(arrival) ?? 500).end());
    if (code === 4) await receiver.close();
    const ended = await run(["audit", receiver.url, "--secret", SECRET, "--url", url]);
    expect([ended.code, ended.error], ended.out.join("\n")).toEqual([code, ""]);
    expect(ended.out.at(-1)).toMatch(code === 0 ? /^pass: 12 of 12 probes passed, 0 failed\.$/ : /^(fail|inconclusive): /);
    expect(ended.out.some((line) => line.includes("accepted a forged event"))).toBe(code === 3);
  });

  test("requires a URL, and prints JSON with --json", async () => {
    const missing = await run(["audit"]);
    expect([missing.code, missing.error]).toEqual([2, expect.stringContaining("The URL of the receiver is missing")]);
    const { url } = await start(["--memory"]);
    const receiver = await receive();
    receiver.always((_, outgoing) => void outgoing.writeHead(401).end());
    const { body } = await call(url, "POST", "/v1/webhooks", { body: { url: receiver.url, events: ["*"] } });
    const ended = await run(["audit", receiver.url, "--json", "--url", url]);
    expect(ended.code).toBe(1);
    expect(JSON.parse(ended.out.join(""))).toMatchObject({ verdict: "fail", forgeryAccepted: false, url: receiver.url });
    expect(ended.out.join("")).not.toContain(body.secret);
    expect((await control(url, "GET", "/deliveries")).data).toEqual([]);
  });
});
