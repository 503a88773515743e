// What is asked of the sandbox once, and kept: its operations, its types of event, and what a fault rule may say.

import { type Effect, just, type Known, overlayOf, type State, say } from "../state/state.ts";
import type { Call } from "../wire/control-calls.ts";
import type { Shape } from "../wire/json-schema.ts";

interface Asked {
  call: Call;
  is(known: Known): boolean;
  read(body: unknown): Known;
}

const ASKED: readonly Asked[] = [
  {
    call: { method: "GET", path: "/operations" },
    is: ({ operations }) => operations !== undefined,
    read(body) {
      const { data, events } = body as { data: { id: string }[]; events: { type: string }[] };
      return { operations: data.map(({ id }) => id), eventTypes: events.map(({ type }) => type) };
    },
  },
  {
    call: { method: "GET", path: "/faults/schema.json" },
    is: ({ rules }) => rules !== undefined,
    read: (body) => ({ rules: (body as { oneOf: Shape[] }).oneOf }),
  },
];

/** The calls that learn what is not known yet. */
export const learning = ({ known }: State): Effect[] =>
  ASKED.filter(({ is }) => !is(known)).map(({ call, read }) => ({
    kind: "call",
    call,
    done: (state, { body }) => just({ ...state, known: { ...state.known, ...read(body) } }),
    // It is asked again by itself; only who waits for it need hear why it does not come.
    failed: (state, message) => just(overlayOf(state) ? say(state, message, "red") : state),
  }));
