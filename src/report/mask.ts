// Masks in reports what the request log does not: keys of created merchants, and secret values in URLs.

import { MASK, redactText } from "../kernel/redact.ts";

const NAMED = "[\\w.-]*(?:token|secret|key|password|signature)[\\w.-]*=";
const inAddress = new RegExp(`([?&]${NAMED})[^&#\\s"'\\\\]*`, "gi");
const atStart = new RegExp(`^(${NAMED})[^&#]*`, "i");

/** Fixture keys are public and stay readable; keys of created merchants and query values named like a secret are masked. */
export const mask = (text: string) =>
  redactText(text)
    .replace(/sk_test_[0-9A-Za-z]{20,}/g, `sk_test_${MASK}`)
    .replace(inAddress, `$1${MASK}`);

/** The same for a query without its question mark. */
export const maskQuery = (query: string) => mask(query).replace(atStart, `$1${MASK}`);
