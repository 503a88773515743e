// `compare` on the command line: what it prints, its exit codes, and noisy recordings.

import { readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, test } from "vitest";
import { runCommand, temporaryFile } from "../support/program.ts";
import type { Behaviour } from "../support/real-service/behaviour.ts";
import { createRealService } from "../support/real-service/service.ts";
import { recordSession } from "../support/real-service/session.ts";
import { inFormOf, type ToolForm, toolForms } from "../support/real-service/tool-forms.ts";

const fileOf = (text: string, name = "service.har") => temporaryFile(text, name);

// biome-ignore lint/suspicious/noExplicitAny: the tests change HARs into any shape.
type Har = any;

const recorded = (change: (behaviour: Behaviour) => void = () => {}) => recordSession(createRealService(change));
const harOf = (change?: (behaviour: Behaviour) => void): Har => recorded(change).har;
const compareFile = (har: unknown, ...words: string[]) =>
  runCommand(undefined, "compare", fileOf(JSON.stringify(har)), ...words);

const stricter = (to: Behaviour) => {
  to.pricingRule.required.push("priority");
  to.success["bookings.decline"] = 202;
};

describe("compare", () => {
  test("exits with 3 if there is a difference, and first says where the sandbox accepts more", async () => {
    const { code, out } = await compareFile(harOf(stricter));
    expect(code).toBe(3);
    expect(out.slice(1, 3)).toEqual([
      "Change in your client:",
      "  the sandbox accepts what the service refuses: pricing_rules.create.body.priority.required: true",
    ]);
    expect(out).toContainEqual(
      expect.stringContaining("pricing_rules.create.body.priority.required: sandbox false, service true"),
    );
    expect(out.find((line) => line.includes("bookings.decline.status: sandbox"))).toContain(
      "sandbox 200, service 202 (2 times: service.har#40, ",
    );
  });

  test("exits with 4 if nothing matches, and says what to do", async () => {
    const { code, out } = await compareFile({
      log: { entries: [{ request: { method: "GET", url: "https://other.example/" }, response: { status: 200 } }] },
    });
    expect([code, out[1]]).toEqual([4, expect.stringContaining("--base https://host/v1")]);
  });

  test("prints only the result as JSON on standard output with --json", async () => {
    const { out } = await compareFile(harOf(stricter), "--json");
    const { verdicts } = JSON.parse(out.join(""));
    expect(verdicts.find(({ fact }: Har) => fact.id === "bookings.decline.status")).toMatchObject({
      verdict: "contradicted",
      seen: [{ value: 202, count: 2, operations: ["bookings.decline"] }],
    });
  });

  test("compares the calls of several recordings as if they were one", async () => {
    const { log } = harOf();
    const half = Math.floor(log.entries.length / 2);
    const [first, second] = [log.entries.slice(0, half), log.entries.slice(half)].map((entries) =>
      fileOf(JSON.stringify({ log: { entries } })),
    );
    const { code, out } = await runCommand(undefined, "compare", first as string, second as string);
    const whole = await runCommand(undefined, "compare", fileOf(JSON.stringify({ log })));
    expect([code, out[0]]).toEqual([0, whole.out[0]]);
  });
});

describe("docs/real-service.md", () => {
  const page = readFileSync(new URL("../../docs/real-service.md", import.meta.url), "utf8");
  const recordings = () => {
    const { har, webhooks } = recorded((to) => {
      to.pricingRule.takesUnknownFields = false;
      to.errors.validation_failed.status = 422;
      to.success["bookings.decline"] = 202;
    });
    return [fileOf(JSON.stringify(har), "recording.har"), "--webhooks", fileOf(webhooks.join("\n"), "received.jsonl")];
  };

  test("shows the result that compare prints", async () => {
    const { out } = await runCommand(undefined, "compare", ...recordings());
    const printed = (/^Compared [\s\S]*?(?=\n```)/m.exec(page)?.[0] ?? "").split("\n").filter((line) => line !== "");
    const withoutTotal = (line: string) => line.replace(/\d+ facts/, "facts");
    expect(printed.map(withoutTotal)).toEqual(out.slice(0, printed.length).map(withoutTotal));
  });
});

const HTML = { name: "content-type", value: "text/html" };

describe("a recording", () => {
  test("without Authorization, bodies and headers contradicts nothing", async () => {
    const har = harOf();
    for (const { request, response } of har.log.entries) {
      request.headers = request.headers.filter(({ name }: Har) => name !== "authorization");
      response.headers = [];
      delete response.content.text;
      delete request.postData;
    }
    expect((await compareFile(har)).code).toBe(0);
  });

  test("with unrelated calls contradicts nothing, and the command says how many calls it left out", async () => {
    const har = harOf();
    const [{ request, response }] = har.log.entries.slice(1);
    const noise = [
      { request: { ...request, method: "OPTIONS" }, response: { ...response, status: 204 } },
      { request, response: { ...response, status: 304, content: {} } },
      { request, response: { ...response, status: 0, headers: [], content: {} } },
      {
        request,
        response: { ...response, status: 502, content: { mimeType: "text/html", text: "<h1>Bad gateway</h1>" } },
      },
      {
        request,
        response: {
          ...response,
          status: 403,
          headers: [HTML],
          content: { mimeType: "text/html", text: "<h1>Forbidden</h1>" },
        },
      },
      ...["https://cdn.example/app.js", "https://metrics.example/v1/events"].flatMap((url) =>
        Array.from({ length: 40 }, () => ({ request: { ...request, url }, response })),
      ),
      { request: { ...request, url: "https://api.service.example/v1/refunds/rf_81" }, response },
      { request: null },
      "no entry",
    ];
    har.log.entries.push(...noise);
    const { code, out } = await compareFile(har);
    expect(code).toBe(0);
    expect(out).toEqual(
      expect.arrayContaining([
        "  GET /refunds/{id} (1)",
        "  a preflight or HEAD (1)",
        "  a redirect or 304 (1)",
        "  no response (1)",
        "  an outage or an error of the service (1)",
        "  a page, not JSON (1)",
        "  another address (80)",
      ]),
    );
  });

  test.each([
    ["no path of its own", "https://api.service.example"],
    ["a path behind a gateway", "https://gateway.example/tenants/acme/merchant/api/v3"],
  ])("is read if the base address of the service has %s", async (_, base) => {
    const text = JSON.stringify(harOf()).replaceAll("https://api.service.example/v1", base);
    const { code, out } = await runCommand(undefined, "compare", fileOf(text));
    expect([code, out[0]]).toEqual([0, expect.stringContaining(` calls below ${base} and`)]);
  });

  test("with its bodies in separate files is read with these files", async () => {
    const form = toolForms.find(({ tool }) => tool === "Playwright with content: attach") as ToolForm;
    const { text, files } = inFormOf(form, harOf());
    const recording = fileOf(text);
    for (const [name, body] of files) writeFileSync(join(dirname(recording), name), body);
    const { out } = await runCommand(undefined, "compare", recording);
    expect(out.at(-1)).toMatch(/^[45]\d\d confirmed/);
  });

  test("with masked values contradicts nothing", async () => {
    const text = JSON.stringify(harOf()).replaceAll(
      /Ana Sousa|ana@mail\.example|(?<=\\"currency\\":\\")EUR/g,
      "[REDACTED]",
    );
    expect((await runCommand(undefined, "compare", fileOf(text))).code).toBe(0);
  });
});
