// `learn` in a pseudo-terminal: the built program, alone and as a room with its board.

import { describe, expect, test } from "vitest";
import { openProgram, USUAL } from "../support/terminal.ts";

describe("learn on a terminal", () => {
  test("opens the lesson, completes a step when its command runs, hints after a while, and s shows plain lines", async () => {
    const terminal = openProgram(["learn", "--port", "0", "--hint-after", "2s"], { size: USUAL });
    const first = await terminal.shows("1. Ask who you are");
    expect(first).toMatch(/\[\d Lesson\]/);
    const url = /http:\/\/127\.0\.0\.1:\d+/.exec(first)?.[0] ?? "";
    await fetch(`${url}/v1/merchants/me`, { headers: { Authorization: "Bearer sk_test_lodge" } });
    await terminal.shows("Step completed. Press n to go on.");
    terminal.type("n");
    const second = await terminal.shows("2. Read a list");
    expect(second).toContain("✓1  ▸2");
    await terminal.shows("Hint 1 of 1: ");
    terminal.type("S");
    await terminal.shows("3. Request a missing record");
    terminal.type("s");
    await terminal.shows("[first-call 3/5]");
    terminal.type("s");
    await terminal.shows(/\[\d Lesson\]/);
    terminal.type("q");
    await terminal.shows("Quit?");
    terminal.type("y");
    expect((await terminal.ended).code).toBe(0);
  });

  test("serves a room whose board lists all participants without their keys", async () => {
    const terminal = openProgram(["learn", "--serve", "--port", "0", "--allowed-host", "127.0.0.1"]);
    const invitation = await terminal.shows("No learners yet");
    const path = /\/_sandbox\/room\/[0-9a-f]{16}/.exec(invitation.replaceAll(/\s*│\n│\s*/g, ""))?.[0];
    const port = /:(\d+)\/v1/.exec(invitation)?.[1];
    const joined = await fetch(`http://127.0.0.1:${port}${path}/join`, {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify({ name: "Ada" }),
    });
    expect(joined.status).toBe(200);
    const screen = await terminal.shows(/Ada +first-call +1\/5/);
    expect(screen).toContain("1 learner");
    expect(screen).not.toContain(((await joined.json()) as { apiKey: string }).apiKey.slice(8));
    terminal.type("q");
    expect((await terminal.ended).code).toBe(0);
  });
});
