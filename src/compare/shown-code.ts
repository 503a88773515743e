// Recorded texts as the result shows them: codes and names as they are, anything that could be secret or personal as its shape.

import { mask } from "../kernel/mask.ts";

/** The texts that exports and logs put in the place of a value. */
const PLACEHOLDER = /redact|\*{3}|<hidden>|\[(?:filtered|masked|removed|secret|hidden)\]|…/i;

/** Whether a recording has replaced the value, so that it shows nothing. */
export const isMasked = (value: unknown): boolean => typeof value === "string" && PLACEHOLDER.test(value);

const CODE = /^[A-Za-z][A-Za-z0-9_.-]{0,39}$/;

/** A code or a name as it is; anything that could be a secret or personal data as its shape. */
export function shownCode(value: unknown): string {
  if (typeof value !== "string") return value === null ? "null" : typeof value;
  const isPlain = CODE.test(value) && (value.match(/\d/g) ?? []).length <= 4 && mask(value) === value;
  return isPlain ? value : `a text of ${value.length} characters`;
}
