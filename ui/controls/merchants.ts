// The merchant keys: create a merchant, reset, change a rate limit.

import type { RateWindow } from "../../generated/control-api.ts";
import { controlCalls } from "../../src/client/control-call.ts";
import { tryParseDuration } from "../../src/kernel/duration.ts";
import type { FieldOption, FormField } from "../overlays/field.ts";
import { type Form, openForm, submission } from "../overlays/form.ts";
import { apiKeysOf, copyText, type KeyBinding, shortMerchant, type UiState, update } from "../state/state.ts";
import { allOrOneMerchant, defaultMerchant, merchantOptions, selectedMerchant, sharedWindow } from "./form-fields.ts";

/** The merchants that came from a fixture: their API key has the fixture's name. */
const fixtureOptions = ({ sandbox }: UiState): FieldOption[] =>
  (sandbox?.merchants ?? [])
    .filter(({ id, apiKeys }) => apiKeys.includes(`sk_test_${shortMerchant(id)}`))
    .map(({ id, name }) => ({ value: shortMerchant(id), help: name ?? "" }));

const createMerchantForm: Form = {
  title: "Create a merchant",
  fields: (_, { state }) => [
    { name: "fixture", label: "fixture", help: "The fixture to copy records from", options: fixtureOptions(state), allowOther: true },
  ],
  submission: ({ fixture = "" }) =>
    submission(controlCalls.merchants.mint(fixture === "" ? {} : { fixture }), ({ merchant, apiKey }) => ({
      message: `Created ${merchant}; sent its API key ${apiKey} to the terminal's clipboard`,
      copy: apiKey,
      undo: controlCalls.merchants.remove({ id: merchant }),
    })),
};

const resetForm: Form = {
  title: "Reset",
  fields: (_, { state }) => [
    {
      name: "merchant",
      label: "merchant",
      help: "Resets records, API keys, endpoints, events, deliveries and rate limits",
      options: allOrOneMerchant(state, "everything"),
    },
  ],
  confirm: ({ merchant = "" }) =>
    merchant === "" ? "Reset everything to the fixtures?" : `Reset ${merchant}? Everything that happened to it since the start is lost.`,
  submission: ({ merchant = "" }) =>
    submission(controlCalls.reset(merchant === "" ? {} : { merchant }), ({ reset }) => ({
      message: `Reset ${reset}`,
      // A full reset removes everything that could be undone.
      ...(merchant === "" && { updateState: (state: UiState) => ({ ...state, undo: [] }) }),
    })),
};

const durationField = (name: string, help: string): FormField => ({
  name,
  label: name,
  help: `${help}, such as 10s (default: unchanged)`,
  validate: (text) => (text !== "" && tryParseDuration(text) === undefined ? "must be a duration such as 500ms or 10s" : undefined),
});

const numberField = (name: string, help: string, minimum: number): FormField => ({
  name,
  label: name,
  help: `${help} (default: unchanged)`,
  validate: (text) =>
    text !== "" && (!/^\d+$/.test(text) || Number(text) < minimum) ? `must be a whole number, at least ${minimum}` : undefined,
});

const numberOr = (text: string) => (/^\d+$/.test(text) ? Number(text) : text);

const rateLimitForm: Form = {
  title: "Change a rate limit",
  fields(values, { state }) {
    const current = sharedWindow(state, values.merchant ?? "");
    return [
      {
        name: "merchant",
        label: "merchant",
        help: current ? `Now: ${current.remaining} of ${current.limit} left, window ${current.window / 1_000} s` : "The merchant to limit",
        options: merchantOptions(state),
      },
      { ...numberField("remaining", "Requests left in the current window", 0), initial: "0" },
      durationField("resetIn", "Time until the current window resets"),
      numberField("limit", "Requests per window", 1),
      durationField("window", "Length of a window"),
    ];
  },
  submission({ merchant = "", ...fields }, { state }) {
    const body = Object.fromEntries(
      Object.entries(fields)
        .filter(([, text]) => text !== "")
        .map(([name, text]) => [name, name === "limit" || name === "remaining" ? numberOr(text) : text]),
    );
    const before = sharedWindow(state, merchant);
    return submission(controlCalls.rateLimits.set({ merchant, ...body }), ({ remaining, limit }) => ({
      message: `${merchant} has ${remaining} of ${limit} requests left`,
      ...(before && { undo: restoreWindow(before) }),
    }));
  },
};

const restoreWindow = ({ merchant, limit, window, remaining }: RateWindow) =>
  controlCalls.rateLimits.set({ merchant, limit, window: `${window}ms`, remaining });

export const merchantKeys: readonly KeyBinding[] = [
  {
    keys: ["m"],
    label: "merchant",
    help: "create a merchant and copy its API key",
    run: (state) => openForm(state, createMerchantForm),
  },
  {
    keys: ["w"],
    label: "rate limit",
    help: "change a rate limit",
    run: (state) => openForm(state, rateLimitForm, { merchant: defaultMerchant(state) }),
  },
  {
    keys: ["X"],
    label: "reset",
    help: "reset everything, or one merchant",
    run: (state) => openForm(state, resetForm, { merchant: selectedMerchant(state)?.id ?? "" }),
  },
];

/** `a` copies the API key of a row's merchant. */
export const copyApiKey = (merchantOf: (state: UiState) => string | null | undefined): KeyBinding => ({
  keys: ["a"],
  help: "copy the merchant's API key",
  isEnabled: (state) => apiKeysOf(state, merchantOf(state) ?? null).length > 0,
  run(state) {
    const merchant = merchantOf(state) ?? "";
    const [key] = apiKeysOf(state, merchant);
    if (key === undefined) return update(state);
    return copyText(state, key, `the API key of ${merchant}`);
  },
});
