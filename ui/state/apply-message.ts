// What the sandbox says, taken into the state: the stream's messages, the answers to what is asked every second, the link itself.

import type { LiveItem, LiveMessage, Totals } from "../../src/contracts/live-messages.ts";
import type { Pane } from "../panes/pane.ts";
import type { Link } from "../wire/live.ts";
import { forgotten, heardLessons } from "./learning.ts";
import { append, emptyList, type Row, replace } from "./list.ts";
import { listOf, NOTHING_YET, type SandboxIndex, type State, say, withList } from "./state.ts";

/** The rate is an average over so many milliseconds. */
const RATE_OVER = 2_000;

export function heardLink(state: State, link: Link): State {
  const retryAt = link.phase === "reconnecting" ? state.now + link.within : state.retryAt;
  return { ...state, link, retryAt };
}

export function heard(state: State, message: LiveMessage, panes: readonly Pane[]): State {
  if (message.type === "snapshot") return heardIndex(begun(state, message, panes), message.sandbox as SandboxIndex);
  if (message.type !== "digest") return state;
  const items = message.items.filter(({ seq }) => seq > state.seen);
  const rest = unsent(state.totals, message.totals, items);
  const counted = sampled({ ...state, totals: message.totals, seen: message.seq });
  return taken(
    items.filter(isReset).reduce((before, reset) => heardReset(before, reset, panes), counted),
    items,
    rest,
    panes,
  );
}

/** All that is still known of a run follows its beginning. What is shown of another run is over. */
function begun(state: State, { run, totals }: LiveMessage & { type: "snapshot" }, panes: readonly Pane[]): State {
  if (run === state.run) return state;
  const samples = [{ at: state.now, requests: totals.request }];
  const anew = { ...state, run, samples, totals: NOTHING_YET, seen: 0 };
  return state.run === undefined ? anew : say(emptied(anew, panes), "The sandbox was started anew: what was shown is over", "yellow");
}

function taken(state: State, items: readonly LiveItem[], rest: Totals, panes: readonly Pane[]): State {
  const lastReset = items.findLastIndex(isReset);
  return panes.reduce(
    (before, { name, hears }) => {
      if (!hears) return before;
      const rows = items.flatMap((item, index) => (index > lastReset && item.kind === hears.kind ? (hears.row(item) ?? []) : []));
      return withList(before, name, append(listOf(before, name), rows, rest[hears.kind]));
    },
    heardLessons(clockOf(state, items), items.slice(lastReset + 1)),
  );
}

/** How many of each kind happened that were not sent. */
function unsent(before: Totals, after: Totals, items: readonly LiveItem[]): Totals {
  const rest = Object.entries(after).map(([kind, total]) => {
    const sent = items.filter((item) => item.kind === kind).length;
    return [kind, Math.max(0, total - before[kind as keyof Totals] - sent)];
  });
  return Object.fromEntries(rest) as Totals;
}

const isReset = (item: LiveItem): item is LiveItem & { kind: "reset" } => item.kind === "reset";

function heardReset(state: State, { merchant }: LiveItem & { kind: "reset" }, panes: readonly Pane[]): State {
  if (merchant !== null) return say(state, `${merchant} was reset`, "yellow");
  return say(emptied(state, panes), "The sandbox was reset: everything begins afresh", "yellow");
}

/** Where everything is new there is no row to stay at: what follows, follows again. */
function emptied(before: State, panes: readonly Pane[]): State {
  const state = forgotten(before);
  const lists = panes.map(({ name, follows }) => [name, { ...emptyList(follows), filter: listOf(state, name).filter }]);
  return { ...state, lists: Object.fromEntries(lists) };
}

function clockOf(state: State, items: readonly LiveItem[]): State {
  const told = items.findLast((item) => item.kind === "clock");
  if (told?.kind !== "clock" || !state.sandbox) return state;
  return { ...state, clockHeardAt: state.now, sandbox: { ...state.sandbox, clock: told.clock } };
}

export const heardIndex = (state: State, sandbox: SandboxIndex): State => ({ ...state, sandbox, clockHeardAt: state.now });

/** Rows that show how things stand. */
export const heardRows = (state: State, pane: string, rows: readonly Row[]): State =>
  withList(state, pane, replace(listOf(state, pane), rows, state.pane === pane));

/** A second has passed, or a moment. */
export const ticked = (state: State, now: number): State => sampled({ ...state, now });

function sampled(state: State): State {
  const { now, totals, samples } = state;
  const kept = samples.filter(({ at }) => now - at <= RATE_OVER);
  return kept.at(-1)?.at === now ? state : { ...state, samples: [...kept, { at: now, requests: totals.request }] };
}

/** Requests a second, lately. */
export function rateOf({ samples, totals, now }: State): number {
  const first = samples[0];
  if (!first || now <= first.at) return 0;
  return Math.max(0, Math.round(((totals.request - first.requests) * 1_000) / Math.max(1_000, now - first.at)));
}
