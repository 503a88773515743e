// Links, previews and trends in a pseudo-terminal: from a request to its delivery and back, the body, the search, and what a busy sandbox shows.

import { describe, expect, test } from "vitest";
import { call, control, NOON } from "../support/sandbox.ts";
import { openDashboard, openProgram, USUAL, WIDE } from "../support/terminal.ts";
import { receive } from "../support/webhooks.ts";

const DECLINE = "/v1/hospitality/bookings/bkg_pending/decline";

async function declined(size = WIDE) {
  const receiver = await receive();
  const terminal = await openDashboard(["--clock", NOON], { size });
  await call(terminal.url, "POST", "/v1/webhooks", { body: { url: receiver.url, events: ["*"] } });
  await call(terminal.url, "POST", DECLINE, { body: { reason: "Überbucht" } });
  await control(terminal.url, "POST", "/drain", {});
  await terminal.shows(/decline +200/);
  return terminal;
}

describe("from a request", () => {
  test.each([USUAL, WIDE])("J jumps to its delivery and back, and Enter follows links, at $columns columns", async (size) => {
    const terminal = await declined(size);
    terminal.type("J");
    await terminal.shows(/▸ booking\.declined to http/);
    await terminal.shows(/▸ caused by +req_2/);
    terminal.type("J");
    await terminal.shows(new RegExp(`▸ POST ${DECLINE}`));
    await terminal.shows(/▸ +1\/\d +200/);
    terminal.type("\r");
    await terminal.shows(/▸ booking\.declined to http/);
    terminal.type("\x1b");
    await terminal.shows("▸ 1 Requests");
  });

  test("Enter and B show the response's body, and / finds text in it", async () => {
    const terminal = await declined(USUAL);
    terminal.type("\r");
    await terminal.shows(/operation +\d+\.\d+ ms +█/);
    terminal.type("B");
    await terminal.shows('"object": "booking"');
    terminal.type("B");
    await terminal.shows('"reason": "Überbucht"');
    terminal.type("/überbucht\r");
    await terminal.shows(/\/überbucht {2}\d of 2/);
    terminal.type("n");
    await terminal.shows(/\/überbucht {2}\d of 2/);
    terminal.type("\x1b");
    await terminal.shows((text) => !text.includes("/überbucht"));
    expect(terminal.text()).toContain(`▸ POST ${DECLINE}`);
  });
});

describe("on a screen of 160 columns", () => {
  test("the details of the selected row are beside the lists, and change with the cursor", async () => {
    const terminal = await declined({ columns: 160, rows: 45 });
    await terminal.shows(/┌─ POST \/v1\/hosp.*\n(?:.*\n)*.*"status": "declined"/);
    terminal.type("k");
    await terminal.shows(/┌─ POST \/v1\/webhooks /);
    terminal.type("2");
    await terminal.shows(/┌─ booking\.declined to /);
  });

  test("a resize hides them and shows them again", async () => {
    const terminal = await declined({ columns: 160, rows: 45 });
    await terminal.shows('"status": "declined"');
    terminal.resize(WIDE);
    await terminal.shows((text) => !text.includes('"status": "declined"') && text.includes("6 Trends"));
    terminal.resize({ columns: 220, rows: 60 });
    await terminal.shows('"status": "declined"');
  });
});

describe("a busy sandbox", () => {
  test("shows its traffic, its scenario with the score, and its trends, and nothing is written once nothing changes", async () => {
    const terminal = await openDashboard(["--clock", NOON], { size: { columns: 160, rows: 45 } });
    await control(terminal.url, "POST", "/traffic", { merchant: "mer_lodge", rate: "3/m" });
    await control(terminal.url, "POST", "/scenarios/lost-response", {});
    await terminal.shows(/LIVE .* traffic lodge 3\/m .* life on .* clock /);
    await terminal.shows(/4 Faults ─+ lost-response 0\/\d+ {2}1 armed/);
    await call(terminal.url, "GET", "/v1/nowhere");
    await terminal.shows(/4xx 5xx +1 0/);
    await control(terminal.url, "DELETE", "/traffic");
    await control(terminal.url, "POST", "/reset", {});
    await terminal.shows((text) => !text.includes("lost-response") && /4xx 5xx +0 0/.test(text) && /\b0 req\/s/.test(text));
    const before = terminal.bytes().length;
    // Two polling intervals.
    await new Promise((resolve) => setTimeout(resolve, 2_200));
    expect(terminal.bytes().slice(before)).toBe("");
  });

  test("counts the failures of other panes in the tabs", async () => {
    const receiver = await receive();
    receiver.always(410);
    const terminal = openProgram(["start", "--memory", "--port", "0", "--clock", NOON], { size: USUAL });
    const url = /http:\/\/127\.0\.0\.1:\d+/.exec(await terminal.shows(/LIVE/))?.[0] ?? "";
    await call(url, "POST", "/v1/webhooks", { body: { url: receiver.url, events: ["*"] } });
    await call(url, "POST", DECLINE);
    await control(url, "PUT", "/rate-limits/mer_market", { remaining: 0 });
    await terminal.shows(/2 (?:Deliveries )?✗1 +3 (?:Rate limits )?✗1/);
  });
});
