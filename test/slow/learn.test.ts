// Runs `learn` with plain lines, with JSON and in a pseudo-terminal, and checks the lesson pane in each step.

import { execFile } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import stringWidth from "string-width";
import { describe, expect, test } from "vitest";
import { learn, pollOnce } from "../support/learner-dashboard.ts";
import { folder, launch, type Program, runCommand } from "../support/program.ts";
import { openProgram, USUAL } from "../support/terminal.ts";

const OWN_LESSON =
  "# My lesson\n\nAbout it.\n\n## 1. Read\n\nRead.\n\n" +
  '<!-- check: {"requests": {"match": {"operation": "merchants.me", "status": 200}}} -->\n';

const shell = (command: string) =>
  new Promise<string>((resolve) => {
    execFile("sh", ["-c", command], { cwd: folder() }, (_failure, out, error) => resolve(out + error));
  });

const says = (program: Program, words: string) => program.line((line) => line.includes(words));
const type = (program: Program, letter: string) => void program.child.stdin?.write(`${letter}\n`);

/** The first command printed after the line with these words. */
const commandAfter = (program: Program, words: string) =>
  program.line(
    (line) =>
      line.startsWith("    ") && program.out.indexOf(line) > program.out.findIndex((other) => other.includes(words)),
  );

const stop = async (program: Program) => {
  program.child.kill("SIGTERM");
  return program.ended;
};

test("learn lists the built-in lessons, or the lessons of the given folder", async () => {
  const { code, out } = await runCommand(undefined, "learn", "--list");
  expect([code, out.slice(0, 2)]).toEqual([
    0,
    ["1 first-call       Your first call (5 steps)", "2 paging           Paging (5 steps)"],
  ]);
  const lessons = folder();
  writeFileSync(join(lessons, "07-mine.md"), OWN_LESSON);
  const own = await runCommand(undefined, "learn", "--list", "--lessons", lessons);
  expect([own.out, own.error]).toEqual([["7 mine             My lesson (1 step)"], ""]);
});

test("built-in lessons use default assumptions and say so; a user's lessons use the configured values", async () => {
  const cwd = folder();
  const limit = async (...words: string[]) => {
    writeFileSync(join(cwd, "merchant-sandbox.json"), JSON.stringify({ assumptions: { "rate_limit.limit": 9 } }));
    const program = launch(["learn", "--json", "--port", "0", ...words], {}, cwd);
    const { url } = JSON.parse(await says(program, '"event":"ready"'));
    const { headers } = await fetch(`${url}/v1/payments`);
    const { code, error } = await stop(program);
    expect(code).toBe(0);
    return [headers.get("ratelimit-limit"), /The built-in lessons use the defaults of [^"]*/.exec(error)?.[0]];
  };
  expect(await limit()).toEqual([
    "6000",
    "The built-in lessons use the defaults of rate_limit.limit, which they describe. " +
      "Your own lessons (--lessons) use the values that you set.",
  ]);
  mkdirSync(join(cwd, "lessons"));
  writeFileSync(join(cwd, "lessons/01-mine.md"), OWN_LESSON);
  expect(await limit("--lessons", "lessons")).toEqual(["9", undefined]);
});

test("learn shows a step, marks it done and shows the next step; h prints a hint, and s skips a step", async () => {
  const program = launch(["learn", "--port", "0", "--hint-after", "0s"]);
  await says(program, "[first-call 1/5] Ask who you are");
  expect(program.out).toContain("Your first call");
  await shell(await commandAfter(program, "[first-call 1/5]"));
  await says(program, "completed: Ask who you are");
  await says(program, "[first-call 2/5] Read a list");
  type(program, "h");
  await says(program, "hint: The URL is quoted");
  type(program, "s");
  await says(program, "skipped: Read a list");
  await says(program, "[first-call 3/5]");
  expect(await stop(program)).toMatchObject({ code: 0, error: "" });
});

test("learn continues with the next lesson", async () => {
  const program = launch(["learn", "--port", "0", "--step", "5"]);
  await says(program, "[first-call 5/5] Create a record");
  type(program, "s");
  await says(program, '"Your first call" is complete: 0 of 5 steps done. The next lesson is paging.');
  await says(program, "[paging 1/5]");
  await stop(program);
});

test("learn writes the lesson's file with the sandbox's address, and keeps the learner's own version", async () => {
  const cwd = folder();
  const first = launch(["learn", "paging", "--port", "0"], {}, cwd);
  await says(first, "paging.mjs was created in this folder");
  const ready = await says(first, "is ready at");
  const file = join(cwd, "paging.mjs");
  expect(readFileSync(file, "utf8")).toContain(`"${/http:\S+/.exec(ready)?.[0]}"`);
  await stop(first);
  // `learn` recognises its file by the first line.
  const mine = `${readFileSync(file, "utf8").split("\n")[0]}\nmine`;
  writeFileSync(file, mine);
  const second = launch(["learn", "2", "--port", "0"], {}, cwd);
  await says(second, "paging.mjs already exists and was not changed");
  type(second, "s");
  for (const number of [2, 3, 4, 5]) {
    await says(second, `[paging ${number}/5]`);
    type(second, "s");
  }
  await says(second, "paging.mjs now contains the solution; your version is paging.mjs.before");
  expect([readFileSync(`${file}.before`, "utf8"), readFileSync(file, "utf8")]).toEqual([
    mine,
    expect.stringContaining("has_more"),
  ]);
  await stop(second);
});

test("learn keeps progress in the file of --db", async () => {
  const db = join(folder(), "learning.db");
  const words = ["learn", "--port", "0", "--db", db];
  const first = launch(words);
  await shell(await commandAfter(first, "[first-call 1/5]"));
  await says(first, "[first-call 2/5]");
  await stop(first);
  const second = launch(words);
  await says(second, "[first-call 2/5] Read a list");
  await stop(second);
});

test("learn starts the lesson again after a reset", async () => {
  const program = launch(["learn", "--port", "0"]);
  const url = /http:\S+(?=\/v1)/.exec(await says(program, "is ready at"))?.[0];
  await says(program, "[first-call 1/5]");
  type(program, "s");
  await says(program, "[first-call 2/5]");
  const before = program.out.length;
  await shell(`curl -s -X POST ${url}/_sandbox/reset -H 'Content-Type: application/json' -d '{}'`);
  await program.line((line) => line.includes("[first-call 1/5]") && program.out.lastIndexOf(line) >= before);
  expect((await stop(program)).error).toContain("the lesson starts again");
});

test("learn --json prints the current step, and each step that ends", async () => {
  const program = launch(["learn", "--port", "0", "--json"]);
  const { baseUrl } = JSON.parse(await says(program, '"event":"ready"'));
  expect(JSON.parse(await says(program, '"news":"began"'))).toMatchObject({
    event: "lesson",
    learner: { id: "mer_lodge", lesson: "first-call", step: 1, steps: 5, completed: 0, finishedSteps: [] },
  });
  await shell(`curl -s ${baseUrl}/merchants/me -H 'Authorization: Bearer sk_test_lodge'`);
  const time = expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/);
  expect(JSON.parse(await says(program, '"news":"completed"'))).toMatchObject({
    event: "lesson",
    learner: {
      step: 2,
      completed: 1,
      since: time,
      finishedSteps: [{ lesson: "first-call", step: 1, how: "completed", hints: 0, at: time }],
    },
  });
  expect(await stop(program)).toMatchObject({ code: 0, error: "" });
});

test.each([
  [["learn", "pagign"], 2, "Did you mean paging?"],
  [["learn", "--step", "9"], 2, "there is no step 9"],
  [["learn", "--step", "two"], 2, "--step takes the number of a step"],
])("the command %j is rejected with exit code %i", async (words, code, says) => {
  const ended = await runCommand(undefined, ...words, "--port", "0");
  expect([ended.code, ended.error]).toEqual([code, expect.stringContaining(says)]);
});

describe("learn on a terminal", () => {
  test("opens the lesson, completes a step after its call, and later gives a hint; s shows plain lines", async () => {
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
    await terminal.shows("Stop the sandbox");
    terminal.type("s");
    expect((await terminal.ended).code).toBe(0);
  });
});

const SIZES = [
  [120, 36],
  [80, 24],
  [60, 15],
] as const;

test("in every step of every lesson, the lesson pane exactly fills screens of three sizes", async () => {
  const { bench, desk } = await learn("first-call");
  const { data } = (await bench.control("GET", "/lessons")) as { data: { name: string; steps: unknown[] }[] };
  for (const { name, steps } of data) {
    for (const index of steps.keys()) {
      await bench.control("POST", "/learners/mer_lodge/lesson", { name, step: index + 1 });
      await pollOnce(desk);
      for (const [columns, rows] of SIZES) {
        const lines = desk.screen(columns, rows);
        expect([name, index, columns, lines.length]).toEqual([name, index, columns, rows]);
        expect(lines.filter((line) => stringWidth(line) > columns)).toEqual([]);
        const boxed = lines.filter((line) => line.startsWith("│"));
        expect(boxed.every((line) => stringWidth(line) === columns)).toBe(true);
        expect(lines.join("\n")).toContain(`▸${index + 1}`);
      }
    }
  }
});
