// The pane of a room's board: who is at which step, for how long, and who has been at one longest.

import type { LearnerState, LearnerView } from "../../src/contracts/lesson.ts";
import { lessonKey } from "../controls/lessons.ts";
import { learnerDetail } from "../details/learner.ts";
import { count, countdown } from "../format-numbers.ts";
import { confirm } from "../overlays/confirm.ts";
import { type Action, also, calls, just, laid, listOf, type State, say } from "../state/state.ts";
import { type Call, inPath } from "../wire/control-calls.ts";
import { copyKey } from "./copy-key.ts";
import { pane } from "./pane.ts";

type Learner = LearnerView & Pick<LearnerState, "elapsed">;

const urlOf = (course: State["course"]) => (course?.kind === "room" ? course.url : "");

const roomAddress: Action = {
  keys: ["y"],
  label: "copy address",
  words: "copy the room's address, by which attendees join",
  run: (state) => also(say(state, `Copied ${urlOf(state.course)}`), { kind: "copy", text: urlOf(state.course) }),
};

export const board = pane<Learner>({
  name: "board",
  title: "Board",
  isOn: ({ course }) => course?.kind === "room",
  id: ({ id }) => id,
  facts: ({ name, lesson, step, hints }) => ({ text: `${name} ${lesson ?? ""}`, fields: { name, lesson, step, hints } }),
  asks: { call: { method: "GET", path: "/learners" }, values: (answer) => (answer as { data: Learner[] }).data },
  mark(state) {
    const all = learnersIn(state);
    const done = all.filter(({ step, lesson }) => lesson !== null && step === null).length;
    return all.length === 0 ? "" : `${count(all.length)} here${done > 0 ? `, ${count(done)} done` : ""}  ${urlOf(state.course)}`;
  },
  cells(learner, state) {
    const { name, lesson, step, steps, stepTitle, ticked, hints, elapsed } = learner;
    const isOver = lesson !== null && step === null;
    const longest = longestAt(state) === learner.id;
    return [
      { text: name, width: 18 },
      { text: lesson ?? "-", width: 14, tones: ["dim"], from: 66 },
      { text: isOver ? `${ticked}/${steps}` : step === null ? "" : `${step}/${steps}`, width: 5, align: "right" },
      { text: isOver ? "done" : countdown(elapsed / 1_000), width: 6, align: "right", tones: isOver ? ["green"] : [] },
      { text: longest ? "longest" : "", width: 7, tones: ["yellow", "bold"] },
      { text: hints === 0 ? "" : hints === 1 ? "1 hint" : `${hints} hints`, width: 8 },
      { text: stepTitle ?? "", tones: ["dim"], from: 80 },
    ];
  },
  empty: ({ course }) => [
    "Nobody is here yet. Whoever has the program joins with",
    "",
    `npx merchant-sandbox learn --join ${urlOf(course)} --name NAME`,
    "",
    "everybody else with a browser, and the board is there for the projector:",
    "",
    `${urlOf(course)}/join`,
    `${urlOf(course)}/board`,
  ],
  detail: (_, learner) => learnerDetail(learner),
  actions: (chosen) => [
    roomAddress,
    act(chosen, "H", "hint", "show the learner a hint", "hint", (name) => `${name} sees a hint`),
    act(chosen, "S", "skip", "move the learner past the step, with what it would have left", "skip", (name) => `${name} is a step further`),
    lessonKey(chosen),
    removal(chosen),
    copyKey((state) => chosen(state)?.id),
  ],
});

const learnersIn = (state: State) => listOf(state, "board").rows.map(({ value }) => value as Learner);

/** Who has been at a step for longer than anybody else; nobody where there is nobody to compare with. */
function longestAt(state: State): string | undefined {
  const busy = learnersIn(state).filter(({ step }) => step !== null);
  const [longest] = busy.toSorted((one, other) => other.elapsed - one.elapsed);
  return busy.length > 1 ? longest?.id : undefined;
}

type Chosen = (state: State) => Learner | undefined;

/** Something that is done for a learner: one call without a body. */
function act(chosen: Chosen, key: string, label: string, words: string, path: string, told: (name: string) => string): Action {
  return {
    keys: [key],
    label,
    words,
    can: (state) => (chosen(state)?.step ?? null) !== null,
    run(state) {
      const learner = chosen(state);
      if (!learner) return just(state);
      return calls(state, { method: "POST", path: `/learners/${inPath(learner.id)}/${path}` }, () => told(learner.name));
    },
  };
}

function removal(chosen: Chosen): Action {
  return {
    keys: ["d"],
    label: "remove",
    words: "forget the learner and all progress",
    can: (state) => chosen(state) !== undefined,
    run(state) {
      const learner = chosen(state);
      if (!learner) return just(state);
      const call: Call = { method: "DELETE", path: `/learners/${inPath(learner.id)}` };
      const removed = (later: State) => calls(later, call, () => `${learner.name} is forgotten`);
      return just(laid(state, confirm(`Forget ${learner.name}, and all progress?`, call, removed)));
    },
  };
}
