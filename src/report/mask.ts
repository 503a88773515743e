// What must not leave the machine in a report that is attached to something: beyond what the journal masks, keys and values in addresses.

import { MASK, redactText } from "../kernel/redact.ts";

/** Minted keys are masked; those of the fixtures are in every manual. */
export const mask = (text: string) => redactText(text).replace(/sk_test_[0-9A-Za-z]{20,}/g, `sk_test_${MASK}`);

/** An address, or a query alone, in which values that are named like a secret are masked. */
export const maskUrl = (url: string) =>
  mask(url).replace(/(^|[?&])([^=&]*(?:token|secret|key|password|signature)[^=&]*=)[^&#]*/gi, `$1$2${MASK}`);
