// Fuzzes user-written files: a file is accepted, or rejected with file and line, and affects nothing else.

import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import fc from "fast-check";
import { expect, test } from "vitest";
import { eventTypes, resources } from "../../src/areas/index.ts";
import { addRulesFromFile, createFaults, type Faults } from "../../src/faults/index.ts";
import { rules } from "../../src/judge/rules/index.ts";
import { createClock, parseTime } from "../../src/kernel/clock.ts";
import { SandboxError } from "../../src/kernel/errors.ts";
import { readLesson } from "../../src/lessons/lesson-files.ts";
import { createSandbox } from "../../src/sandbox/create.ts";
import { operations } from "../../src/sandbox/engine.ts";
import { packageFile } from "../../src/sandbox/package-files.ts";
import { readScenario } from "../../src/scenarios/scenario-files.ts";
import { readCheckedFixtures } from "../../src/store/world/fixtures.ts";
import { type Change, changed, type Edit, edit, edited, JSON_TOKENS, runs, someChanges } from "../support/fuzzing.ts";
import { folder } from "../support/program.ts";
import { attempted, NOON } from "../support/sandbox.ts";

const TOKENS = [...JSON_TOKENS, "//", "/*", "\0", "\xef\xbb\xbf", "<!--", "-->", "```", "## 9. ", "\n", "# "];

/** The files of a package folder by name. */
function filesOf(path: string): Record<string, string> {
  const names = readdirSync(packageFile(path)).filter((name) => /\.(json|md)$/.test(name));
  return Object.fromEntries(names.map((name) => [name, readFileSync(packageFile(`${path}/${name}`), "utf8")]));
}

interface Spoilt {
  /** Index of the file, modulo their number. */
  file: number;
  edits: Edit[];
  changes: Change[];
}

const spoilt: fc.Arbitrary<Spoilt> = fc.record({
  file: fc.nat({ max: 30 }),
  edits: fc.array(edit, { maxLength: 3 }),
  changes: someChanges(TOKENS, 3, 2),
});

/** A file with edits of its JSON, if it is JSON, and changes of its bytes. */
function corrupt(files: Record<string, string>, { file, edits, changes }: Spoilt): [name: string, bytes: Buffer] {
  const names = Object.keys(files);
  const name = names[file % names.length] as string;
  const text = files[name] ?? "";
  const written = name.endsWith(".json") ? JSON.stringify(edited(JSON.parse(text), edits), null, 2) : text;
  return [name, changed(Buffer.from(written ?? "null"), changes)];
}

/** Reads a file; an error must name the line. Returns whether the file was accepted. */
async function accepts(path: string, read: () => Promise<unknown>): Promise<boolean> {
  try {
    await read();
    return true;
  } catch (error) {
    expect(error, String((error as Error).stack)).toBeInstanceOf(SandboxError);
    const { message, exitCode } = error as SandboxError;
    expect([message, exitCode]).toEqual([expect.stringMatching(new RegExp(`${basename(path)}:[1-9]\\d*[ :]`)), 6]);
    expect(message.length).toBeLessThan(10_000);
    return false;
  }
}

async function start(options: Parameters<typeof createSandbox>[0]): Promise<void> {
  const sandbox = await createSandbox({ clock: NOON, ...options });
  const answer = await fetch(`${sandbox.url}/_sandbox`);
  expect(answer.status).toBe(200);
  await sandbox.close();
}

/** Both outcomes must occur: accepted and rejected files. */
async function fuzz(sample: number, corpus: Spoilt[], outcome: (drawn: Spoilt) => Promise<boolean>): Promise<void> {
  const seen = { taken: 0, refused: 0 };
  await fc.assert(
    fc.asyncProperty(spoilt, async (drawn) => {
      attempted("Malformed input");
      seen[(await outcome(drawn)) ? "taken" : "refused"]++;
    }),
    runs(sample, corpus),
  );
  expect(Math.min(seen.taken, seen.refused)).toBeGreaterThan(sample / 30);
}

function freshFaults(): Faults {
  const known = { operations, eventTypes, merchants: () => ["mer_lodge"], ownerOf: () => undefined, judgeRules: rules.map(({ id }) => id) };
  return createFaults({ clock: createClock(parseTime(NOON)), seed: 1, known, keepHistory: () => {}, loggedRuleIds: () => [] });
}

test("a mutated fixture is rejected with its line, or the sandbox starts with it", async () => {
  const files = filesOf("fixtures/merchants");
  const dir = folder();
  await fuzz(30, [], async (drawn) => {
    const [name, bytes] = corrupt(files, drawn);
    for (const [other, text] of Object.entries(files)) writeFileSync(join(dir, other), text);
    writeFileSync(join(dir, name), bytes);
    const taken = await accepts(`${dir}/[a-z]+.json`, () => readCheckedFixtures(dir, resources));
    if (taken) await start({ fixtures: dir });
    return taken;
  });
});

test("a mutated scenario is rejected with its line, or the sandbox starts with it", async () => {
  const files = filesOf("fixtures/scenarios");
  const path = join(folder(), "spoilt.json");
  const grammar = { checkFault: freshFaults().rules.check, judgeRules: rules.map(({ id }) => id) };
  // A null rule.
  const corpus: Spoilt[] = [{ file: 27, edits: [{ what: "replace", node: 1_524, value: null, name: "" }], changes: [] }];
  await fuzz(60, corpus, async (drawn) => {
    writeFileSync(path, corrupt(files, drawn)[1]);
    const taken = await accepts(path, () => readScenario(path, grammar));
    if (taken) await start({ scenario: [path] });
    return taken;
  });
});

test("a mutated fault file is rejected with its line, or its rules are added", async () => {
  const files = Object.fromEntries(
    Object.entries(filesOf("fixtures/scenarios")).map(([name, text]) => [name, JSON.stringify({ faults: JSON.parse(text).faults })]),
  );
  const path = join(folder(), "faults.json");
  const { rules: book } = freshFaults();
  await fuzz(200, [], async (drawn) => {
    writeFileSync(path, corrupt(files, drawn)[1]);
    book.clear();
    return accepts(path, () => addRulesFromFile(path, book.add));
  });
});

test("a mutated lesson is rejected with its line, or loaded", async () => {
  const files = filesOf("fixtures/lessons");
  const dir = folder();
  await fuzz(200, [], async (drawn) => {
    const [name, bytes] = corrupt(files, drawn);
    const path = join(dir, name);
    writeFileSync(path, bytes);
    return accepts(path, () => readLesson(path, () => undefined));
  });
});
