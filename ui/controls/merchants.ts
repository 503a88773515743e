// The keys of merchants: one more, back to the fixtures, and the rate-limit window of one.

import { tryParseDuration } from "../../src/kernel/duration.ts";
import type { Field, Option } from "../overlays/field.ts";
import { type Form, openForm } from "../overlays/form.ts";
import type { Window } from "../panes/limits.ts";
import { type Action, listOf, type State, shortMerchant } from "../state/state.ts";
import { merchantHere, merchantOptions, merchantsOrAll } from "./form-defaults.ts";

/** A merchant whose key is named as it is itself came with a fixture. */
const fixtures = ({ sandbox }: State): Option[] =>
  (sandbox?.merchants ?? [])
    .filter(({ id, apiKeys }) => apiKeys.includes(`sk_test_${shortMerchant(id)}`))
    .map(({ id, name }) => ({ value: shortMerchant(id), words: name ?? "" }));

const minting: Form = {
  title: "Mint a merchant",
  fields: (_, { state }) => [
    { name: "fixture", label: "fixture", words: "Whose records it begins with, under the same ids", options: fixtures(state), free: true },
  ],
  call: ({ fixture = "" }) => ({ method: "POST", path: "/merchants", body: fixture === "" ? {} : { fixture } }),
  done({ body }) {
    const { merchant, apiKey } = body as { merchant: string; apiKey: string };
    const undo = { method: "DELETE", path: `/merchants/${encodeURIComponent(merchant)}` } as const;
    return { words: `${merchant} has the key ${apiKey}, which is copied`, copy: apiKey, undo };
  },
};

const resetting: Form = {
  title: "Reset",
  fields: (_, { state }) => [
    {
      name: "merchant",
      label: "merchant",
      words: "Records, keys, endpoints, events, deliveries and windows start afresh",
      options: merchantsOrAll(state, "everything"),
    },
  ],
  call: ({ merchant = "" }) => ({ method: "POST", path: "/reset", body: merchant === "" ? {} : { merchant } }),
  question: ({ merchant = "" }) =>
    merchant === "" ? "Reset everything to the fixtures?" : `Reset ${merchant}, and take from it everything that happened since?`,
  done({ body }, { merchant }) {
    const words = `Reset: ${(body as { reset: string }).reset}`;
    // What was armed went with everything else, so there is nothing left to take back.
    return merchant === "" ? { words, after: (state) => ({ ...state, undo: [] }) } : { words };
  },
};

const span = (name: string, words: string): Field => ({
  name,
  label: name,
  words: `${words}, such as 10s; as it is unless given`,
  problem: (text) => (text !== "" && tryParseDuration(text) === undefined ? "must be a span such as 500ms or 10s" : undefined),
});

const number = (name: string, words: string, least: number): Field => ({
  name,
  label: name,
  words: `${words}; as it is unless given`,
  problem: (text) => (text !== "" && (!/^\d+$/.test(text) || Number(text) < least) ? `must be a whole number from ${least}` : undefined),
});

const windowOf = (state: State, merchant: string) =>
  listOf(state, "limits")
    .rows.map(({ value }) => value as Window)
    .find((window) => window.merchant === merchant && window.operation === null);

const numberOr = (text: string) => (/^\d+$/.test(text) ? Number(text) : text);

const windowing: Form = {
  title: "A rate-limit window",
  fields(values, { state }) {
    const now = windowOf(state, values.merchant ?? "");
    return [
      {
        name: "merchant",
        label: "merchant",
        words: now ? `It has ${now.remaining} of ${now.limit} left in ${now.window / 1_000} s` : "Whose window it is",
        options: merchantOptions(state),
      },
      { ...number("remaining", "How many requests are left", 0), first: "0" },
      span("resetIn", "When the present window ends"),
      number("limit", "How many a window has", 1),
      span("window", "How long a window is"),
    ];
  },
  call({ merchant = "", ...given }) {
    const body = Object.fromEntries(
      Object.entries(given)
        .filter(([, text]) => text !== "")
        .map(([name, text]) => [name, name === "limit" || name === "remaining" ? numberOr(text) : text]),
    );
    return { method: "PUT", path: `/rate-limits/${encodeURIComponent(merchant)}`, body };
  },
  done({ body }, { merchant = "" }, { state }) {
    const { remaining, limit } = body as Window;
    const before = windowOf(state, merchant);
    return { words: `${merchant} has ${remaining} of ${limit} left`, ...(before && { undo: windowBack(before) }) };
  },
};

/** Limit and length as they were, in a window that is as full as it was. */
const windowBack = ({ merchant, limit, window, remaining }: Window) =>
  ({
    method: "PUT",
    path: `/rate-limits/${encodeURIComponent(merchant)}`,
    body: { limit, window: `${window}ms`, remaining },
  }) as const;

export const merchantKeys: readonly Action[] = [
  { keys: ["m"], label: "merchant", words: "mint a merchant; its key is copied", run: (state) => openForm(state, minting) },
  {
    keys: ["w"],
    label: "window",
    words: "change a rate-limit window",
    run: (state) => openForm(state, windowing, { merchant: merchantHere(state) }),
  },
  { keys: ["X"], label: "reset", words: "reset everything, or one merchant", run: (state) => openForm(state, resetting) },
];
