// Replies that never change during a run, fetched once: operations, event types and the schema of fault rules.

import { controlCalls } from "../../src/client/control-call.ts";
import type { SandboxOperationsReply } from "../../src/client/control-plane.generated.ts";
import { type CachedLookups, type Effect, topOverlay, type UiState, update, withNotice } from "../state/state.ts";
import type { Call } from "../wire/control-calls.ts";
import type { JsonSchema } from "../wire/json-schema.ts";

interface Lookup {
  call: Call;
  isCached(lookups: CachedLookups): boolean;
  read(body: unknown): CachedLookups;
}

const LOOKUPS: readonly Lookup[] = [
  {
    call: controlCalls.operations(),
    isCached: ({ operations }) => operations !== undefined,
    read(body) {
      const { data, events } = body as SandboxOperationsReply;
      return { operations: data.map(({ id }) => id), eventTypes: events.map(({ type }) => type) };
    },
  },
  {
    call: controlCalls.faults.schema(),
    isCached: ({ rules }) => rules !== undefined,
    read: (body) => ({ rules: (body as { oneOf: JsonSchema[] }).oneOf }),
  },
];

/** The calls for lookups that are not cached yet. */
export const fetchLookups = ({ lookups }: UiState): Effect[] =>
  LOOKUPS.filter(({ isCached }) => !isCached(lookups)).map(({ call, read }) => ({
    kind: "call",
    call,
    onReply: (state, { body }) => update({ ...state, lookups: { ...state.lookups, ...read(body) } }),
    // Retried every second; an open form waits for it, so the reason is shown there.
    onError: (state, message) => update(topOverlay(state) ? withNotice(state, message, "red") : state),
  }));
