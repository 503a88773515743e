// Runs every command of every lesson in a real shell, and checks that each step completes with its command and not
// before. Also tests hints, skipped steps, restarts and invalid lessons.

import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Learner, Lesson } from "../../generated/control-api.ts";
import { currentStepText } from "../../src/cli/lessons/lesson-text.ts";
import type { LessonMessage } from "../../src/contracts/lesson.ts";
import type { LiveEvent } from "../../src/contracts/live-messages.ts";
import { readLesson } from "../../src/lessons/lesson-files.ts";
import { fastClock, openShell, root, speedUp } from "../support/page.ts";
import { folder } from "../support/program.ts";
import { type Bench, call, control, freePort, open } from "../support/sandbox.ts";

const LESSONS = join(root, "fixtures/lessons");
const pages = readdirSync(LESSONS).filter((name) => /^\d\d-/.test(name));
const names = pages.map((page) => page.slice(3, -3));

// Lessons contain real pauses and retries. In this process and in the programs of a step, they take a quarter of the
// time.
const SPEED = 4;
await speedUp(SPEED);

/**
 * The client of "outages" compares the times of its attempts with the clock. If time ran faster, the outage would end
 * on a busy machine before the client has made enough attempts.
 */
const speedOf = (lesson: string) => (lesson === "outages" ? 1 : SPEED);

/** Opens a shell in a folder with the program. `run` waits for all processes of a command, and returns their output. */
function openFastShell(speed: number) {
  const shell = openShell(fastClock(speed));
  return {
    cwd: shell.cwd,
    async run(command: string): Promise<string> {
      const { out, error } = await shell.run(`set +e; ${command}`);
      return out + error;
    },
  };
}

/** Creates a learner who works in a separate folder. */
async function createLearner(url: string, name: string, speed = SPEED) {
  const { cwd, run } = openFastShell(speed);
  const { learner, apiKey } = (await control(url, "POST", "/learners", { name, hintAfter: "0s" })) as {
    learner: Learner;
    apiKey: string;
  };
  const { id } = learner;
  const state = (): Promise<Learner> => control(url, "GET", `/learners/${id}`);
  const lesson: { current: Lesson | undefined } = { current: undefined };
  return {
    id,
    apiKey,
    cwd,
    state,
    async begin(which: string, step?: number): Promise<Lesson> {
      await control(url, "POST", `/learners/${id}/lesson`, {
        name: which,
        ...(step === undefined ? {} : { step }),
      });
      const found = (await control(url, "GET", `/lessons/${which}?learner=${id}`)) as Lesson;
      lesson.current = found;
      const isMended = found.steps.slice(0, (step ?? 1) - 1).some(({ mends }) => mends);
      if (found.file) writeFileSync(join(cwd, found.file.name), isMended ? found.file.solution : found.file.start);
      return found;
    },
    /** Runs the command of a step, and returns the output. */
    async run({ command, mends }: Lesson["steps"][number]): Promise<string> {
      const file = lesson.current?.file;
      if (mends && file) writeFileSync(join(cwd, file.name), file.solution);
      return run(command ?? "true");
    },
    /** Makes a call that no lesson asks for. If the call completed a step, the step is complete when this resolves. */
    async makeUnrelatedCall() {
      await call(url, "GET", "/v1/employees/appraisals?limit=1", { key: apiKey });
      await control(url, "POST", "/drain", {});
      await state();
    },
  };
}

/** Milliseconds of the fast clock, more than any step takes. */
const LATE = 480_000;

/** Resolves with the learner's next update of this kind. On timeout, rejects with the events that arrived instead. */
const nextNews = (bench: Bench, id: string, news: LessonMessage["news"]) =>
  new Promise<LessonMessage>((resolve, reject) => {
    const heard: unknown[] = [];
    const late = setTimeout(
      () => reject(new Error(`${id}: no "${news}" arrived, but these events: ${JSON.stringify(heard)}`)),
      LATE,
    );
    bench.onLiveEvent((event: LiveEvent) => {
      heard.push(event);
      if (event.kind !== "lesson" || event.lesson.learner.id !== id || event.lesson.news !== news) return;
      clearTimeout(late);
      resolve(event.lesson);
    });
  });

/** The program of a lesson with a longer rate-limit window, because a busy machine takes longer for three attempts. */
const withLongLimit = (text: string) => text.replace("; retryAfter=2", `; retryAfter=${2 * SPEED}`);

/** A copy of the lessons whose receivers use free ports, so that the tests do not collide with other programs. */
const copiedLessons = mkdtempSync(join(tmpdir(), "merchant-sandbox-lessons-"));
afterAll(() => rmSync(copiedLessons, { recursive: true, force: true }));

beforeAll(async () => {
  cpSync(LESSONS, copiedLessons, { recursive: true });
  const files = readdirSync(copiedLessons, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  const texts = new Map(
    files.map(({ parentPath, name }) => [join(parentPath, name), readFileSync(join(parentPath, name), "utf8")]),
  );
  const ports = new Map<string, number>();
  for (const port of new Set([...texts.values()].join().match(/\b475\d\b/g))) ports.set(port, await freePort());
  for (const [path, text] of texts)
    writeFileSync(
      path,
      (path.endsWith(".mjs") ? withLongLimit(text) : text).replaceAll(/\b475\d\b/g, (port) => String(ports.get(port))),
    );
});

/** Whether the output contains the parts of a text in order. In the text, `…` matches anything. */
function matchesInOrder(text: string, output: string): boolean {
  const said = output.replaceAll("\r", "");
  let from = 0;
  for (const part of text.split("…")) {
    const found = said.indexOf(part.trim(), from);
    if (found === -1) return false;
    from = found + part.trim().length;
  }
  return true;
}

describe("every lesson", () => {
  /** Opens a sandbox with a running clock, because lessons describe real pauses and retries. */
  const openAsLearnersDo = () => open({ clock: undefined, lessons: copiedLessons });

  test.each(names)("%s: each step completes with its command, not before and not with broken code", async (name) => {
    const bench = await openAsLearnersDo();
    const workspace = await createLearner(bench.url, `reader of ${name}`, speedOf(name));
    const { steps, file } = await workspace.begin(name);
    for (const step of steps) {
      await workspace.makeUnrelatedCall();
      expect([name, (await workspace.state()).step]).toEqual([name, step.number]);
      if (step.mends && file) {
        writeFileSync(join(workspace.cwd, file.name), file.start);
        await workspace.run({ ...step, mends: false });
        await workspace.makeUnrelatedCall();
        expect([name, (await workspace.state()).step]).toEqual([name, step.number]);
      }
      const completed = nextNews(bench, workspace.id, "completed");
      const [said, { learner }] = await Promise.all([workspace.run(step), completed]);
      for (const { kind, text } of step.blocks)
        if (kind === "text") expect([said, matchesInOrder(text, said)]).toEqual([said, true]);
      expect(learner.finishedSteps.at(-1)).toMatchObject({ lesson: name, step: step.number, how: "completed" });
    }
    expect(await workspace.state()).toMatchObject({ lesson: name, step: null, completed: steps.length });
  });

  test.each(names)("%s: for a learner who starts at a later step, earlier results are created", async (name) => {
    const { steps } = (await control((await openAsLearnersDo()).url, "GET", `/lessons/${name}`)) as Lesson;
    // The last step needs the results of all other steps. `npm run walks` starts at each step.
    for (const { number } of steps.slice(process.env.WALKS === undefined ? -1 : 1)) {
      // Each start has its own sandbox. Otherwise a failed delivery would be retried to the next receiver on the same
      // port.
      const bench = await openAsLearnersDo();
      const workspace = await createLearner(bench.url, `reader of ${name} from ${number}`, speedOf(name));
      const lesson = await workspace.begin(name, number);
      await workspace.makeUnrelatedCall();
      const before = await workspace.state();
      expect([number, before.step, before.completed, before.finishedSteps.map(({ how }) => how)]).toEqual([
        number,
        number,
        0,
        steps.slice(0, number - 1).map(() => "prepared"),
      ]);
      const completed = nextNews(bench, workspace.id, "completed");
      const [, { learner }] = await Promise.all([
        workspace.run(lesson.steps[number - 1] as Lesson["steps"][number]),
        completed,
      ]);
      expect(learner.finishedSteps.at(-1)).toMatchObject({ step: number, how: "completed" });
      await bench.close();
    }
  });
});

describe("a learner", () => {
  const listed = (bench: Bench): Promise<Learner[]> => control(bench.url, "GET", "/learners").then(({ data }) => data);
  const payments = (bench: Bench, key?: string) =>
    bench.call("GET", "/v1/payments?limit=3", key === undefined ? {} : { key });
  const me = (bench: Bench, key?: string) => bench.call("GET", "/v1/merchants/me", key === undefined ? {} : { key });

  test("without a name uses the first merchant and its key; there is only one such learner", async () => {
    const bench = await open();
    const first = await control(bench.url, "POST", "/learners", {});
    expect(first).toMatchObject({
      learner: { id: "mer_lodge", name: "mer_lodge", lesson: null, step: null },
      apiKey: "sk_test_lodge",
      baseUrl: bench.baseUrl,
    });
    expect((await control(bench.url, "POST", "/learners", {})).learner.id).toBe("mer_lodge");
    expect(await listed(bench)).toHaveLength(1);
  });

  test("sees its own address, key and merchant in each command and file", async () => {
    const bench = await open();
    const workspace = await createLearner(bench.url, "Zoë");
    const lesson = await workspace.begin("paging");
    const text = JSON.stringify(lesson);
    expect(text).not.toMatch(/sk_test_lodge|127\.0\.0\.1:4747|mer_lodge/);
    expect(text).toContain(workspace.apiKey);
    expect(lesson.file?.start).toContain(`"${bench.url}/v1"`);
  });

  test("completes a step only by its own calls since the step began", async () => {
    const bench = await open();
    const workspace = await createLearner(bench.url, "Ada");
    await me(bench, workspace.apiKey);
    await payments(bench, workspace.apiKey);
    await workspace.begin("first-call");
    await me(bench);
    await workspace.makeUnrelatedCall();
    expect(await workspace.state()).toMatchObject({ step: 1, completed: 0 });
    const completed = nextNews(bench, workspace.id, "completed");
    await me(bench, workspace.apiKey);
    expect((await completed).learner).toMatchObject({ step: 2, stepTitle: "Read a list", completed: 1 });
    await workspace.makeUnrelatedCall();
    expect((await workspace.state()).step).toBe(2);
  });

  test("causes live events when it joins, begins, asks for a hint, skips a step and is removed", async () => {
    const bench = await open();
    const heard: string[] = [];
    bench.onLiveEvent((event) => void (event.kind === "lesson" && heard.push(event.lesson.news)));
    const workspace = await createLearner(bench.url, "Ada");
    await workspace.begin("first-call");
    await control(bench.url, "POST", `/learners/${workspace.id}/hint`);
    await control(bench.url, "POST", `/learners/${workspace.id}/skip`);
    await control(bench.url, "DELETE", `/learners/${workspace.id}`);
    expect(heard).toEqual(["joined", "began", "hint", "skipped", "gone"]);
    expect(await listed(bench)).toEqual([]);
  });

  test("gets a hint on request, then the next hint, then the last hint again", async () => {
    const bench = await open();
    const workspace = await createLearner(bench.url, "Ada");
    await workspace.begin("paging", 5);
    const ask = () => control(bench.url, "POST", `/learners/${workspace.id}/hint`);
    const [one, two, again] = [await ask(), await ask(), await ask()];
    expect(one.hint).toMatch(/^Put a loop/);
    expect(two.hint).toMatch(/^for \(let after/);
    expect([again.hint, one.hints, two.hints, again.hints]).toEqual([two.hint, 1, 2, 2]);
  });

  test("gets a hint automatically after a while", async () => {
    const bench = await open();
    const { learner } = await control(bench.url, "POST", "/learners", { name: "Ada", hintAfter: "5ms" });
    const hinted = nextNews(bench, learner.id, "hint");
    await control(bench.url, "POST", `/learners/${learner.id}/lesson`, { name: "first-call" });
    expect((await hinted).learner.hint).toMatch(/^Run the command/);
  });

  test("gets a hint after running a wrong fix, long before the time for a hint", async () => {
    const bench = await open();
    const { learner, apiKey } = await control(bench.url, "POST", "/learners", { name: "Ada", hintAfter: "1h" });
    await control(bench.url, "POST", `/learners/${learner.id}/lesson`, { name: "paging", step: 5 });
    await new Promise((resolve) => setTimeout(resolve, 9_000));
    const hinted = nextNews(bench, learner.id, "hint");
    await payments(bench, apiKey);
    expect((await hinted).learner).toMatchObject({ step: 5, hints: 1, hint: expect.stringMatching(/^Put a loop/) });
  });

  test("can skip a step, whose results are then created; skipping the last step ends the lesson", async () => {
    const bench = await open();
    const workspace = await createLearner(bench.url, "Ada");
    await workspace.begin("first-call", 5);
    const skipped = await control(bench.url, "POST", `/learners/${workspace.id}/skip`);
    expect(skipped).toMatchObject({ step: null, completed: 0, next: "paging" });
    expect(skipped.finishedSteps.at(-1)).toMatchObject({ lesson: "first-call", step: 5, how: "skipped" });
    const { verdict } = await control(bench.url, "POST", "/verify", {
      merchant: workspace.id,
      all: [{ records: { kind: "pricing_rule", where: { "/name": "Harvest" }, count: { exactly: 1 } } }],
    });
    expect(verdict).toBe("pass");
    const over = await bench.call("POST", `/_sandbox/learners/${workspace.id}/skip`, { key: null });
    expect([over.status, over.body.code]).toEqual([409, "invalid_state"]);
  });

  test("continues its step after a restart, and its earlier calls still count", async () => {
    const cwd = folder();
    const file = join(cwd, "sandbox.db");
    const before = await open({ memory: false, db: file });
    const workspace = await createLearner(before.url, "Ada");
    await workspace.begin("paging", 5);
    await control(before.url, "POST", `/learners/${workspace.id}/hint`);
    const cursor = "/v1/payments?limit=25&starting_after=pay_047";
    for (let times = 0; times < 4; times++) await before.call("GET", cursor, { key: workspace.apiKey });
    const state = await workspace.state();
    await before.close();

    const after = await open({ memory: false, db: file });
    const [same] = await listed(after);
    expect(same).toMatchObject({
      name: "Ada",
      lesson: "paging",
      step: 5,
      hints: 1,
      finishedSteps: state.finishedSteps,
    });
    const completed = nextNews(after, workspace.id, "completed");
    await after.call("GET", cursor, { key: workspace.apiKey });
    expect((await completed).learner).toMatchObject({ step: null, completed: 1, next: "idempotency" });
  });

  test("is removed by a reset; a snapshot restores the learner at an incomplete step", async () => {
    const bench = await open();
    const workspace = await createLearner(bench.url, "Ada");
    await workspace.begin("first-call");
    await control(bench.url, "PUT", "/snapshots/first");
    const completed = nextNews(bench, workspace.id, "completed");
    await me(bench, workspace.apiKey);
    await completed;
    await control(bench.url, "POST", "/snapshots/first/restore");
    expect(await workspace.state()).toMatchObject({ step: 1, completed: 0 });
    await workspace.makeUnrelatedCall();
    expect(await workspace.state()).toMatchObject({ step: 1, completed: 0 });
    const again = nextNews(bench, workspace.id, "completed");
    await me(bench, workspace.apiKey);
    expect((await again).learner.step).toBe(2);

    await control(bench.url, "POST", "/reset", {});
    expect(await listed(bench)).toEqual([]);
  });

  test.each([
    ["a name in use", "/learners", { name: "Ada" }, 409, "Choose another name"],
    ["an unknown merchant", "/learners", { merchant: "mer_nobody" }, 404, "no merchant mer_nobody"],
    ["an unknown lesson", "/learners/ID/lesson", { name: "pagign" }, 404, "Did you mean paging?"],
    ["an unknown step", "/learners/ID/lesson", { name: "paging", step: 9 }, 400, "has 5 steps"],
    ["an invalid duration", "/learners", { name: "Eve", hintAfter: "soon" }, 400, "hintAfter must be a duration"],
    ["a merchant without a learner", "/learners/mer_market/skip", {}, 404, "No learner uses the merchant mer_market"],
  ])("gets an error for %s", async (_, path, body, status, says) => {
    const bench = await open();
    const workspace = await createLearner(bench.url, "Ada");
    const answer = await bench.call("POST", `/_sandbox${path.replace("ID", workspace.id)}`, { key: null, body });
    expect([answer.status, answer.body.message]).toEqual([status, expect.stringContaining(says)]);
  });
});

test("on a narrow terminal, prose is wrapped, but lists and commands are not", async () => {
  const lesson = {
    name: "own",
    number: 1,
    title: "Own",
    about: "a b c d e\nf g h",
    file: null,
    steps: [
      {
        number: 1,
        title: "Do",
        command: "x",
        hints: 0,
        mends: false,
        blocks: [
          { kind: "prose", text: "- one two three\n- four" },
          { kind: "sh", text: "one two three four five" },
        ],
      },
    ],
  };
  const stand = { step: 1, completed: 0, next: null };
  const step = "[own 1/1] Do\n\n- one two three\n- four\n\n    one two three four five";
  expect(currentStepText(lesson, stand, 9)).toBe(`Own\n\na b c d e\nf g h\n\n${step}`);
  expect(currentStepText(lesson, stand, 5)).toBe(`Own\n\na b c\nd e f\ng h\n\n${step}`);
  expect(currentStepText(lesson, { ...stand, step: null })).toBe(
    '"Own" is complete: 0 of 1 steps done. It was the last lesson.',
  );
});

describe("a lesson page is rejected with a line number if it", () => {
  const good = [
    "# T",
    "",
    "What it is about.",
    "",
    "## 1. Do",
    "",
    '<!-- check: {"requests": {"match": {"operation": "payments.list"}}} -->',
    "",
    "Do it.",
  ];
  const critic = () => undefined;

  test.each<[string, number, string, string]>([
    ["has no title", 0, "T", ":1: a lesson begins with its title"],
    ["has no introduction", 2, "", ":1: write a paragraph below the title"],
    ["numbers its steps wrongly", 4, "## 2. Do", ":5: this is step 1"],
    ["has a step without a check", 6, "", ':5: the step "## 1. Do" has no check'],
    ["has a check that is not JSON", 6, '<!-- check: {"requests": -->', ":7: is not JSON"],
    [
      "has a check with an unknown field",
      6,
      '<!-- check: {"requests": {"match": {"operatoin": "x"}}} -->',
      ":7 /requests/match/operatoin: ",
    ],
    [
      "has a check that names a merchant",
      6,
      '<!-- check: {"requests": {"match": {"operation": "payments.list", "merchant": "mer_lodge"}}} -->',
      ":7 /requests/match/merchant: remove it",
    ],
    ["has an unknown annotation", 7, "<!-- hnit: try -->", ":8: there is no annotation hnit. Did you mean hint?"],
    [
      "has a setup call that would count as the learner's own",
      7,
      '<!-- setup: {"method": "POST", "path": "/v1/payments"} -->',
      ":8: a setup call must begin with /_sandbox/",
    ],
    ["does not close a block", 8, "```sh", ":9: the fenced block that begins here is never closed"],
    ["has a step without text", 8, "", ":5: step 1 has no text"],
  ])("%s", async (_, line, instead, says) => {
    const path = join(folder(), "01-test.md");
    writeFileSync(path, good.map((text, index) => (index === line ? instead : text)).join("\n"));
    await expect(readLesson(path, critic)).rejects.toThrow(path + says);
  });
});

describe("custom lessons", () => {
  const page = (check: string) => `# Own\n\nWhat it is about.\n\n## 1. Do\n\n<!-- check: ${check} -->\n\nDo it.\n`;
  const openWith = (...texts: string[]) => {
    const lessons = folder();
    texts.forEach((text, index) => {
      writeFileSync(join(lessons, `0${index + 1}-own${index === 0 ? "" : index}.md`), text);
    });
    return open({ lessons });
  };
  const listed = (bench: Bench) => bench.call("GET", "/_sandbox/lessons", { key: null });

  test.each([
    [
      "a check that holds before any call",
      page('{"never": {"match": {"operation": "payments.list"}}}'),
      "this already holds before",
    ],
    [
      "a check of records that holds before any call",
      page('{"records": {"kind": "payment", "count": {"exactly": 0}}}'),
      "this already holds before",
    ],
    [
      "an unknown operation",
      page('{"requests": {"match": {"operation": "payments.lst"}}}'),
      "Did you mean payments.list?",
    ],
    ["an unknown kind of record", page('{"records": {"kind": "paymnt"}}'), "Did you mean payment?"],
    ["an unknown rule of the judge", page('{"verdicts": {"rules": ["retry.bonded"]}}'), "Did you mean retry.bounded?"],
  ])("are rejected with the line for %s", async (_, text, says) => {
    const { status, body } = await listed(await openWith(text));
    expect([status, body.message]).toEqual([400, expect.stringContaining(says)]);
    expect(body.message).toContain("01-own.md:7 ");
  });

  test("are reported as missing at the start, and later if they are deleted", async () => {
    await expect(open({ lessons: folder() })).rejects.toThrow("holds no lesson");
    await expect(open({ lessons: join(folder(), "none") })).rejects.toThrow("Cannot read the folder");
    const there = folder();
    writeFileSync(join(there, "01-own.md"), "# Own");
    const bench = await open({ lessons: there });
    rmSync(there, { recursive: true });
    expect((await listed(bench)).body.message).toContain("Cannot read the folder");
  });

  test("create the setup of a step for its learner only, when the step begins", async () => {
    const setup =
      `<!-- setup: {"method": "POST", "path": "/_sandbox/faults", ` +
      `"body": {"match": {"merchant": "mer_lodge", "operation": "payments.list"}, ` +
      `"action": {"type": "rate_limit"}}} -->`;
    const bench = await openWith(
      page('{"requests": {"match": {"operation": "merchants.me"}}}') +
        `\n## 2. Meet it\n\n<!-- check: {"requests": {"match": {"operation": "payments.list", "status": 429}}} -->\n` +
        `${setup}\n\nDo it.\n`,
    );
    const workspace = await createLearner(bench.url, "Ada");
    await workspace.begin("own");
    const completions = [nextNews(bench, workspace.id, "completed")];
    expect((await bench.call("GET", "/v1/payments", { key: workspace.apiKey })).status).toBe(200);
    await bench.call("GET", "/v1/merchants/me", { key: workspace.apiKey });
    expect((await completions[0])?.learner.step).toBe(2);
    expect((await bench.call("GET", "/v1/payments")).status).toBe(200);
    completions.push(nextNews(bench, workspace.id, "completed"));
    expect((await bench.call("GET", "/v1/payments", { key: workspace.apiKey })).status).toBe(429);
    expect((await completions[1])?.learner.step).toBeNull();
  });
});
