// The scenario command: lists, starts, scores and stops scenarios of a running sandbox, and the page that shows it.

import { execFile } from "node:child_process";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { describe, expect, test } from "vitest";
import type { ScenarioState } from "../../src/contracts/scenario.ts";
import { insist, ORDER } from "../support/insist.ts";
import { folder, run, start } from "../support/program.ts";
import { control, open } from "../support/sandbox.ts";

const fixtures = join(import.meta.dirname, "../../fixtures/scenarios");
const files = readdirSync(fixtures);

describe("the command", () => {
  const scenario = async (url: string, ...words: string[]) => {
    const { code, out, error } = await run(["scenario", ...words, "--url", url]);
    return { code, text: [...out, error].join("\n") };
  };

  test("lists, starts, scores and stops scenarios; the exit code of score is the verdict", async () => {
    const bench = await open();
    expect((await scenario(bench.url)).text.split("\n").filter((line) => line !== "")).toHaveLength(files.length);
    expect(await scenario(bench.url, "score", "lost-response")).toMatchObject({ code: 4 });
    expect(await scenario(bench.url, "start", "lost-response", "--for", "lodge")).toMatchObject({
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
    await bench.control("POST", "/verify", { within: "300ms", all: [{ never: { match: { operation: "payments.list" }, for: "300ms" } }] });
    await bench.call("POST", "/v1/hospitality/pricing-rules", twice);
    const failed = await scenario(bench.url, "score", "lost-response", "--for", "lodge");
    expect(failed).toMatchObject({ code: 3, text: expect.stringMatching(/fail effect\.single: 0 of 4\n {4}req_\w+ took effect/) });
    expect((await scenario(bench.url, "show", "lost-response")).text).toContain("A correct client repeats the same request");
    expect(JSON.parse((await scenario(bench.url, "stop", "lost-response", "--json")).text)).toMatchObject({
      armed: false,
      verdict: "fail",
    });
    expect((await bench.control("GET", "/faults")).data).toEqual([]);
  });

  test("suggests the closest name", async () => {
    const bench = await open();
    expect(await scenario(bench.url, "scor")).toMatchObject({ code: 2, text: expect.stringContaining("Did you mean score?") });
    expect(await scenario(bench.url, "start")).toMatchObject({ code: 2, text: expect.stringContaining("The scenario is missing") });
    expect(await scenario(bench.url, "start", "./own.json")).toMatchObject({
      code: 2,
      text: expect.stringContaining("--scenario ./own.json"),
    });
    expect((await scenario(bench.url, "start", "lost-respons")).text).toContain("Did you mean lost-response?");
  });

  test("start takes scenarios by name or file", async () => {
    const file = join(folder(), "own.json");
    writeFileSync(file, readFileSync(join(fixtures, "lost-response.json"), "utf8").replace('"lost-response"', '"two-losses"'));
    const { url } = await start(["--memory", "--scenario", "brownout", "--scenario", file]);
    const { data } = await control(url, "GET", "/scenarios");
    expect((data as ScenarioState[]).filter(({ armed }) => armed).map(({ name }) => name)).toEqual(["brownout", "two-losses"]);
  });
});

const page = readFileSync(join(import.meta.dirname, "../../docs/scenarios.md"), "utf8");
const fence = (language: string) => page.match(new RegExp(`^\`\`\`${language}\n([\\s\\S]*?)\n\`\`\`$`, "m"))?.[1] ?? "";

test("docs/scenarios.md shows what its commands print", async () => {
  const { url } = await start(["--memory"]);
  const [arm = "", call = "", score = ""] = fence("sh")
    .split("\n")
    .map((line) => line.replaceAll("http://127.0.0.1:4747", url));
  const command = (line: string) => run(line.replace(/^npx merchant-sandbox /, "").split(" "), { MERCHANT_SANDBOX_URL: url });
  expect((await command(arm)).code).toBe(0);
  await promisify(execFile)("sh", ["-c", call]);
  expect((await command(score)).out.join("\n")).toBe(fence("text"));
});
