// The key that copies a merchant's API key.

import { type KeyBinding, type UiState, update, withNotice } from "../state/state.ts";

/** Empty for an unknown merchant. */
export const apiKeysOf = ({ sandbox }: UiState, merchant: string | null): readonly string[] =>
  sandbox?.merchants.find(({ id }) => id === merchant)?.apiKeys ?? [];

/** `a` copies the API key of a row's merchant. */
export const copyApiKey = (merchantOf: (state: UiState) => string | null | undefined): KeyBinding => ({
  keys: ["a"],
  help: "copy the merchant's API key",
  isEnabled: (state) => apiKeysOf(state, merchantOf(state) ?? null).length > 0,
  run(state) {
    const merchant = merchantOf(state) ?? "";
    const [key] = apiKeysOf(state, merchant);
    if (key === undefined) return update(state);
    return update(withNotice(state, `Copied the API key of ${merchant}`), { kind: "copy", text: key });
  },
});
