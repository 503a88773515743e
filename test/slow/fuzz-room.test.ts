// Fuzzes the answers of a workshop room's server: `learn --join` writes the lesson's file at most, and only where there is none of the user's.

import { mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { checkedTransport } from "../../src/cli/remote/probe.ts";
import type { LearnerPlace } from "../../src/cli/workshop/lesson-file.ts";
import { learnerClient } from "../../src/cli/workshop/lesson-prompt.ts";
import { createControlClient } from "../../src/client/control-call.ts";
import { currentStepText } from "../../src/contracts/lesson-text.ts";
import { SandboxError } from "../../src/kernel/errors.ts";
import { attempted } from "../support/attacks.ts";
import { type Edit, edit, edited, runs } from "../support/fuzzing.ts";
import { folder } from "../support/program.ts";

const NAMES = [
  "../home/.profile",
  "/tmp/merchant-sandbox-attack",
  ".bashrc",
  "a/b.mjs",
  "..\\b.mjs",
  "paging.mjs\n",
  "mine.mjs",
  "CON",
  ".mjs",
];

/** Where a learner is, as the server of a room answers it. */
function placeOf({ lesson, file, how, version }: { lesson: string; file: string; how: string; version: number }) {
  const step = { number: 1, title: "Read", blocks: [{ kind: "prose", text: "Read." }], command: null, hints: 0, mends: true };
  return {
    learner: {
      ...{ id: "mer_1", name: "Ada", lesson, title: "Paging", step: 1, stepTitle: "Read", steps: 1, ticked: 0, hints: 0, hint: null },
      ...{ since: "2026-01-05T12:00:00.000Z", elapsed: 0, next: null, version },
      left: how === "" ? [] : [{ lesson, step: 1, how, hints: 0, at: "2026-01-05T12:00:00.000Z" }],
    },
    lesson: {
      name: lesson,
      number: 2,
      title: "Paging",
      about: "About.",
      steps: [step],
      file: { name: file, start: "start", solution: `solution ${version}` },
    },
  };
}

interface Answer {
  lesson: string;
  file: string;
  how: string;
  version: number;
  edits: Edit[];
}

const LESSONS = ["paging", "webhooks", "mine"];
const answer: fc.Arbitrary<Answer> = fc.record({
  lesson: fc.oneof({ weight: 4, arbitrary: fc.constantFrom(...LESSONS) }, fc.constantFrom("../a", "", "a/b", "__proto__")),
  file: fc.oneof({ weight: 3, arbitrary: fc.constantFrom(...LESSONS).map((name) => `${name}.mjs`) }, fc.constantFrom(...NAMES)),
  how: fc.constantFrom("", "skipped", "prepared", "ticked"),
  version: fc.nat({ max: 100 }),
  edits: fc.oneof({ weight: 2, arbitrary: fc.constant<Edit[]>([]) }, fc.array(edit, { minLength: 1, maxLength: 3 })),
});

const before = process.cwd();
let base: string;
let outside: string;
beforeEach(() => {
  base = folder();
  outside = folder();
  process.chdir(base);
});
afterEach(() => process.chdir(before));

/** As in a new process: how many files were created is counted in the module. */
async function freshKeeper() {
  vi.resetModules();
  return import("../../src/cli/workshop/lesson-file.ts");
}

/** The user's own files, of which one is named like a lesson's, and a link that leads out of the folder. */
function lay(): void {
  for (const name of readdirSync(base)) rmSync(join(base, name), { recursive: true });
  for (const name of readdirSync(outside)) rmSync(join(outside, name), { recursive: true });
  mkdirSync(join(base, "a"));
  writeFileSync(join(base, "mine.mjs"), "mine");
  writeFileSync(join(base, "a", "b.mjs"), "mine");
  symlinkSync(join(outside, ".profile"), join(base, "webhooks.mjs"));
}

const own = () => [
  readFileSync(join(base, "mine.mjs"), "utf8"),
  readFileSync(join(base, "a", "b.mjs"), "utf8"),
  readdirSync(join(base, "a")),
];

test("any answers of a room leave the user's files as they are, and add none but the lessons'", async () => {
  let written = 0;
  let refused = 0;
  const property = fc.asyncProperty(fc.array(answer, { minLength: 1, maxLength: 5 }), async (answers) => {
    lay();
    const { updateFile } = await freshKeeper();
    let shown: LearnerPlace | undefined;
    for (const { edits, ...drawn } of answers) {
      attempted("Files written by a lesson or a room's server");
      const reply = edited(placeOf(drawn), edits) as Partial<LearnerPlace>;
      const answerTo = ({ path }: { path: string }) => Promise.resolve(path.startsWith("/lessons/") ? reply.lesson : reply.learner);
      const client = learnerClient({ control: createControlClient(checkedTransport("http://room", answerTo)) }, "mer_1");
      const place = await client.place().catch((error: unknown) => {
        expect(error).toBeInstanceOf(SandboxError);
        refused++;
      });
      if (!place) continue;
      for (const line of updateFile(shown, place)) expect(line).toMatch(/\S/);
      if (place.lesson) currentStepText(place.lesson, place.learner, 80);
      shown = place;
    }
    expect(own()).toEqual(["mine", "mine", ["b.mjs"]]);
    expect(readdirSync(outside)).toEqual([]);
    const added = readdirSync(base).filter((name) => !["a", "mine.mjs", "webhooks.mjs"].includes(name));
    expect(added.filter((name) => !/^(paging|webhooks|mine)(\.solution)?\.mjs(\.before(-\d+)?)?$/.test(name))).toEqual([]);
    written += added.length;
  });
  await fc.assert(property, runs(40));
  expect(Math.min(written, refused)).toBeGreaterThan(4);
});

test("a room that names another lesson with each answer does not fill the folder", async () => {
  lay();
  const { updateFile } = await freshKeeper();
  const lines = Array.from({ length: 60 }, (_, number) => {
    attempted("Files written by a lesson or a room's server");
    const lesson = `lesson-${number}`;
    return updateFile(undefined, placeOf({ lesson, file: `${lesson}.mjs`, how: "", version: number }) as LearnerPlace);
  });
  expect(readdirSync(base).filter((name) => name.startsWith("lesson-"))).toHaveLength(50);
  expect(lines.at(-1)).toEqual([expect.stringContaining("has created 50 files, which is the most")]);
});
