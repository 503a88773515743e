// The limits of a request to the service. Its errors, its documentation and the comparison with the real service read them here.

/** Bytes of a body. */
export const MAX_BODY = 1_048_576;

/** Characters of a request target: the path and the query. */
export const MAX_TARGET = 2_048;

/** Bytes of all headers: the limit of Node itself. */
export const MAX_HEADERS = 16_384;

/** Characters of an idempotency key. */
export const MAX_KEY_LENGTH = 255;

/** An idempotency key is printable ASCII without spaces. */
export const KEY_PATTERN = "^[!-~]+$";

/** Levels of nested JSON: up to it, functions that walk a value recursively cannot overflow the stack. */
export const MAX_DEPTH = 32;

export const isTooDeep = (value: unknown): boolean => isDeeperThan(value, MAX_DEPTH);

/** Looks no deeper than `levels`, so that no value can exhaust the stack. */
export function isDeeperThan(value: unknown, levels: number): boolean {
  if (typeof value !== "object" || value === null) return false;
  if (levels === 0) return true;
  return Object.values(value).some((child) => isDeeperThan(child, levels - 1));
}
