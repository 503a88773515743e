// One learner: where they are, the hint that they see, and every step that they left behind.

import type { LearnerState, LearnerView } from "../../src/contracts/lesson.ts";
import { count, countdown } from "../format-numbers.ts";
import type { Detail } from "../overlays/detail.ts";
import { listOf } from "../state/state.ts";
import { harmless } from "../terminal/cells.ts";
import { signs, tint } from "../terminal/style.ts";
import { fact, part, sentences } from "./detail-lines.ts";

type Learner = LearnerView & Pick<LearnerState, "elapsed">;

export const learnerDetail = (chosen: Learner): Detail => ({
  title: chosen.name,
  asks: {},
  lines(_, state, width) {
    const { look } = state;
    // They go on while they are looked at.
    const row = listOf(state, "board").rows.find(({ id }) => id === chosen.id);
    const { id, title, step, steps, stepTitle, ticked, hints, hint, elapsed, left } = (row?.value as Learner | undefined) ?? chosen;
    const { good, skipped } = signs(look);
    const words = left.map(({ lesson, step: number, how }) =>
      tint(
        look,
        `  ${how === "ticked" ? good : skipped} ${harmless(lesson)} ${number}  ${how}`,
        ...(how === "ticked" ? (["green"] as const) : []),
      ),
    );
    return [
      ...fact(look, width, "merchant", id),
      ...fact(look, width, "lesson", title ?? "none yet"),
      ...fact(
        look,
        width,
        "step",
        step === null ? `none, ${count(ticked)} of ${count(steps)} ticked` : `${step} of ${steps}: ${stepTitle}`,
      ),
      ...(step === null ? [] : fact(look, width, "for", countdown(elapsed / 1_000))),
      ...(hints === 0 ? [] : fact(look, width, "hints", count(hints))),
      ...(hint === null ? [] : part(look, "The hint that they see", sentences(look, width, hint))),
      ...part(look, "Left behind, oldest first", words),
      ...(row ? [] : part(look, "Gone", sentences(look, width, "Nobody learns with this merchant any more."))),
    ];
  },
});
