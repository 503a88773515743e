// Scenarios: their files with the errors in them, arming at startup and over the control API, and their part in reports
// and verify.

import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { ScenarioState } from "../../src/contracts/scenario.ts";
import { createSandbox } from "../../src/sandbox/create.ts";
import { insist } from "../support/insist.ts";
import { folder } from "../support/program.ts";
import { open } from "../support/sandbox.ts";

const FILE = {
  name: "two-503s",
  title: "The next two calls are answered 503",
  about: "Two calls fail. A correct client retries them.",
  faults: [{ trigger: { times: 2 }, action: { type: "status", status: 503, retryAfter: 1 } }],
  expect: [
    { rule: "retry_after.*", points: 3 },
    { rule: "retry.happened", points: 1, optional: true },
  ],
};

/** Writes a scenario with one value per line, and returns its path. */
function written(scenario: unknown): string {
  const path = join(folder(), "own.json");
  writeFileSync(path, typeof scenario === "string" ? scenario : JSON.stringify(scenario, null, 1));
  return path;
}

const refusal = (path: string) =>
  createSandbox({ scenario: path }).then(
    () => "none",
    (error: Error & { exitCode: number }) => [error.message, error.exitCode],
  );
const lineOf = (scenario: unknown, text: string) =>
  JSON.stringify(scenario, null, 1)
    .split("\n")
    .findIndex((line) => line.includes(text)) + 1;

describe("a scenario file", () => {
  test("is armed at startup for all merchants, under its name", async () => {
    const bench = await open({ scenario: [written(FILE), "lost-response"] });
    expect((await bench.call("GET", "/v1/payments")).status).toBe(503);
    expect((await bench.call("GET", "/v1/payments", { key: "sk_test_market" })).headers["x-sandbox-fault"]).toBe(
      "flt_two-503s-1-1",
    );
    const { data } = await bench.control("GET", "/scenarios");
    expect((data as ScenarioState[]).filter(({ armed }) => armed).map(({ name }) => name)).toEqual([
      "lost-response",
      "two-503s",
    ]);
    expect(await bench.control("GET", "/scenarios/two-503s")).toMatchObject({
      merchant: null,
      points: 3,
      score: 0,
      verdict: "inconclusive",
    });
  });

  const wrong: [what: string, scenario: unknown, at: string, pointer: string, says: string][] = [
    ["an unknown field", { ...FILE, tilte: "x" }, "tilte", "/tilte", "title"],
    [
      "an unknown rule of the judge",
      withExpectation({ rule: "retry.happend" }),
      "retry.happend",
      "/expect/0/rule",
      "retry.happened",
    ],
    [
      "a merchant in a match",
      withFault({ match: { merchant: "mer_lodge" } }),
      "mer_lodge",
      "/faults/0/match/merchant",
      "armed for a merchant",
    ],
    ["an id", withFault({ id: "flt_mine" }), "flt_mine", "/faults/0/id", "has no id"],
  ];

  test.each(wrong)(
    "with %s is rejected with the file, the line and a suggestion",
    async (_, scenario, at, pointer, says) => {
      const path = written(scenario);
      const where = `${path}:${lineOf(scenario, at)} ${pointer}: `;
      const [message, exit] = (await refusal(path)) as [string, number];
      expect([message.slice(0, where.length), exit]).toEqual([where, 6]);
      expect(message).toContain(says);
    },
  );

  test("that is missing, not JSON or not an object is rejected, and so is an unknown scenario name", async () => {
    const broken = written('{\n "name": "x",,\n}');
    expect(await refusal(broken)).toEqual([expect.stringContaining(`${broken}:2: is not JSON`), 6]);
    expect(await refusal(written("[]"))).toEqual([expect.stringContaining(":1: a scenario is a JSON object"), 6]);
    expect(await refusal("./nowhere.json")).toEqual([expect.stringContaining("./nowhere.json"), 6]);
    expect(await refusal("lost-respons")).toEqual([
      "There is no scenario lost-respons. Did you mean lost-response?",
      2,
    ]);
  });

  test("has a JSON Schema with its fields and fault actions", async () => {
    const bench = await open();
    const schema = await bench.control("GET", "/scenarios/schema.json");
    expect([Object.keys(schema.properties), schema.additionalProperties]).toEqual([
      ["name", "title", "about", "faults", "expect"],
      false,
    ]);
    const actions = schema.properties.faults.items.oneOf.map(({ title }: { title: string }) => title);
    expect(actions).toEqual(
      (await bench.control("GET", "/faults/schema.json")).oneOf.map(({ title }: { title: string }) => title),
    );
  });
});

function withFault(fields: object): typeof FILE {
  return { ...FILE, faults: [{ ...FILE.faults[0], ...fields } as (typeof FILE.faults)[0]] };
}

function withExpectation(fields: object): typeof FILE {
  return { ...FILE, expect: [{ ...FILE.expect[0], ...fields } as (typeof FILE.expect)[0]] };
}

describe("a scenario", () => {
  test("is shown while it is not armed, and returns its score when it is disarmed", async () => {
    const bench = await open();
    expect(await bench.control("GET", "/scenarios/lost-response")).toMatchObject({
      armed: false,
      verdict: null,
      since: null,
      points: 10,
    });
    await bench.control("POST", "/scenarios/lost-response", { merchant: "mer_lodge" });
    expect(await insist(bench, "one")).toEqual(["lost", 200]);
    const ended = await bench.control("DELETE", "/scenarios/lost-response");
    expect(ended).toMatchObject({
      armed: false,
      merchant: "mer_lodge",
      score: 10,
      points: 10,
      verdict: "pass",
      faults: [{ fired: 1, status: "removed" }],
    });
    expect((await bench.control("GET", "/faults")).data).toEqual([]);
    expect(await insist(bench, "two")).toEqual([200]);
    const again = await bench.call("DELETE", "/_sandbox/scenarios/lost-response", { key: null });
    expect([again.status, again.body.message]).toEqual([409, expect.stringContaining("not armed")]);
  });

  test("restarts when it is armed again: earlier verdicts do not count", async () => {
    const bench = await open();
    for (let time = 0; time < 2; time++) {
      const armed = await bench.control("POST", "/scenarios/lost-response", { merchant: "mer_lodge" });
      expect(armed).toMatchObject({
        score: 0,
        verdict: "inconclusive",
        expectations: [{ pass: 0 }, { pass: 0 }, { pass: 0 }],
      });
      expect((await bench.control("GET", "/faults")).data).toHaveLength(1);
      expect(await insist(bench, `key ${time}`.replace(" ", "-"))).toEqual(["lost", 200]);
      expect(await bench.control("GET", "/scenarios/lost-response")).toMatchObject({ score: 10, verdict: "pass" });
    }
  });

  test("for one merchant does not affect other merchants, even with the same scenario", async () => {
    const bench = await open();
    await bench.control("POST", "/scenarios/lost-response", { merchant: "mer_lodge" });
    await bench.control("POST", "/scenarios/lost-response", { merchant: "mer_market" });
    await bench.control("POST", "/scenarios/rate-limit-burst", { merchant: "mer_stage" });
    expect(await insist(bench, "k")).toEqual(["lost", 200]);
    expect(await insist(bench, "k", "sk_test_blank")).toEqual([200]);
    const unsaid = await bench.call("GET", "/_sandbox/scenarios/lost-response", { key: null });
    expect([unsaid.status, unsaid.body.message]).toEqual([400, expect.stringContaining("mer_lodge, mer_market")]);
    const scores = [];
    for (const merchant of ["mer_lodge", "mer_market", "mer_stage"])
      scores.push((await bench.control("GET", `/scenarios/lost-response?merchant=${merchant}`)).verdict);
    expect(scores).toEqual(["pass", "inconclusive", null]);
    await bench.control("POST", "/reset", { merchant: "mer_lodge" });
    const { data } = await bench.control("GET", "/scenarios");
    expect(
      (data as ScenarioState[]).filter(({ armed }) => armed).map(({ name, merchant }) => [name, merchant]),
    ).toEqual([
      ["lost-response", "mer_market"],
      ["rate-limit-burst", "mer_stage"],
    ]);
  });

  test("is disarmed by a reset, and cannot be armed for an unknown merchant", async () => {
    const bench = await open();
    await bench.control("POST", "/scenarios/brownout");
    await bench.control("POST", "/reset", {});
    expect((await bench.control("GET", "/faults")).data).toEqual([]);
    expect((await bench.control("GET", "/scenarios/brownout")).armed).toBe(false);
    const nobody = await bench.call("POST", "/_sandbox/scenarios/brownout", {
      key: null,
      body: { merchant: "mer_lodg" },
    });
    expect([nobody.status, nobody.body.message]).toEqual([400, expect.stringContaining("mer_lodge")]);
    expect((await bench.control("GET", "/faults")).data).toEqual([]);
  });

  test("is part of every report, and can be verified", async () => {
    const bench = await open();
    await bench.control("POST", "/scenarios/lost-response", { merchant: "mer_lodge" });
    const expected = (scenario: object) =>
      bench.control("POST", "/verify", { all: [{ scenario: { name: "lost-response", ...scenario } }] });
    expect((await expected({})).verdict).toBe("inconclusive");
    await insist(bench, "k");
    expect((await expected({})).verdict).toBe("pass");
    expect((await expected({ score: { atLeast: 7 }, merchant: "mer_lodge" })).verdict).toBe("pass");
    expect((await expected({ score: { atMost: 7 } })).verdict).toBe("fail");
    const stranger = await bench.call("POST", "/_sandbox/verify", {
      key: null,
      body: { all: [{ scenario: { name: "brownout" } }] },
    });
    expect([stranger.status, stranger.body.message]).toEqual([400, expect.stringContaining("lost-response")]);
    const report = async (format: string) =>
      (await bench.call("GET", `/_sandbox/report?format=${format}`, { key: null })).text;
    expect(JSON.parse(await report("json")).scenarios).toMatchObject([
      { name: "lost-response", merchant: "mer_lodge", score: 10, verdict: "pass" },
    ]);
    expect(await report("markdown")).toContain("| ✅ | lost-response | mer\\_lodge | 10 of 10 |");
    expect(await report("junit")).toContain(
      '<testcase classname="scenarios" name="lost-response mer_lodge" time="0"/>',
    );
    expect(await report("html")).toContain("10 of 10 points");
  });
});

describe("docs/scenarios.md", () => {
  const page = readFileSync(join(import.meta.dirname, "../../docs/scenarios.md"), "utf8");
  const fence = (language: string) =>
    page.match(new RegExp(`^\`\`\`${language}\n([\\s\\S]*?)\n\`\`\`$`, "m"))?.[1] ?? "";

  test("contains a valid scenario file", async () => {
    const bench = await open({ scenario: written(fence("json")) });
    const list = async () => (await bench.call("GET", "/v1/payments")).status;
    expect([await list(), await list(), await list(), await list()]).toEqual([200, 200, 503, 200]);
  });
});
