// State machines: every kind of record in every state, changed to every other state, with the emitted events.

import { describe, expect, test } from "vitest";
import { resources } from "../../src/areas/index.ts";
import type { Resource } from "../../src/contracts/resource.ts";
import { pathTo, statesBefore } from "../../src/store/records/transitions.ts";
import { type Bench, NOON_SECONDS, neededFields, open } from "../support/sandbox.ts";

/** Kinds with states whose records a test can create. */
const kinds = resources.filter(({ kind, transitions }) => Object.keys(transitions).length > 0 && kind !== "merchant");

/** The types of this kind's events since the last call, oldest first, without the events of other kinds. */
function watch(bench: Bench, kind: Resource) {
  const types = new Set(Object.values(kind.events));
  let seen = "";
  return async (): Promise<string[]> => {
    const { data } = await bench.control("GET", "/events?limit=20");
    const events = data as { id: string; type: string }[];
    const known = events.findIndex(({ id }) => id === seen);
    const fresh = known === -1 ? events : events.slice(0, known);
    seen = events[0]?.id ?? seen;
    return fresh.flatMap(({ type }) => (types.has(type) ? [type] : [])).reverse();
  };
}

const known = (...types: (string | undefined)[]) => types.filter((type) => type !== undefined);

describe("the transitions", () => {
  test.each(kinds.map((resource) => [resource.kind, resource] as const))(
    "of %s emit their events, and other changes are rejected",
    async (kind, resource) => {
      const { transitions, events, defaults } = resource;
      const bench = await open();
      const happened = watch(bench, resource);
      const states = Object.keys(transitions);
      expect(states).toContain(defaults.status);
      await happened();
      for (const from of states)
        for (const to of states) {
          const fields = await neededFields(bench, "mer_blank", kind);
          if (Object.keys(fields).length > 0) await happened();
          const record = await bench.control("POST", `/records/${kind}`, {
            merchant: "mer_blank",
            status: from,
            ...fields,
          });
          expect(record).toMatchObject({ object: kind, merchantId: "mer_blank", status: from });
          const later = pathTo(resource, from).slice(1);
          const expected = known(events.created, ...later.map((state) => events[state]));
          expect((await happened()).slice(0, expected.length)).toEqual(expected);

          const path = `/_sandbox/records/${kind}/${record.id}`;
          const { status, body } = await bench.call("PATCH", path, {
            key: null,
            body: { status: to, metadata: { moved: to } },
          });
          const label = `${from} to ${to}`;
          if (from === to) {
            expect([label, status, body.metadata]).toEqual([label, 200, { moved: to }]);
            expect(await happened()).toEqual(known(events.updated));
          } else if (transitions[from]?.includes(to)) {
            expect([label, status, body.status, body.metadata]).toEqual([label, 200, to, { moved: to }]);
            // If the change creates more records of this kind, their events come later.
            expect((await happened())[0]).toEqual(events[to]);
          } else {
            expect([label, status, body.code]).toEqual([label, 409, "invalid_state"]);
            expect(body.details).toEqual({ currentStatus: from, allowedFrom: statesBefore(transitions, to) });
            expect(await happened()).toEqual([]);
          }
        }
    },
  );

  test("of every kind lead only to existing states, and together to every state", () => {
    for (const { kind, transitions, defaults } of resources) {
      const states = Object.keys(transitions);
      for (const [from, to] of Object.entries(transitions))
        expect([kind, from, to.filter((state) => !states.includes(state))]).toEqual([kind, from, []]);
      const reached = new Set([defaults.status]);
      for (const state of reached) for (const next of transitions[state ?? ""] ?? []) reached.add(next);
      expect([kind, states.filter((state) => !reached.has(state))]).toEqual([kind, []]);
    }
  });

  test("of every kind emit only event types of the catalogue", async () => {
    const bench = await open();
    const types = resources.flatMap(({ events }) => Object.values(events));
    const answer = await bench.call("POST", "/v1/webhooks", {
      body: { url: "http://localhost:3000", events: [...new Set(types)] },
    });
    expect(answer).toMatchObject({ status: 201 });
    expect(answer.headers["x-sandbox-warning"]).toBeUndefined();
  });
});

test.each(
  kinds.filter(({ arrivalTimes }) => arrivalTimes.size > 0).map((resource) => [resource.kind, resource] as const),
)(
  "%s: a state's time cannot be cleared, nor set if the record was never in that state",
  async (kind, { transitions, arrivalTimes }) => {
    const bench = await open();
    for (const status of Object.keys(transitions)) {
      const fields = await neededFields(bench, "mer_blank", kind);
      const record = await bench.control("POST", `/records/${kind}`, { merchant: "mer_blank", status, ...fields });
      const path = `/_sandbox/records/${kind}/${record.id}`;
      const change = (body: object) => bench.call("PATCH", path, { key: null, body });
      for (const [field, setters] of arrivalTimes) {
        const isSet = record[field] !== null;
        if (setters.includes(status)) expect([kind, status, field, isSet]).toEqual([kind, status, field, true]);
        const refused = await change({ [field]: isSet ? null : NOON_SECONDS });
        expect([kind, status, field, refused.status, refused.body.details?.errors]).toMatchObject([
          ...[kind, status, field, 400],
          // If the record reached its state earlier, NOON_SECONDS also breaks the order of its times.
          expect.arrayContaining([
            expect.objectContaining({
              field,
              code: "out_of_order",
              message: expect.stringContaining(isSet ? `${field} must not be null` : `${field} must be null`),
            }),
          ]),
        ]);
        // Setting a time that the record already has is a correction, which is accepted.
        if (isSet) expect((await change({ [field]: record[field] })).body).toMatchObject({ [field]: record[field] });
      }
      // A change of status keeps these times, except a return to the first state.
      for (const next of transitions[status] ?? []) {
        if (next === Object.keys(transitions)[0]) continue;
        for (const field of [...arrivalTimes.keys()].filter((each) => record[each] !== null)) {
          const { status: code, body } = await change({ status: next, [field]: null });
          expect([kind, status, next, code, body.details?.errors?.[0]?.field]).toEqual([
            kind,
            status,
            next,
            400,
            field,
          ]);
        }
      }
    }
  },
);

test("refundedAt cannot be cleared while the payment is refunded in part or whole", async () => {
  const bench = await open();
  for (const fields of [{ status: "refunded" }, { status: "succeeded", amount: 500 }]) {
    const { id } = await bench.control("POST", "/records/payment", { merchant: "mer_blank", ...fields });
    const change = (body: object) => bench.call("PATCH", `/_sandbox/records/payment/${id}`, { key: null, body });
    if (fields.status === "succeeded") await change({ refundedAmount: 100 });
    const { status, body } = await change({ refundedAt: null });
    expect([status, body.details?.errors]).toMatchObject([400, [{ field: "refundedAt", code: "out_of_order" }]]);
  }
});
