// The merchant keys: create a merchant, reset, change a rate limit.

import type { RateWindow } from "../../generated/control-api.ts";
import { controlCalls } from "../../src/client/control-call.ts";
import { valueOfJson } from "../connection/json-schema.ts";
import type { FieldOption } from "../overlays/field.ts";
import { type Form, openForm, submission } from "../overlays/form.ts";
import { apiKeysOf, type KeyBinding, type RowKey, shortMerchant, type UiState } from "../state/state.ts";
import { copyText } from "../state/updates.ts";
import {
  allOrOneMerchant,
  defaultMerchant,
  filledIn,
  merchantOptions,
  selectedMerchant,
  sharedWindow,
  withoutUndo,
} from "./form-fields.ts";

/** The merchants that came from a fixture: their API key has the fixture's name. */
const fixtureOptions = ({ sandbox }: UiState): FieldOption[] =>
  (sandbox?.merchants ?? [])
    .filter(({ id, apiKeys }) => apiKeys.includes(`sk_test_${shortMerchant(id)}`))
    .map(({ id, name }) => ({ value: shortMerchant(id), help: name ?? "" }));

const createMerchantForm: Form = {
  title: "Create a merchant",
  fields: (_, { state }) => [
    { name: "fixture", help: "The fixture to copy records from", options: fixtureOptions(state), allowOther: true },
  ],
  submission: ({ fixture = "" }) =>
    submission(controlCalls.merchants.mint(filledIn({ fixture })), ({ merchant, apiKey }) => ({
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
      help: "Resets records, API keys, endpoints, events, deliveries and rate limits",
      options: allOrOneMerchant(state, "everything"),
    },
  ],
  confirm: ({ merchant = "" }) =>
    merchant === "" ? "Reset everything to the fixtures?" : `Reset ${merchant}? Everything that happened to it since the start is lost.`,
  submission: ({ merchant = "" }) =>
    submission(controlCalls.reset(filledIn({ merchant })), ({ reset }) => ({
      message: `Reset ${reset}`,
      ...(merchant === "" && { updateState: withoutUndo }),
    })),
};

const rateLimitForm: Form = {
  title: "Change a rate limit",
  fields(values, { state }) {
    const current = sharedWindow(state, values.merchant ?? "");
    return [
      {
        name: "merchant",
        help: current ? `Now: ${current.remaining} of ${current.limit} left, window ${current.window / 1_000} s` : "The merchant to limit",
        options: merchantOptions(state),
      },
      { name: "remaining", help: "Requests left in the current window (default: unchanged)", initial: "0" },
      { name: "resetIn", help: "Time until the current window resets, such as 10s (default: unchanged)" },
      { name: "limit", help: "Requests per window (default: unchanged)" },
      { name: "window", help: "Length of a window, such as 10s (default: unchanged)" },
    ];
  },
  submission({ merchant = "", ...fields }, { state }) {
    const body = Object.fromEntries(Object.entries(filledIn(fields)).map(([name, text = ""]) => [name, valueOfJson(text)]));
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
export const copyApiKey = <Value>(merchantOf: (row: Value) => string | null): RowKey<Value> => ({
  keys: ["a"],
  help: "copy the merchant's API key",
  isEnabled: (state, row) => apiKeysOf(state, merchantOf(row)).length > 0,
  run: (state, row) => copyText(state, apiKeysOf(state, merchantOf(row))[0] ?? "", `the API key of ${merchantOf(row)}`),
});
