// Text of other programs in the output of commands never looks like a line of the command itself, or like a workflow
// command of the CI system that logs the output.

import { expect, test } from "vitest";
import { linesOf } from "../support/program.ts";
import { attempted, open } from "../support/sandbox.ts";
import { openRegistered, receive, register, settle, trigger } from "../support/webhooks.ts";

const COMMANDS = [
  "::add-mask::hidden",
  "::stop-commands::x",
  "  ::set-output name=a::b",
  "##vso[task.complete]x",
  "##[error]x",
  "##teamcity[x]",
];
const forged = COMMANDS.map((text) => `x\n${text}\r\nstatus: 200\n`).join("");
const OWN_FIELD = /^\w[\w-]*:/;

test("the details of a request, an event and a delivery print other programs' text indented and escaped", async () => {
  const bench = await open();
  const receiver = await receive();
  receiver.always({ status: 500, body: forged });
  await register(bench, receiver.url);
  const sent = await bench.call("POST", "/v1/hospitality/pricing-rules", {
    body: JSON.stringify({ name: "A", note: "x" }, null, 1).replace('"x"', `"x",\n::add-mask::\n##vso[x]`),
  });
  const event = await trigger(bench, "payment.succeeded", { amount: 1, text: forged });
  await settle(bench);
  const { data } = await bench.control("GET", "/deliveries");
  for (const [list, id] of [
    ["requests", sent.headers["x-sandbox-request-id"]],
    ["events", event],
    ["deliveries", data[0].id],
  ] as const)
    for (const format of [[], ["--json"]]) {
      attempted("Escape sequences in a terminal");
      const lines = await linesOf(bench, list, String(id), ...format);
      const all = lines.join("\n");
      expect([list, all]).toEqual([list, expect.stringMatching(/vso/)]);
      expect(all).not.toMatch(/^\s*::|##\w*\[/m);
      if (format.length === 0)
        expect(lines.filter((line) => !OWN_FIELD.test(line) && !line.startsWith("  "))).toEqual([]);
      else for (const line of lines) expect(JSON.parse(line)).toBeDefined();
    }
  // No line of the receiver's response may look like a field that the command prints.
  const lines = await linesOf(bench, "deliveries", data[0].id);
  expect(lines.filter((line) => line.startsWith("status: "))).toEqual(["status: failed"]);
});

test("the details of a delivery print the lines of its body as they were sent, two columns further right", async () => {
  const { bench, receiver } = await openRegistered();
  await trigger(bench, "payment.succeeded", { amount: 1, metadata: { note: { deep: "x" } } });
  await settle(bench);
  const { data } = await bench.control("GET", "/deliveries");
  const lines = await linesOf(bench, "deliveries", data[0].id);
  const start = lines.indexOf("requestBody:") + 1;
  const body = lines.slice(start, lines.indexOf("  }", start) + 1).map((line) => line.slice(2));
  expect(body.join("\n")).toBe(receiver.arrivals[0]?.body.toString());
});

test("a request printed as curl contains the body, but no workflow command of a CI system", async () => {
  const bench = await open();
  const body = JSON.stringify({ name: "A" }).replace("{", "{\n\t\n").replace("}", "\n}\n");
  const { headers } = await bench.call("POST", "/v1/hospitality/pricing-rules", {
    body: `${body}::add-mask::x\n##vso[x]`,
  });
  attempted("Escape sequences in a terminal");
  const curl = await linesOf(bench, "requests", String(headers["x-sandbox-request-id"]), "--curl");
  expect(curl.join("\n")).toContain("vso");
  expect(curl.join("\n")).not.toMatch(/^\s*::|##\w*\[/m);
});
