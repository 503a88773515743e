// The lesson's file in the learner's folder is created when the lesson begins. When its step is skipped, the solution
// replaces it. Other files of the learner do not change.

import { existsSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import type { LearnerPlace } from "../../src/cli/lessons/learner-client.ts";
import { updateFile } from "../../src/cli/lessons/lesson-file.ts";
import { folder } from "../support/program.ts";
import { attempted } from "../support/sandbox.ts";

const WHEN = "2026-01-05T12:00:00.000Z";

/** A learner at the only step of a lesson that has a file, or a learner who has skipped that step. */
const placeOf = (how?: "skipped"): LearnerPlace => ({
  learner: {
    id: "mer_lodge",
    name: "mer_lodge",
    lesson: "paging",
    title: "Paging",
    step: how ? null : 1,
    stepTitle: how ? null : "Read",
    steps: 1,
    completed: 0,
    hints: 0,
    hint: null,
    since: WHEN,
    elapsed: 0,
    next: null,
    finishedSteps: how ? [{ lesson: "paging", step: 1, how, hints: 0, at: WHEN }] : [],
    version: 0,
  },
  lesson: {
    name: "paging",
    number: 2,
    title: "Paging",
    about: "About.",
    steps: [{ number: 1, title: "Read", blocks: [], command: null, hints: 0, mends: true }],
    file: { name: "paging.mjs", start: "start", solution: "solution" },
  },
});

/** Begins the lesson in a folder, then skips its step. Returns what the learner reads. */
function beginAndSkip(cwd: string): string[] {
  const before = process.cwd();
  process.chdir(cwd);
  onTestFinished(() => process.chdir(before));
  return [...updateFile(undefined, placeOf()), ...updateFile(placeOf(), placeOf("skipped"))];
}

test("a file of the learner is not overwritten when the lesson begins or a step is skipped", () => {
  const cwd = folder();
  attempted("Files written by a lesson", 2);
  writeFileSync(join(cwd, "paging.mjs"), "mine");
  expect(beginAndSkip(cwd)).toEqual([
    "paging.mjs already exists and was not changed.",
    "paging.mjs was not written by this lesson and was not changed; the solution is paging.solution.mjs.",
  ]);
  expect(readFileSync(join(cwd, "paging.mjs"), "utf8")).toBe("mine");
  expect(existsSync(join(cwd, "paging.mjs.before"))).toBe(false);
});

test.each(["present", "absent"])("a symbolic link whose target is %s is not followed", (target) => {
  const [cwd, home] = [folder(), folder()];
  attempted("Files written by a lesson", 2);
  const profile = join(home, ".profile");
  if (target === "present") writeFileSync(profile, "mine");
  symlinkSync(profile, join(cwd, "paging.mjs"));
  symlinkSync(profile, join(cwd, "paging.solution.mjs"));
  expect(beginAndSkip(cwd).at(-1)).toContain("paging.solution.mjs exists already");
  if (target === "present") expect(readFileSync(profile, "utf8")).toBe("mine");
  else expect(existsSync(profile)).toBe(false);
});

test("the learner's version is renamed, and an older one kept, when the solution replaces the file", () => {
  const cwd = folder();
  const file = join(cwd, "paging.mjs");
  writeFileSync(`${file}.before`, "older");
  expect(beginAndSkip(cwd)).toEqual([
    "paging.mjs was created in this folder.",
    "paging.mjs now contains the solution; your version is paging.mjs.before-2.",
  ]);
  const secondLine = (path: string) => readFileSync(path, "utf8").split("\n")[1];
  expect([secondLine(file), secondLine(`${file}.before-2`), readFileSync(`${file}.before`, "utf8")]).toEqual([
    "solution",
    "start",
    "older",
  ]);
});
