// Where masking applies beyond the request log: error messages, console lines and details of the dashboard.

import { expect, test } from "vitest";
import { eventLine } from "../../src/cli/output/event-lines.ts";
import { defectLine } from "../../src/cli/output/output.ts";
import { SandboxError } from "../../src/kernel/errors.ts";
import { MASK } from "../../src/kernel/mask.ts";
import { bodyLines, headerLines } from "../../ui/details/detail-lines.ts";
import { THEME } from "../support/live-rows.ts";
import { open } from "../support/sandbox.ts";
import { receive, register, settle, trigger } from "../support/webhooks.ts";

const IBAN = "DE89370400440532013000";

test("an error message quotes no secret, and no half of one where it is shortened", async () => {
  const bench = await open();
  const post = (path: string, body: unknown) => bench.call("POST", path, { body });
  const replies = [
    await post("/v1/hospitality/pricing-rules", `{"password":"hidden-away"x}`),
    await post("/v1/hospitality/pricing-rules", `{"note":1,"pin":77331199 1}`),
    await post("/v1/hospitality/pricing-rules", { name: [], adjustmentType: `${"x".repeat(45)} ${IBAN}` }),
    await post("/v1/webhooks", { url: `ftp://${"x".repeat(180)}/${IBAN}?token=hidden-away`, events: ["*"] }),
    await bench.call("GET", `/v1/${"x".repeat(180)}/${IBAN}`),
    await bench.call("GET", `/v1/payments?${"x".repeat(980)}=1&${IBAN}=2`),
  ];
  for (const { text, headers } of replies) expect(text + JSON.stringify(headers)).not.toMatch(/hidden|77331199|DE8937/);
  expect(replies.map(({ status }) => status)).toEqual([400, 400, 400, 400, 404, 200]);
});

test("a console line of a delivery masks the endpoint's URL", async () => {
  const bench = await open();
  const lines: string[] = [];
  bench.onHappening((event) => lines.push(eventLine(event)));
  const receiver = await receive();
  await register(bench, `${receiver.url}?token=hidden-away`);
  await trigger(bench);
  await receiver.arrived(1);
  await settle(bench);
  expect(lines.join("\n")).toContain(`?token=${MASK}`);
  expect(lines.join("\n")).not.toContain("hidden-away");
});

test("an internal error is printed without the secrets that it quotes", () => {
  const printed = defectLine({ error: new Error(`cannot use {"password":"hidden-away"}`), where: "req_1" });
  expect(printed).toContain("mask-outputs.test.ts");
  expect(printed).not.toContain("hidden-away");
  const mendable = new SandboxError("The SQLite file x.db was deleted. Start the sandbox again.");
  expect(defectLine({ error: mendable, where: "req_1" })).toBe(`failed at req_1: ${mendable.message}`);
});

test("the dashboard's details mask headers and bodies", () => {
  const shown = [
    ...headerLines(THEME, 80, { "X-Api-Key": "hidden-away", Accept: "a/b" }),
    ...bodyLines(THEME, 80, '{"iban":1234,"a":"b"}', 21),
  ];
  expect(shown.join("\n")).not.toMatch(/hidden-away|1234/);
  expect(shown.join("\n")).toContain("a/b");
});
