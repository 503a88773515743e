// Lessons: what there is to learn, who learns it, and how far each has come.

import type { JoinOptions, LearnerState, Lessons } from "../contracts/lesson.ts";
import type { LiveEvent } from "../contracts/live-messages.ts";
import { didYouMean } from "../kernel/did-you-mean.ts";
import { fail, SandboxError } from "../kernel/errors.ts";
import { once } from "../kernel/once.ts";
import { behindOf, lessonNamed, type Standing, standingOf, stateOf } from "./learner-progress.ts";
import { criticOf, type WrittenLesson } from "./lesson-annotations.ts";
import type { Inner, Needs } from "./lesson-context.ts";
import { readLessons } from "./lesson-files.ts";
import { createNews } from "./long-poll.ts";
import { personal } from "./personalize.ts";
import { lookSoon, whomItConcerns } from "./step-checks.ts";
import { announce, move, settle, showHint } from "./steps.ts";

export interface LessonBook extends Lessons {
  /** Something happened: whoever it concerns is looked at. */
  hear(happening: LiveEvent): void;
  /** Everything, or one merchant, is another than it was: what was done before counts for nothing. */
  renew(merchant?: string): void;
  stop(): void;
}

const HINT_AFTER = 90_000;

export function createLessons(needs: Needs): LessonBook {
  let stopped = false;
  const { inner, open } = openInner(needs, () => stopped);
  const standings = () => open().standings;
  const known = (id: string): Standing =>
    standings().get(id) ?? fail("resource_not_found", `Nobody learns with the merchant ${id}. GET /_sandbox/learners lists who does.`);
  const state = async (one: Standing): Promise<LearnerState> => stateOf(inner, await inner.shelf(), one);
  const look = (merchant?: string) => {
    for (const one of merchant === undefined ? standings().values() : [standings().get(merchant)]) if (one) lookSoon(inner, one);
  };
  return {
    list: async () => (await inner.shelf()).map(({ lesson }) => lesson),
    async find(name, learner) {
      const { lesson } = found(await inner.shelf(), name);
      return learner === undefined ? lesson : personal(lesson, inner.ownOf(known(learner).row.merchant));
    },
    board: async () => Promise.all([...standings().values()].map(state)),
    learner: async (id) => state(known(id)),
    join: async (wanted) => state(await join(inner, standings(), wanted)),
    begin: async (id, lesson, checkpoint) => begin(inner, known(id), lesson, checkpoint).then(state),
    skip: async (id) => skip(inner, known(id)).then(state),
    hint: async (id) => showHint(inner, known(id)).then(() => state(known(id))),
    leave: async (id) => leave(inner, known(id)),
    async newer(id, version, within) {
      if (known(id).version <= version && !stopped) await inner.news.wait(id, within);
      return state(known(id));
    },
    look,
    hear(happening) {
      const merchant = whomItConcerns(happening);
      if (merchant !== undefined) look(merchant ?? undefined);
    },
    renew: (merchant) => renew(inner, standings(), merchant),
    stop() {
      stopped = true;
      for (const one of inner.standings.values()) one.calm();
      inner.news.stop();
    },
  };
}

/** What the parts share. Who learns is read from the file when somebody first asks. */
function openInner(needs: Needs, isStopped: () => boolean) {
  const { verifier, tenants, learners } = needs;
  const holdsAlready = (all: Parameters<Parameters<typeof criticOf>[0]>[0]) => {
    const merchant = tenants.list()[0]?.id;
    return verifier.since(verifier.takeBaseline({ merchant, all }), { merchant, all }).verdict === "pass";
  };
  const inner: Inner = {
    ...needs,
    shelf: once(() => readLessons(needs.folder, criticOf(holdsAlready)).catch(refuse)),
    standings: new Map(),
    news: createNews(),
    isStopped,
    ownOf(merchant) {
      const apiKey = tenants.list().find(({ id }) => id === merchant)?.apiKeys[0] ?? "";
      return { url: needs.url(), apiKey, merchant };
    },
  };
  const open = once(() => {
    for (const row of learners.list()) {
      const mark = JSON.parse(row.mark) as unknown;
      inner.standings.set(row.merchant, standingOf(row, mark === null ? undefined : verifier.resume(mark), HINT_AFTER));
    }
    return inner;
  });
  return { inner, open };
}

/** What is wrong with a page is told to whoever asks for it. */
function refuse(error: unknown): never {
  if (error instanceof SandboxError) fail("validation_failed", error.message);
  throw error;
}

function found(lessons: readonly WrittenLesson[], name: string): WrittenLesson {
  const names = lessons.map(({ lesson }) => lesson.name);
  const numbered = lessons.find(({ lesson }) => /^\d+$/.test(name) && lesson.number === Number(name));
  const hint = didYouMean(name, names) || ` There are ${names.join(", ")}.`;
  return numbered ?? lessonNamed(lessons, name) ?? fail("resource_not_found", `There is no lesson ${name}.${hint}`);
}

async function join(inner: Inner, standings: Map<string, Standing>, { name, merchant, hintAfter }: JoinOptions): Promise<Standing> {
  const lessons = await inner.shelf();
  const all = inner.tenants.list();
  const wanted = merchant ?? (name === undefined ? all[0]?.id : undefined);
  if (wanted !== undefined && !all.some(({ id }) => id === wanted))
    fail("resource_not_found", `There is no merchant ${wanted}. GET /_sandbox/merchants lists them.`);
  const there = wanted === undefined ? undefined : standings.get(wanted);
  if (there && (name === undefined || there.row.name === name)) return there;
  if (there) fail("already_exists", `${there.row.name} learns with ${wanted} already.`, { merchant: wanted });
  const called = name ?? (wanted as string);
  if (inner.learners.named(called))
    fail("already_exists", `Somebody called ${called} is here already: take another name.`, { name: called });
  const row = { merchant: wanted ?? inner.mint(), name: called, lesson: null, step: 1, hints: 0, began: inner.clock.now(), mark: "null" };
  const one = standingOf(row, undefined, hintAfter ?? HINT_AFTER);
  inner.learners.put(row);
  standings.set(row.merchant, one);
  announce(inner, lessons, one, "joined");
  return one;
}

async function begin(inner: Inner, one: Standing, name: string, checkpoint = 1): Promise<Standing> {
  const lessons = await inner.shelf();
  const { lesson, steps } = found(lessons, name);
  if (checkpoint > steps.length)
    fail("validation_failed", `${lesson.name} has ${steps.length} steps; there is no step ${checkpoint} to begin at.`);
  const before = lesson.steps.slice(0, checkpoint - 1).map(({ number }) => number);
  const state = steps.slice(0, checkpoint - 1).flatMap((step) => step.state);
  const leaving = { steps: before, how: "prepared" } as const;
  const done = await move(inner, lessons, one, { lesson: lesson.name, step: checkpoint, leaving, afresh: true }, state);
  if (done) announce(inner, lessons, one, "began");
  return one;
}

async function skip(inner: Inner, one: Standing): Promise<Standing> {
  const lessons = await inner.shelf();
  const { lesson, step, name } = one.row;
  const behind = behindOf(lessons, one.row);
  if (!behind || lesson === null) return fail("invalid_state", `${name} is at no step that could be skipped.`);
  const leaving = { steps: [step], how: "skipped" } as const;
  const done = await move(inner, lessons, one, { lesson, step: step + 1, leaving }, behind.state);
  if (done) announce(inner, lessons, one, "skipped");
  return one;
}

async function leave(inner: Inner, one: Standing): Promise<LearnerState> {
  const lessons = await inner.shelf();
  const last = stateOf(inner, lessons, one);
  one.calm();
  inner.standings.delete(one.row.merchant);
  inner.database.transaction(() => inner.learners.remove(one.row.merchant));
  announce(inner, lessons, one, "gone");
  return last;
}

function renew(inner: Inner, standings: Map<string, Standing>, merchant: string | undefined): void {
  const touched = [...standings.values()].filter(({ row }) => merchant === undefined || row.merchant === merchant);
  for (const one of touched) {
    one.calm();
    standings.delete(one.row.merchant);
  }
  for (const row of inner.learners.list())
    if (merchant === undefined || row.merchant === merchant) void resume(inner, standings, row, touched);
  for (const { row } of touched) inner.news.ring(row.merchant);
}

/** Takes up somebody of a state that came in place of another: the step begins anew. */
async function resume(inner: Inner, standings: Map<string, Standing>, row: Standing["row"], before: readonly Standing[]): Promise<void> {
  const known = before.find((one) => one.row.merchant === row.merchant);
  const one = { ...standingOf(row, undefined, known?.patience ?? HINT_AFTER), version: (known?.version ?? 0) + 1 };
  standings.set(row.merchant, one);
  const lessons = await inner.shelf();
  if (!inner.isStopped() && standings.get(row.merchant) === one) settle(inner, one, row, behindOf(lessons, row));
}
