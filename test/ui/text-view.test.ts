// The overlay that shows the last call or the last copied text.

import { expect, test } from "vitest";
import { textOverlay } from "../../ui/panes/overlays/text-view.ts";
import { emptyDashboard } from "../support/live-rows.ts";

const linesOf = (text: string) => textOverlay("Last copied text", text).lines(emptyDashboard(), 40);

test("a command wider than the screen is wrapped, and each line but the last ends with a backslash", () => {
  const lines = linesOf("curl -sS -X POST http://127.0.0.1:4747/_sandbox/reset -H 'Content-Type: application/json'");
  expect(lines.length).toBeGreaterThan(2);
  for (const line of lines.slice(0, -1)) expect(line).toMatch(/\\$/);
});

test.each([
  ['{"id":"evt_1","type":"payment.succeeded","data":{"note":"one and two","amount":1200}}'],
  ['[{"id":"evt_1"}, {"id":"evt_2"}, {"id":"evt_3"}]'],
  ['{"id":"evt_1","type":"payment.succeeded","data":{"am'],
])("a body is wrapped without backslashes: %s", (body) => {
  const lines = linesOf(body);
  expect(lines.length).toBeGreaterThan(1);
  expect(lines.join("")).toBe(body);
});
