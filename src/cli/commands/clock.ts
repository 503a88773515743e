// `clock`: shows or changes the clock of a running sandbox, and lists what changed.

import type { Clock, ClockAdvanceReply, LifeChange } from "../../../generated/control-api.ts";
import { describeClock } from "../../kernel/clock.ts";
import { grouped } from "../../kernel/grouped.ts";
import { writeAmount } from "../../kernel/money.ts";
import { count } from "../../kernel/text.ts";
import { commandGroup } from "../command.ts";
import type { RunningSandbox } from "../remote/running-sandbox.ts";
import { sandboxCommand } from "../sandbox-command.ts";

type ClockReply = Clock & Partial<ClockAdvanceReply>;

type ClockCall = (clock: RunningSandbox["control"]["clock"], value: string | undefined) => Promise<ClockReply>;

const subcommand = (usage: string, summary: string, example: string, call: ClockCall) =>
  sandboxCommand({
    usage: `clock ${usage}`,
    summary,
    example: `clock ${example}`,
    terms: () => ({ by: "<duration>", now: "<time>" }),
    call: ({ control }, { positionals: [value] }) => call(control.clock, value),
    lines,
  });

export const clock = commandGroup({
  name: "clock",
  summary: "show or change the clock; advance lists what became due, grouped by day",
  default: "show",
  subcommands: {
    show: subcommand("show", "show the time of the sandbox (the default)", "show", (clock) => clock.get()),
    advance: subcommand(
      "advance <duration>",
      "move the clock forward by this time, such as 1h or 30d",
      "advance 1h",
      (clock, by = "") => clock.advance({ by }),
    ),
    freeze: subcommand("freeze [time]", "stop the clock, at this time or now", "freeze", (clock, now) =>
      clock.set({ mode: "frozen", ...(now !== undefined && { now }) }),
    ),
    set: subcommand(
      "set <time>",
      "let the clock run on from this time, such as 2026-01-05T09:00:00Z",
      "set 2026-01-05T09:00:00Z",
      (clock, now = "") => clock.set({ mode: "offset", now }),
    ),
    real: subcommand("real", "go back to the time of this machine", "real", (clock) => clock.set({ mode: "real" })),
  },
});

function lines({ mode, now, attempts = [], happened = [], omitted = 0, expired }: ClockReply): string[] {
  const isAdvance = expired !== undefined;
  return [
    ...attempts.map(({ at, id, eventType, eventId, status }) => `${at} ${id} ${eventType} ${eventId} ${status}`),
    ...happenedLines(happened),
    ...(isAdvance && attempts.length + happened.length === 0 ? ["Nothing was due."] : []),
    ...(omitted > 0 ? [`${omitted} further changes are left out.`] : []),
    describeClock({ mode, now }),
  ];
}

/** If a day has more changes of one kind and state than this, they are printed as a single line. */
const MOST_LINES = 10;

export function happenedLines(changes: readonly LifeChange[]): string[] {
  if (changes.length === 0) return [];
  const days = grouped(changes, ({ at }) => at.slice(0, 10));
  const linesOf = (ofDay: LifeChange[]) => [...sorts(ofDay)].flatMap(linesOfSort).sort(byTime);
  const lines = [...days].flatMap(([day, ofDay]) => [day, ...linesOf(ofDay).map((line) => `  ${line}`)]);
  return [...lines, "Total", ...[...sorts(changes)].map((ofSort) => `  ${sumOf(ofSort)}`)];
}

/** Groups changes by kind of record and new state, in the order of their first change. */
const sorts = (changes: readonly LifeChange[]) => grouped(changes, ({ kind, to }) => `${kind} ${to}`).values();

function linesOfSort(changes: LifeChange[]): string[] {
  if (changes.length > MOST_LINES) return [`${timeOf(changes[0])} ${sumOf(changes)}`];
  return changes.map((change) => {
    const { merchant, kind, id, from, to, event } = change;
    const state = from === null ? (to ?? "changed") : `${from} → ${to}`;
    return [timeOf(change), merchant, kind, id, state, ...money([change]), event]
      .filter((part) => part !== null)
      .join("  ");
  });
}

/** Orders lines by the time of day with which they begin. */
const byTime = (one: string, other: string) => one.slice(0, 5).localeCompare(other.slice(0, 5));

const timeOf = (change: LifeChange | undefined) => change && `${change.at.slice(11, 16)}Z`;

function sumOf(changes: LifeChange[]): string {
  const [{ kind = "", to = null } = {}] = changes;
  return [`${count(changes.length)} × ${kind} ${to ?? "changed"}`, ...money(changes)].join("  ");
}

/** The sum in each currency, such as `1234.50 EUR`. */
function money(changes: readonly LifeChange[]): string[] {
  const sums = new Map<string, number>();
  for (const { amount, currency } of changes)
    if (amount !== null && currency !== null) sums.set(currency, (sums.get(currency) ?? 0) + amount);
  return [...sums].map(([currency, sum]) => writeAmount(sum, currency));
}
