// The keys of merchants: which one a call was made with, and the one that is copied.

import { type Action, also, just, type State, say } from "../state/state.ts";

/** The known keys of a merchant; none where there is no such merchant. */
export const keysOf = ({ sandbox }: State, merchant: string | null): readonly string[] =>
  sandbox?.merchants.find(({ id }) => id === merchant)?.apiKeys ?? [];

/** `a` copies the key of the merchant that a row is of. */
export const copyKey = (merchantOf: (state: State) => string | null | undefined): Action => ({
  keys: ["a"],
  words: "copy the API key of the row's merchant",
  can: (state) => keysOf(state, merchantOf(state) ?? null).length > 0,
  run(state) {
    const merchant = merchantOf(state) ?? "";
    const [key] = keysOf(state, merchant);
    if (key === undefined) return just(say(state, "That merchant has no key", "yellow"));
    return also(say(state, `Copied the API key of ${merchant}`), { kind: "copy", text: key });
  },
});
