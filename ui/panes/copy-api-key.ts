// The key that copies a merchant's API key.

import { apiKeysOf, copyText, type KeyBinding, type UiState, update } from "../state/state.ts";

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
