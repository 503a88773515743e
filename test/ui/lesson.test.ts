// The lesson pane and its keys.

import { describe, expect, test } from "vitest";
import type { LessonMessage } from "../../src/contracts/lesson.ts";
import { visiblePanes } from "../../ui/panes/index.ts";
import { digitOf, handleKey } from "../../ui/panes/keys/key-bindings.ts";
import { pollLearner } from "../../ui/state/learning.ts";
import type { Effect } from "../../ui/state/state.ts";
import { perform } from "../../ui/terminal/platform.ts";
import { type TestDashboard, typing } from "../support/dashboard.ts";
import { learn, OWN, pollOnce } from "../support/learner-dashboard.ts";
import { emptyDashboard, withLiveEvents } from "../support/live-rows.ts";
import type { Bench } from "../support/sandbox.ts";

/** Resolves with the next lesson message of this kind in the stream. */
function newsOf(bench: Bench, wanted: LessonMessage["news"]): Promise<LessonMessage> {
  return new Promise((resolve) => {
    bench.onLiveEvent((event) => {
      if (event.kind === "lesson" && event.lesson.news === wanted) resolve(event.lesson);
    });
  });
}

const text = (desk: TestDashboard) => desk.screen().join("\n");

describe("the lesson pane", () => {
  test("is shown only to a learner, before Endpoints, and takes over the digit of Endpoints", () => {
    const state = emptyDashboard();
    const usual = visiblePanes(state).map(({ name }) => name);
    const digit = digitOf(usual.indexOf("endpoints"));
    expect(usual).not.toContain("lesson");
    const shown = visiblePanes({ ...state, learning: OWN }).map(({ name }) => name);
    expect(shown).toEqual(usual.toSpliced(usual.indexOf("endpoints"), 0, "lesson"));
    expect(handleKey(state, digit).state.pane).toBe("endpoints");
    expect(handleKey({ ...state, learning: OWN }, digit).state.pane).toBe("lesson");
  });

  test("shows the progress, the step and its command with the sandbox's URL", async () => {
    const { bench, desk } = await learn();
    const screen = text(desk);
    expect(screen).toContain("▸1   2   3   4   5");
    expect(screen).toContain("1. Ask who you are");
    expect(screen).toMatch(new RegExp(`curl -s ${bench.url}/v1/merchants/me \\\\ +│`));
    expect(screen).toMatch(/\d Lesson/);
    expect(screen).toContain("Your first call");
    expect(screen).toContain("y copy  v select  H hint  S skip  L lessons");
  });

  test("keeps the text of a completed step until the learner presses n, and shows earlier steps with p", async () => {
    const { bench, desk } = await learn();
    const completed = newsOf(bench, "completed");
    await bench.call("GET", "/v1/merchants/me");
    desk.state = withLiveEvents(desk.state, [{ kind: "lesson", lesson: await completed }]);
    const screen = text(desk);
    expect(screen).toContain("✓1  ▸2   3   4   5");
    expect(screen).toContain("1. Ask who you are");
    expect(screen).toContain("✓ Step completed. Press n to go on.");
    expect(screen).toContain("Step completed: Ask who you are");
    desk.press("n");
    expect(text(desk)).toContain("2. Read a list");
    desk.press("n", "p");
    expect(text(desk)).toContain("1. Ask who you are");
    desk.press("p", "y");
    expect(desk.state.lastCopy).toContain("/v1/merchants/me");
    desk.press("n");
    expect(text(desk)).toContain("2. Read a list");
  });

  test("ignores other learners", async () => {
    const { bench, desk } = await learn();
    const completed = newsOf(bench, "completed");
    await bench.call("GET", "/v1/merchants/me");
    const { learner, ...rest } = await completed;
    const before = desk.screen();
    desk.state = withLiveEvents(desk.state, [
      { kind: "lesson", lesson: { ...rest, learner: { ...learner, id: "mer_market" } } },
    ]);
    expect(desk.screen()).toEqual(before);
  });

  test("ignores the reply of a poll that is older than a message of the stream", async () => {
    const { bench, desk } = await learn();
    const [asked] = pollLearner(desk.state) as [Effect & { kind: "call" }];
    const old = await perform(desk.state.target, asked.call);
    const completed = newsOf(bench, "completed");
    await bench.call("GET", "/v1/merchants/me");
    desk.state = withLiveEvents(desk.state, [{ kind: "lesson", lesson: await completed }]);
    desk.state = asked.onReply(desk.state, old).state;
    expect(desk.state.learning?.learner?.step).toBe(2);
  });

  test("y copies the command without the wrapping", async () => {
    const { bench, desk } = await learn();
    await desk.run("y");
    expect(desk.copied).toEqual([`curl -s ${bench.url}/v1/merchants/me -H "Authorization: Bearer sk_test_lodge"`]);
  });

  test("v shows the command alone, on lines that a shell reads as one command", async () => {
    const { bench, desk } = await learn("first-call", 60, 24);
    desk.press("v");
    const lines = desk.screen().slice(3, 5);
    expect(lines.map((line) => line.trimEnd())).toEqual([
      `curl -s ${bench.url}/v1/merchants/me \\`,
      '-H "Authorization: Bearer sk_test_lodge"',
    ]);
  });

  test("H shows a hint and scrolls to it, S skips the step, and ! shows the call as curl", async () => {
    const { desk } = await learn("first-call", 80, 15);
    expect(text(desk)).not.toContain("Hint 1");
    desk.press("H");
    expect(desk.waiting()).toEqual([{ method: "POST", path: "/learners/mer_lodge/hint" }]);
    await desk.settle();
    expect(text(desk)).toContain("Hint 1 of 1: Run the command");
    await desk.run("S");
    expect(text(desk)).toContain("-1  ▸2   3   4   5");
    expect(text(desk)).toContain("2. Read a list");
    expect(text(desk)).toContain("Skipped: Ask who you are");
    desk.press("!");
    expect(text(desk)).toContain("/learners/mer_lodge/skip");
  });

  test("scrolls with the movement keys, and shows a new step from its top", async () => {
    const { desk } = await learn("first-call", 60, 15);
    const top = desk.screen();
    const part = () => /(\d+)-(\d+) of (\d+)/.exec(text(desk))?.slice(1).map(Number) ?? [];
    const [, seen = 0, all = 0] = part();
    expect([part()[0], seen < all]).toEqual([1, true]);
    desk.press("j", "j");
    expect(part()).toEqual([3, seen + 2, all]);
    desk.press("G");
    expect(part().slice(1)).toEqual([all, all]);
    desk.press("j");
    expect(part().slice(1)).toEqual([all, all]);
    desk.press("k");
    expect(part()[1]).toBe(all - 1);
    desk.press("g");
    expect(desk.screen()).toEqual(top);
    await desk.run("G", "S");
    expect(text(desk)).toContain("2. Read a list");
    desk.press("/");
    expect(desk.state.filterLine).toBeUndefined();
  });

  test("L starts a lesson at the chosen step", async () => {
    const { desk } = await learn();
    await desk.run("L");
    expect(text(desk)).toContain("7 Retries, duplicates and order ");
    desk.press(...typing("2"), "tab", ...typing("3"));
    expect(text(desk)).toContain(`--data-raw '{"name":"paging"`);
    await desk.run("enter");
    await pollOnce(desk);
    expect(text(desk)).toContain("-1  -2  ▸3   4   5");
    expect(text(desk)).toContain("Paging");
  });

  test("says when the lesson is complete, and offers the next one", async () => {
    const { desk } = await learn();
    for (const _ of [1, 2, 3, 4, 5]) await desk.run("S");
    expect(text(desk)).toContain("Lesson complete.");
    expect(text(desk)).toContain("the next lesson: paging");
    desk.press("S", "H", "y");
    expect([desk.waiting(), desk.copied]).toEqual([[], []]);
    await desk.run("L");
    await desk.run("enter");
    await pollOnce(desk);
    expect(text(desk)).toContain("1. Take the first page");
  });

  test("is cleared by a reset, and comes back when the lesson starts again", async () => {
    const { bench, desk } = await learn();
    await desk.run("S");
    desk.state = withLiveEvents(desk.state, [{ kind: "reset", merchant: null }]);
    expect(text(desk)).toContain("Loading the lesson");
    await bench.control("POST", "/reset", {});
    await bench.control("POST", "/learners", {});
    await bench.control("POST", "/learners/mer_lodge/lesson", { name: "first-call" });
    await pollOnce(desk);
    expect(text(desk)).toContain("▸1   2   3   4   5");
  });
});
