// Forms, the palette and leaving, in a pseudo-terminal: keys as a terminal sends them, and what then happens in the sandbox.

import { expect, test } from "vitest";
import { call, control, NOON } from "../support/sandbox.ts";
import { openDashboard, USUAL } from "../support/terminal.ts";

const DOWN = "\x1b[B";
const armed = async (url: string) => ((await control(url, "GET", "/faults")) as { data: object[] }).data;

test("seven keys arm an outage of 20 s, and the arrows choose what a lost response looks like", async () => {
  const terminal = await openDashboard(["--clock", NOON], { size: USUAL });
  terminal.type("x");
  await terminal.shows("1-9 of");
  terminal.type("o\t20s");
  await terminal.shows('"for":"20s"');
  terminal.type("\r");
  await terminal.shows("Armed outage on all operations, every match, for 20s, as flt_");
  terminal.type("x");
  await terminal.shows("1-9 of");
  terminal.type(`lost_\t${DOWN}${DOWN}\r`);
  await terminal.shows("Armed lost_response (as empty)");
  expect(await armed(terminal.url)).toMatchObject([{ trigger: { for: "20s" } }, { action: { type: "lost_response", as: "empty" } }]);
});

test("a letter that no option has rings the bell and changes nothing", async () => {
  const terminal = await openDashboard([], { size: USUAL });
  terminal.type("x");
  await terminal.shows("1-9 of");
  terminal.type("o");
  await terminal.shows("< outage >");
  expect(terminal.bytes()).not.toContain("\x07");
  terminal.type("%");
  expect(await terminal.shows("No fault matches o%")).toContain("< outage >");
  expect(terminal.bytes()).toContain("\x07");
});

test("the palette runs a command that is found by typing, and q asks before the requests are lost", async () => {
  const terminal = await openDashboard([], { size: USUAL });
  terminal.type(":end it\r");
  await terminal.shows("Armed outage");
  expect((await call(terminal.url, "GET", "/v1/payments")).status).toBe(503);
  await terminal.shows(/\/v1\/payments +✗503/);
  terminal.type("q");
  await terminal.shows("its records and 1 request will be lost");
  terminal.type("n");
  await terminal.shows("Cancelled");
  terminal.type("qy");
  expect(await terminal.ended).toMatchObject({ code: 0 });
});
