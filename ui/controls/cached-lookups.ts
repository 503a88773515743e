// Replies that never change during a run, fetched once: operations, event types and the schema of fault rules.

import { controlCalls } from "../../src/client/control-call.ts";
import { type CachedLookups, callEffect, type Effect, topOverlay, type UiState, update, withNotice } from "../state/state.ts";
import type { Call } from "../wire/control-calls.ts";
import type { JsonSchema } from "../wire/json-schema.ts";

const faultSchema = controlCalls.faults.schema() as Call<{ oneOf: JsonSchema[] }>;

/** The calls for lookups that are not cached yet. */
export const fetchLookups = ({ lookups: { operations, rules } }: UiState): Effect[] => [
  ...(operations
    ? []
    : [
        lookup(controlCalls.operations(), ({ data, events }) => ({
          operations: data.map(({ id }) => id),
          eventTypes: events.map(({ type }) => type),
        })),
      ]),
  ...(rules ? [] : [lookup(faultSchema, ({ oneOf }) => ({ rules: oneOf }))]),
];

const lookup = <Reply>(call: Call<Reply>, read: (reply: Reply) => CachedLookups): Effect =>
  callEffect(
    call,
    (state, { body }) => update({ ...state, lookups: { ...state.lookups, ...read(body) } }),
    // Retried every second; an open form waits for it, so the reason is shown there.
    (state, message) => update(topOverlay(state) ? withNotice(state, message, "failure") : state),
  );
