// The panes of merchants and of scenarios on a real sandbox: their rows, details and keys.

import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { traceCall } from "../../ui/panes/details/trace.ts";
import { refresh } from "../../ui/panes/run-effects.ts";
import { listOf, type UiState } from "../../ui/state/state.ts";
import { pollEffect, update } from "../../ui/state/updates.ts";
import { loggedAttempts, loggedRequests, openTestDashboard, type TestDashboard, typing } from "../support/dashboard.ts";
import { withLiveEvents } from "../support/live-rows.ts";
import { folder, linesOf } from "../support/program.ts";
import { open } from "../support/sandbox.ts";
import { workplace } from "../support/tasks.ts";

const textOf = (desk: TestDashboard) => desk.screen().join("\n");
const lineWith = (desk: TestDashboard, part: string) =>
  desk.screen().find((line) => line.startsWith("│") && line.includes(part));

async function openPane(digit: string) {
  const bench = await open();
  const desk = await openTestDashboard(bench.url, 109, 30);
  await desk.run(digit);
  return { bench, desk, press: desk.run };
}

describe("merchants", () => {
  test("show the API key, status, number of records and number of requests of each merchant", async () => {
    const { bench, desk, press } = await openPane("7");
    for (const limit of [1, 2]) await bench.call("GET", `/v1/payments?limit=${limit}`);
    await press("7");
    expect(lineWith(desk, "sk_test_lodge")).toMatch(/lodge +.+ sk_test_lodge +active +[\d,]+ +2 +│/);
    expect(lineWith(desk, "sk_test_market")).toMatch(/active +[\d,]+ +0 /);
    expect(desk.screen(60, 15).find((line) => line.startsWith("│") && line.includes("lodge"))).toMatch(
      /lodge +.*active +[\d,]+ +2 /,
    );
  });

  test("are suspended and reactivated by z, and u undoes a suspension", async () => {
    const { bench, desk, press } = await openPane("7");
    const status = async () => (await bench.call("GET", "/v1/payments")).status;
    await press("z");
    expect([await status(), lineWith(desk, "sk_test_lodge")]).toEqual([403, expect.stringContaining("suspended")]);
    await press("z");
    expect([await status(), textOf(desk)]).toEqual([200, expect.stringContaining("Reactivated mer_lodge")]);
    await press("z");
    await press("u");
    expect(await status()).toBe(200);
  });

  test("are created by M, and removed by d after a confirmation", async () => {
    const { bench, desk, press } = await openPane("7");
    await press("M", "enter");
    const [key = ""] = desk.copied;
    expect(textOf(desk)).toContain("5 merchants");
    await press("G", "d", "n");
    expect((await bench.call("GET", "/v1/payments", { key })).status).toBe(200);
    await press("d", "y");
    expect((await bench.call("GET", "/v1/payments", { key })).status).toBe(401);
  });

  test("have a detail with their API keys and rate limit; pressing a copies the API key", async () => {
    const { desk, press } = await openPane("7");
    await press("a");
    expect(desk.copied).toEqual(["sk_test_lodge"]);
    await press("enter");
    expect(textOf(desk)).toMatch(/API keys +sk_test_lodge[\s\S]*rate limit +6,000 of 6,000/);
  });

  test("are saved by F to a file as `fixture save` writes it; by default, an existing file is kept", async () => {
    const { bench, desk, press } = await openPane("7");
    const [expected, file] = [join(folder(), "expected.json"), join(folder(), "mine.json")];
    await linesOf(bench, "fixture", "save", "market", expected);
    await press("j", "F");
    expect(textOf(desk)).toMatch(/file +market\.json[\s\S]*\/merchants\/mer_market\/fixture/);
    await press("ctrl-u", ...typing(file), "enter");
    expect(desk.state.notice?.text).toMatch(`Wrote ${file}: mer_market with `);
    expect(readFileSync(file, "utf8")).toBe(readFileSync(expected, "utf8"));

    writeFileSync(file, "mine");
    await press("F", "ctrl-u", ...typing(file), "enter");
    expect(textOf(desk)).toContain(`${file} exists. Choose another path or overwrite it`);
    expect(readFileSync(file, "utf8")).toBe("mine");
    await press("tab", "right", "enter");
    expect(readFileSync(file, "utf8")).toBe(readFileSync(expected, "utf8"));

    await press("F", "ctrl-u", ...typing(join(file, "below.json")), "enter");
    expect(textOf(desk)).toMatch(/Cannot write .*below\.json \(ENOTDIR\)\. Choose another path/);
  });

  test("prefill the forms for rate limits and resets with the selected merchant", async () => {
    const { desk, press } = await openPane("7");
    await press("j", "w");
    expect(textOf(desk)).toMatch(/merchant +.*mer_market/);
    await press("escape", "X", "enter");
    expect(textOf(desk)).toContain("Reset mer_market?");
  });
});

describe("scenarios", () => {
  test("are listed with their points, and found by a filter", async () => {
    const { bench, desk, press } = await openPane("8");
    const { data } = await bench.control("GET", "/scenarios");
    for (const { name, points } of data) expect(lineWith(desk, ` ${name} `)).toMatch(new RegExp(` ${points} `));
    await press("/", ..."lost-response", "enter");
    expect(textOf(desk)).toMatch(/\/lost-response {2}1 of \d+/);
  });

  test("are started by A, scored check by check as calls come, and stopped by A", async () => {
    const { bench, desk, press } = await openPane("8");
    await press("/", ..."lost-response", "enter", "A");
    await press("enter");
    expect(lineWith(desk, "* lost-response")).toMatch(/all +0\/10 ~ inconclusive/);
    await press("enter");
    expect(textOf(desk)).toMatch(/armed for all merchants[\s\S]*Checks[\s\S]*Faults/);
    // The client retries with another Idempotency-Key, so the operation takes effect twice.
    for (const key of ["first", "second"]) {
      const headers = { "Idempotency-Key": key };
      await bench
        .call("POST", "/v1/hospitality/bookings/bkg_pending/decline", { body: { reason: "full" }, headers })
        .catch(() => undefined);
    }
    await bench.control("POST", "/clock/advance", { by: "1h" });
    desk.press("escape");
    await press("8");
    await press("enter");
    expect(textOf(desk)).toMatch(/verdict +✗ fail[\s\S]*0 of 4 +✗ fail {2}idempotency\.\*: 1 passed, 1 failed/);
    desk.press("escape");
    expect(lineWith(desk, "* lost-response")).toMatch(/\d+\/10 ✗ fail/);
    await press("A");
    expect(textOf(desk)).toMatch(/Disarmed lost-response: \d+ of 10 points/);
    expect((await bench.control("GET", "/faults")).data).toEqual([]);
  });

  test("are disarmed by u after a start, unless A has already stopped them", async () => {
    const { bench, desk, press } = await openPane("8");
    const start = async () => {
      await press("A");
      await press("enter");
    };
    await start();
    expect((await bench.control("GET", "")).scenarios).toHaveLength(1);
    await press("u");
    expect((await bench.control("GET", "")).scenarios).toEqual([]);
    await start();
    await press("A");
    await press("u");
    expect(textOf(desk)).toMatch(/Cannot undo: Disarmed [\w-]+: 0 of \d+ points: [^0]/);
  });
});

test("rate limits and faults are polled always; merchants, scenarios and details only while visible", async () => {
  const { desk } = await openPane("1");
  const polled = (state: UiState) => {
    const paths: string[] = [];
    const perform = async (_: unknown, { path }: { path: string }) => {
      paths.push(path);
      return new Promise<never>(() => {});
    };
    refresh({ ...({} as Parameters<typeof refresh>[0]), state, platform: { perform } as never });
    return paths;
  };
  expect(polled(desk.state)).toEqual(["", "/rate-limits", "/faults"]);
  expect(polled({ ...desk.state, pane: "scenarios" })).toEqual(["", "/rate-limits", "/faults", "/scenarios"]);
  const polls = () => [pollEffect(traceCall("req_1"), (state) => update(state))];
  const overlays = [{ about: {}, polls }] as unknown as UiState["overlays"];
  expect(polled({ ...desk.state, overlays })).toEqual(["/traces/req_1", "", "/rate-limits", "/faults"]);
});

describe("m", () => {
  test("follows a merchant: Faults shows the rules for this merchant and the rules for all merchants", async () => {
    const { bench, desk } = await openPane("7");
    await desk.run("g", "m");
    for (const merchant of ["mer_lodge", "mer_market", undefined])
      await bench.control("POST", "/faults", {
        name: `rule of ${merchant ?? "all"}`,
        action: { type: "status", status: 503 },
        match: { ...(merchant && { merchant }) },
      });
    await desk.run("4");
    await desk.apply({ state: desk.state, effects: [{ kind: "refresh" }] });
    expect(desk.screen()[0]).toContain("ONLY mer_lodge");
    expect(textOf(desk)).toContain("rule of mer_lodge");
    expect(textOf(desk)).toContain("rule of all");
    expect(textOf(desk)).not.toContain("rule of mer_market");
  });

  test("limits every pane to the merchant, besides the pane's filter, until Esc shows all merchants", async () => {
    const bench = await workplace();
    const desk = await openTestDashboard(bench.url, 140, 45);
    desk.state = withLiveEvents(desk.state, [...(await loggedRequests(bench)), ...(await loggedAttempts(bench))]);
    const filters = () => ["requests", "deliveries", "limits"].map((pane) => listOf(desk.state, pane).filter);
    const limited = "merchant:mer_lodge";
    await desk.run("m", "/", "x");
    expect(filters()).toEqual([`${limited} x`, limited, limited]);
    await desk.run("escape", "/", "up", "enter");
    expect(filters()).toEqual([`is:failed ${limited}`, limited, limited]);
    await desk.run("/", "up", "down", "escape");
    expect(filters()).toEqual([limited, limited, limited]);
    expect(desk.screen()[0]).toContain("ONLY mer_lodge");
    await desk.run("2", "escape");
    expect([filters(), desk.screen()[0]]).toEqual([["", "", ""], expect.not.stringContaining("ONLY")]);
  });

  test("is not the same as a filter for a merchant, which Esc clears in its pane", async () => {
    const bench = await workplace();
    const desk = await openTestDashboard(bench.url, 140, 45);
    await desk.run("/", ...typing("merchant:mer_lodge x"), "escape");
    expect(listOf(desk.state, "requests").filter).toBe("");
  });
});
