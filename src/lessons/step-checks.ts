// Ticks a step when what its learner did fits its check: looked at when something happened, never by the clock.

import type { LiveEvent } from "../contracts/live-messages.ts";
import { afterRealTime, afterThisTurn, realNow } from "../kernel/clock.ts";
import { behindOf, type Standing } from "./learner-progress.ts";
import type { Inner } from "./lesson-context.ts";
import { announce, move } from "./steps.ts";

/** After each look, so many times as long as it took is left to others. */
const REST = 4;

/** The merchant to which something happened; null for everybody, undefined where it is nobody's concern. */
export function whomItConcerns(happening: LiveEvent): string | null | undefined {
  if (happening.kind === "request") return happening.request.merchant ?? undefined;
  if (happening.kind === "attempt") return happening.attempt.merchant;
  if (happening.kind === "verdict") return happening.verdict.merchant ?? undefined;
  if (happening.kind === "fault") return happening.fault.merchant ?? undefined;
  return happening.kind === "clock" ? null : undefined;
}

/** However much happens in one turn, it is looked at once. */
export function lookSoon(inner: Inner, one: Standing): void {
  if (one.waiting || one.mark === undefined) return;
  one.waiting = true;
  const rest = one.restsUntil - realNow();
  const run = () => void look(inner, one).catch(inner.report);
  if (rest > 1) afterRealTime(rest, run);
  else afterThisTurn(run);
}

async function look(inner: Inner, one: Standing): Promise<void> {
  const lessons = await inner.shelf();
  one.waiting = false;
  const { row } = one;
  const behind = behindOf(lessons, row);
  if (inner.isStopped() || one.moving || !behind || row.lesson === null || inner.standings.get(row.merchant) !== one) return;
  const from = realNow();
  const { verdict } = inner.verifier.since(one.mark, { merchant: row.merchant, all: behind.check });
  one.restsUntil = realNow() + (realNow() - from) * REST;
  if (verdict !== "pass") return;
  const gone = await move(inner, lessons, one, {
    lesson: row.lesson,
    step: row.step + 1,
    leaving: { steps: [row.step], how: "ticked" },
  });
  if (gone) announce(inner, lessons, one, "ticked");
}
