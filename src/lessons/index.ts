// The lesson service: lists lessons, moves learners through their steps, and checks the steps when something happens.

import type { JoinOptions, LearnerState } from "../contracts/lesson.ts";
import type { LiveEvent } from "../contracts/live-messages.ts";
import { nearestOrAll } from "../kernel/did-you-mean.ts";
import { ApiError, fail, SandboxError } from "../kernel/errors.ts";
import { once } from "../kernel/once.ts";
import type { Baseline } from "../verify/baseline.ts";
import {
  createLearnerUpdates,
  currentStep,
  type LearnerProgress,
  type LessonContext,
  type LessonDependencies,
  learnerState,
  lessonByName,
  newProgress,
  personal,
} from "./learner-progress.ts";
import { type CheckValidator, type ParsedLesson, readLessons } from "./lesson-files.ts";
import { announce, merchantToCheck, moveTo, noteRun, scheduleCheck, showHint, startStep } from "./steps.ts";

export type LessonService = ReturnType<typeof createLessons>;

const DEFAULT_HINT_AFTER = 90_000;

export function createLessons(deps: LessonDependencies) {
  let stopped = false;
  const { context, open } = createContext(deps, () => stopped);
  const learners = () => open().progress;
  const progressOf = (id: string): LearnerProgress =>
    learners().get(id) ??
    fail("resource_not_found", `No learner uses the merchant ${id}. GET /_sandbox/learners lists the learners.`);
  const state = async (progress: LearnerProgress): Promise<LearnerState> =>
    learnerState(context, await context.readLessons(), progress);
  const checkLearners = (merchant?: string) => {
    for (const progress of merchant === undefined ? learners().values() : [learners().get(merchant)])
      if (progress) scheduleCheck(context, progress);
  };
  return {
    list: async () => (await context.readLessons()).map(({ lesson }) => lesson),
    /** Finds a lesson by name or number; with `learner`, fills in the learner's URL, API key and merchant. */
    async find(name: string, learner?: string) {
      const { lesson } = findLesson(await context.readLessons(), name);
      return learner === undefined ? lesson : personal(lesson, context.valuesOf(progressOf(learner).row.merchant));
    },
    learners: async () => Promise.all([...learners().values()].map(state)),
    learner: async (id: string) => state(progressOf(id)),
    /**
     * Adds a learner with a new merchant. With `merchant`, or without a name, uses an existing merchant. If this
     * merchant already has a learner, returns that learner.
     */
    join: async (wanted: JoinOptions) => state(await join(context, learners(), wanted)),
    /** Begins a lesson. With `firstStep`, creates the results of the steps before it. */
    begin: async (id: string, lesson: string, firstStep?: number) =>
      begin(context, progressOf(id), lesson, firstStep).then(state),
    skip: async (id: string) => skip(context, progressOf(id)).then(state),
    /** Shows the next hint of the step. After the last hint, shows it again. */
    hint: async (id: string) => showHint(context, progressOf(id)).then(() => state(progressOf(id))),
    leave: async (id: string) => leave(context, progressOf(id)),
    /** Resolves with the learner's state when it is newer than `version`, or after `within` real milliseconds. */
    async waitForNewer(id: string, version: number, within: number, gone?: AbortSignal) {
      if (progressOf(id).version <= version && !stopped) await context.updates.wait(id, within, gone);
      return state(progressOf(id));
    },
    /**
     * Schedules a check of a learner's current step (default: all learners'), after a change that publishes no event.
     */
    check: checkLearners,
    /** Schedules a check of the learners that the event concerns. */
    onEvent(event: LiveEvent) {
      const merchant = merchantToCheck(event);
      if (merchant === undefined) return;
      if (event.kind === "request") noteRun(learners().get(merchant ?? ""));
      checkLearners(merchant ?? undefined);
    },
    /**
     * After a reset, restarts the current step of one learner (default: all), so that earlier requests do not count.
     */
    reset: (merchant?: string) => resetLearners(context, learners(), merchant),
    stop() {
      stopped = true;
      for (const progress of context.progress.values()) progress.cancelHint();
      context.updates.stop();
    },
  };
}

/** Creates the shared context. Learners are loaded from the database on the first request. */
function createContext(deps: LessonDependencies, isStopped: () => boolean) {
  const { verifier, tenants, learners } = deps;
  /** Refuses checks that the verifier cannot plan, and checks that hold before the learner did anything. */
  const validate: CheckValidator = (all) => {
    const merchant = tenants.first();
    try {
      const { verdict } = verifier.since(verifier.takeBaseline({ merchant, all }), { merchant, all });
      return verdict === "pass"
        ? "this already holds before the learner did anything: the step would complete by itself."
        : undefined;
    } catch (error) {
      if (error instanceof ApiError) return error.message;
      throw error;
    }
  };
  const context: LessonContext = {
    ...deps,
    readLessons: once(() => readLessons(deps.folder, validate).catch(asValidationError)),
    progress: new Map(),
    updates: createLearnerUpdates(),
    isStopped,
    valuesOf(merchant) {
      return { url: deps.url(), apiKey: tenants.keyOf(merchant), merchant };
    },
  };
  const open = once(() => {
    for (const row of learners.list()) {
      const mark = JSON.parse(row.mark) as Baseline | null;
      context.progress.set(
        row.merchant,
        newProgress(row, mark === null ? undefined : verifier.resume(mark), DEFAULT_HINT_AFTER),
      );
    }
    return context;
  });
  return { context, open };
}

/** Turns the error of an unreadable lesson into the error of the request, with the lesson's file and line. */
function asValidationError(error: unknown): never {
  if (error instanceof SandboxError) fail("validation_failed", error.message);
  throw error;
}

function findLesson(lessons: readonly ParsedLesson[], name: string): ParsedLesson {
  const names = lessons.map(({ lesson }) => lesson.name);
  const numbered = lessons.find(({ lesson }) => /^\d+$/.test(name) && lesson.number === Number(name));
  const found = numbered ?? lessonByName(lessons, name);
  return found ?? fail("resource_not_found", `There is no lesson ${name}.${nearestOrAll(name, names)}`);
}

async function join(
  context: LessonContext,
  learners: Map<string, LearnerProgress>,
  { name, merchant, hintAfter }: JoinOptions,
): Promise<LearnerProgress> {
  const lessons = await context.readLessons();
  const wanted = merchant ?? (name === undefined ? context.tenants.first() : undefined);
  if (wanted !== undefined) context.tenants.require(wanted);
  const existing = wanted === undefined ? undefined : learners.get(wanted);
  if (existing && (name === undefined || existing.row.name === name)) return existing;
  if (existing)
    fail("already_exists", `${existing.row.name} already uses the merchant ${wanted}.`, { merchant: wanted });
  const learnerName = name ?? (wanted as string);
  if (context.learners.named(learnerName))
    fail("already_exists", `A learner named ${learnerName} already exists. Choose another name.`, {
      name: learnerName,
    });
  const row = {
    merchant: wanted ?? context.createMerchant(),
    name: learnerName,
    lesson: null,
    step: 1,
    hints: 0,
    began: context.clock.now(),
    mark: "null",
  };
  const progress = newProgress(row, undefined, hintAfter ?? DEFAULT_HINT_AFTER);
  context.learners.put(row);
  learners.set(row.merchant, progress);
  announce(context, lessons, progress, "joined");
  return progress;
}

async function begin(
  context: LessonContext,
  progress: LearnerProgress,
  name: string,
  firstStep = 1,
): Promise<LearnerProgress> {
  const lessons = await context.readLessons();
  const { lesson, steps } = findLesson(lessons, name);
  if (firstStep > steps.length)
    fail("validation_failed", `${lesson.name} has ${steps.length} steps; there is no step ${firstStep} to begin at.`);
  const before = lesson.steps.slice(0, firstStep - 1).map(({ number }) => number);
  const state = steps.slice(0, firstStep - 1).flatMap((step) => step.state);
  await moveTo(
    context,
    lessons,
    progress,
    { lesson: lesson.name, step: firstStep, ended: before, how: "prepared" },
    state,
  );
  return progress;
}

async function skip(context: LessonContext, progress: LearnerProgress): Promise<LearnerProgress> {
  const lessons = await context.readLessons();
  const { lesson, step, name } = progress.row;
  const annotations = currentStep(lessons, progress.row);
  if (!annotations || lesson === null)
    return fail("invalid_state", `${name} is not at a step, so there is nothing to skip.`);
  await moveTo(
    context,
    lessons,
    progress,
    { lesson, step: step + 1, ended: [step], how: "skipped" },
    annotations.state,
  );
  return progress;
}

async function leave(context: LessonContext, progress: LearnerProgress): Promise<LearnerState> {
  const lessons = await context.readLessons();
  const last = learnerState(context, lessons, progress);
  progress.cancelHint();
  context.progress.delete(progress.row.merchant);
  context.database.transaction(() => context.learners.remove(progress.row.merchant));
  announce(context, lessons, progress, "gone");
  return last;
}

function resetLearners(
  context: LessonContext,
  learners: Map<string, LearnerProgress>,
  merchant: string | undefined,
): void {
  const affected = [...learners.values()].filter(({ row }) => merchant === undefined || row.merchant === merchant);
  for (const progress of affected) {
    progress.cancelHint();
    learners.delete(progress.row.merchant);
  }
  for (const row of context.learners.list())
    if (merchant === undefined || row.merchant === merchant) void restart(context, learners, row, affected);
  for (const { row } of affected) context.updates.notify(row.merchant);
}

/** Restarts the step of a learner whose data was replaced. */
async function restart(
  context: LessonContext,
  learners: Map<string, LearnerProgress>,
  row: LearnerProgress["row"],
  before: readonly LearnerProgress[],
): Promise<void> {
  const known = before.find((progress) => progress.row.merchant === row.merchant);
  const progress = {
    ...newProgress(row, undefined, known?.hintAfter ?? DEFAULT_HINT_AFTER),
    version: (known?.version ?? 0) + 1,
  };
  learners.set(row.merchant, progress);
  const lessons = await context.readLessons();
  if (!context.isStopped() && learners.get(row.merchant) === progress)
    startStep(context, progress, row, currentStep(lessons, row));
}
