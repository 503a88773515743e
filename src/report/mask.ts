// What must not leave the machine in a report that is attached to something: beyond what the journal masks, keys and values in addresses.

import { MASK, redactText } from "../kernel/redact.ts";

const NAMED = "[\\w.-]*(?:token|secret|key|password|signature)[\\w.-]*=";
const inAddress = new RegExp(`([?&]${NAMED})[^&#\\s"'\\\\]*`, "gi");
const atStart = new RegExp(`^(${NAMED})[^&#]*`, "i");

/** Minted keys are masked, those of the fixtures are in every manual; so are values in an address that are named like a secret. */
export const mask = (text: string) =>
  redactText(text)
    .replace(/sk_test_[0-9A-Za-z]{20,}/g, `sk_test_${MASK}`)
    .replace(inAddress, `$1${MASK}`);

/** The same for a query alone, which begins with a name. */
export const maskQuery = (query: string) => mask(query).replace(atStart, `$1${MASK}`);
