// Recordings that are cut off, damaged, in another encoding or of another shape: each is read, or rejected with one
// line.

import { dirname } from "node:path";
import { deflateSync, gzipSync } from "node:zlib";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { compare } from "../../src/compare/compare.ts";
import { readHar, readWebhooks } from "../../src/compare/read-recording.ts";
import { comparisonText } from "../../src/compare/text.ts";
import { SandboxError } from "../../src/kernel/errors.ts";
import { comparedSandbox } from "../../src/sandbox/documents.ts";
import { runCommand, temporaryFile } from "../support/program.ts";
import { createRealService } from "../support/real-service/service.ts";
import { recordSession } from "../support/real-service/session.ts";
import type { HarEntry } from "../support/real-service/tool-forms.ts";

const { har, webhooks } = recordSession(createRealService());
const harText = JSON.stringify(har, null, 1);
const webhookLog = `${webhooks.join("\n")}\n`;

const compareFile = (content: string | Uint8Array, ...words: string[]) =>
  runCommand(undefined, "compare", temporaryFile(content, "service.har"), ...words);
const compareLog = (content: string | Uint8Array) =>
  runCommand(undefined, "compare", "--webhooks", temporaryFile(content, "received.jsonl"));

const inUtf16 = (text: string) => Buffer.from(`\uFEFF${text}`, "utf16le");
/** Where a file is cut off, in twentieths of its length. */
const CUTS = [1, 7, 13, 19];

/** Expects one line on standard error, exit code 2, and nothing on standard output. */
function expectLine({ code, out, error }: Awaited<ReturnType<typeof runCommand>>, message: RegExp): void {
  expect([code, out]).toEqual([2, []]);
  expect(error).toMatch(message);
  expect(error).not.toMatch(/\n|\bat \/|sk_live|Sousa/);
}

describe("a recording that cannot be read is rejected with one line:", () => {
  test.each(CUTS)("a file that was cut off after %i/20 of its length", async (part) => {
    const cut = harText.slice(0, Math.floor((harText.length * part) / 20));
    expectLine(await compareFile(cut, "--json"), /^service\.har is not a HAR: it is not JSON\. .*export it again\.$/);
  });

  test.each([
    ["JSON that is not a HAR", '{"log":{"version":"1.2"}}', /^service\.har is not a HAR: it has no log\.entries/],
    ["an empty file", "", /is not JSON\./],
    ["a text that begins with x, like zlib data", "xml", /^service\.har is not a HAR: it is not JSON\./],
    ["a damaged zlib file", deflateSync(harText).subarray(0, 500), /is compressed and cannot be decompressed/],
    [
      "a value without quotes, which the message does not repeat",
      '{"log":\n{"entries":[sk_live_51HqSecret]}}',
      /is not JSON\./,
    ],
    ["a list of headers, which the message does not repeat", "Sousa: Bearer sk_live_51HqSecret", /is not JSON/],
    ["JSON that is nested too deep and cut off", '{"log":['.repeat(20_000), /is not JSON/],
    [
      "a damaged gzip file",
      gzipSync(harText).subarray(0, 500),
      /^service\.har is compressed and cannot be decompressed: .*Compare the plain file\.$/,
    ],
    [
      "a zip archive",
      Buffer.from("PK\u0003\u0004 har.har"),
      /^service\.har is a zip archive\. Unpack it, and compare the \.har in it\.$/,
    ],
  ])("%s", async (_, content, message) => expectLine(await compareFile(content), message));

  test("a folder, a device, and a file that does not exist", async () => {
    const folder = dirname(temporaryFile("", "service.har"));
    expectLine(await runCommand(undefined, "compare", folder), /^Cannot read .* \(EISDIR\)\.$/);
    expectLine(
      await runCommand(undefined, "compare", "/dev/zero"),
      /^Cannot read \/dev\/zero: it is not a regular file\.$/,
    );
    expectLine(await runCommand(undefined, "compare", "/nowhere.har"), /^Cannot read \/nowhere\.har \(ENOENT\)\.$/);
  });

  test.each([
    ["half a line among others", `${webhookLog}${webhookLog.slice(0, 50)}\n${webhookLog}`],
    ["a HAR", harText],
    ["a line that is not an object", `${webhookLog}[1]\n`],
    ["a delivery without its body", '{"at":"2026-01-05T12:00:00Z","headers":{}}\n'],
  ])("a log of webhooks with %s", async (_, content) => {
    expectLine(
      await compareLog(content),
      /^received\.jsonl#\d+ is not a delivery: each line needs at, url, headers and body/,
    );
  });
});

describe("a recording is read", () => {
  test.each([
    ["with a byte order mark", `\uFEFF${harText}`],
    ["in UTF-16, as PowerShell writes it", inUtf16(harText)],
    ["in UTF-16 of the other byte order", inUtf16(harText).swap16()],
    ["compressed as gzip", gzipSync(harText)],
    ["compressed as .zhar, as mitmproxy writes it", deflateSync(harText)],
  ])("%s", async (_, content) => {
    const { code, out } = await compareFile(content);
    expect([code, out.at(-1)]).toEqual([0, expect.stringMatching(/^[45]\d\d confirmed/)]);
  });

  test("if it is a webhook log in UTF-16, or a webhook log whose last line was cut off", async () => {
    expect((await compareLog(inUtf16(webhookLog))).code).toBe(0);
    for (const part of CUTS)
      expect([0, 4]).toContain((await compareLog(webhookLog.slice(0, (webhookLog.length * part) / 20))).code);
  });

  test.each([
    [
      "numbers instead of strings",
      { method: 7, url: 8, headers: "x", postData: [] },
      { status: "200", headers: {}, content: "text" },
      4,
    ],
    ["no fields", {}, {}, 4],
    ["an invalid URL", { method: "GET", url: "https://%%/", headers: [null, 1, { name: 2 }] }, { status: 200 }, 4],
    [
      "a deeply nested body",
      { method: "GET", url: "https://a.example/v1/payments" },
      { status: 200, content: { text: "[".repeat(20_000) + "]".repeat(20_000) } },
      0,
    ],
  ])("with an entry that has %s", async (_, request, response, code) => {
    expect((await compareFile(JSON.stringify({ log: { entries: [{ request, response }] } }))).code).toBe(code);
  });

  test("with headers that are repeated, have no name, are not a list or have values of a wrong type", async () => {
    const odd = [null, {}, { name: "" }, { name: "", value: "x" }, { name: "Idempotency-Key", value: ["one"] }];
    const twice = ["one", "two"].map((value) => ({ name: "Idempotency-Key", value }));
    const names = ["__proto__", "constructor", "toString"].map((name) => ({ name, value: "x" }));
    const entries = [[...odd, ...twice, ...names], null, {}, undefined].map((headers) => ({
      request: { method: "POST", url: "https://a.example/v1/webhooks", headers },
      response: { status: 200, headers, content: { text: "{}" } },
    }));
    expect((await compareFile(JSON.stringify({ log: { entries } }))).code).toBe(3);
    const value = { toString: 1, valueOf: [] };
    const line = { at: null, url: 7, body: "{}", headers: { "": value, __proto__: value, "x-webhook-id": value } };
    expect([0, 3, 4]).toContain((await compareLog(`${JSON.stringify(line)}\n`)).code);
  });

  test("with deeply nested bodies that are sent twice with one Idempotency-Key", async () => {
    const deep = `{"name":${'{"a":'.repeat(20_000)}1${"}".repeat(20_000)}}`;
    const request = {
      method: "POST",
      url: "https://a.example/v1/hospitality/pricing-rules",
      headers: [{ name: "idempotency-key", value: "one" }],
      postData: { mimeType: "application/json", text: deep },
    };
    const entry = { request, response: { status: 200, content: { text: deep } } };
    expect((await compareFile(JSON.stringify({ log: { entries: [entry, entry] } }))).code).toBe(0);
  });
});

describe("a value of a wrong type", () => {
  const sandbox = comparedSandbox();
  const { entries } = (JSON.parse(harText) as { log: { entries: HarEntry[] } }).log;
  // Every fourth entry, without long responses, which would take most of the time.
  const few = entries.filter(({ response }, index) => index % 4 === 0 && (response.content.text ?? "").length < 2_000);

  /** The text of a comparison, or the error message if the recording cannot be read. */
  function outputsOf(document: unknown, lines: readonly string[]): string {
    try {
      const deliveries = readWebhooks(lines.join("\n"), "received.jsonl");
      return comparisonText(compare(sandbox, { ...readHar(JSON.stringify(document), "service.har"), deliveries }));
    } catch (error) {
      if (error instanceof SandboxError) return error.message;
      throw error;
    }
  }

  /** Replaces the value at a path. Each number of the path chooses a field or an item of the value before it. */
  function replaceAt(value: unknown, [choice, ...rest]: readonly number[], wrong: unknown): unknown {
    if (choice === undefined || typeof value !== "object" || value === null || Object.keys(value).length === 0)
      return wrong;
    const names = Object.keys(value);
    const name = names[choice % names.length] as string;
    const copy = (Array.isArray(value) ? [...value] : { ...value }) as Record<string, unknown>;
    copy[name] = replaceAt(copy[name], rest, wrong);
    return copy;
  }

  const path = fc.array(fc.nat({ max: 30 }), { maxLength: 7 });
  const wrong = fc.oneof(
    fc.jsonValue({ maxDepth: 2 }),
    fc.constantFrom("__proto__", "constructor", -0, 1e308, "\u0000", "a".repeat(5_000)),
  );

  test("at any place of a HAR does not crash the comparison", () => {
    fc.assert(
      fc.property(path, wrong, (place, value) => {
        expect(outputsOf(replaceAt({ log: { entries: few } }, place, value), [])).not.toBe("");
      }),
      { numRuns: 40 },
    );
  });

  /** Replaces a value in a body. Parses the body first, because a HAR has bodies as strings. */
  const inBody = (holder: { text?: string | undefined }, place: readonly number[], value: unknown) => {
    if (holder.text) holder.text = JSON.stringify(replaceAt(JSON.parse(holder.text), place, value)) ?? "";
  };

  test("at any place of a body or of a webhook does not crash the comparison", () => {
    fc.assert(
      fc.property(fc.nat(), path, wrong, (index, place, value) => {
        const changed = structuredClone(few);
        const { request, response } = changed[index % changed.length] as HarEntry;
        inBody(response.content, place, value);
        inBody(request.postData ?? {}, place, value);
        const line = JSON.parse(webhooks[index % webhooks.length] as string) as { body: string };
        const event = { ...line, body: JSON.stringify(replaceAt(JSON.parse(line.body), place, value)) };
        expect(outputsOf({ log: { entries: changed } }, [JSON.stringify(event), ""])).toMatch(/^Compared/);
      }),
      { numRuns: 30 },
    );
  });
});
