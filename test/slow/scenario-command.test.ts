// The scenario command: lists, starts, scores and stops scenarios of a running sandbox, and the page that shows it.

import { readdirSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { insist, ORDER } from "../support/insist.ts";
import { fences, openShell, readPage } from "../support/page.ts";
import { runCommand } from "../support/program.ts";
import { open } from "../support/sandbox.ts";

const fixtures = join(import.meta.dirname, "../../fixtures/scenarios");
const files = readdirSync(fixtures);

describe("the command", () => {
  const scenario = async (url: string, ...words: string[]) => {
    const { code, out, error } = await runCommand(url, "scenario", ...words);
    return { code, text: [...out, error].join("\n") };
  };

  test("lists, starts, scores and stops scenarios; the exit code of score is the verdict", async () => {
    const bench = await open();
    expect((await scenario(bench.url)).text.split("\n").filter((line) => line !== "")).toHaveLength(files.length);
    expect(await scenario(bench.url, "score", "lost-response")).toEqual({
      code: 4,
      text: "lost-response is not armed, so it has no score. Arm it with merchant-sandbox scenario start lost-response.\n",
    });
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
    expect(await scenario(bench.url, "start")).toMatchObject({ code: 2, text: expect.stringContaining("<name> is missing") });
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
