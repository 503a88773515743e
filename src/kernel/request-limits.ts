// The limits of a request to the service, used by its errors, its documentation and the comparison with the real service.

/** Bytes of a body. */
export const MAX_BODY = 1_048_576;

/** Characters of a request target: the path and the query. */
export const MAX_TARGET = 2_048;

/** Bytes of all headers: Node's own limit. */
export const MAX_HEADERS = 16_384;

/** Characters of an idempotency key. */
export const MAX_KEY_LENGTH = 255;

/** An idempotency key is printable ASCII without spaces. */
export const KEY_PATTERN = "^[!-~]+$";

/** Levels of nested JSON. Within this limit, recursive functions cannot overflow the stack. */
export const MAX_DEPTH = 32;

export const isTooDeep = (value: unknown): boolean => isDeeperThan(value, MAX_DEPTH);

/** Descends at most `levels` levels, so that a deep value cannot overflow the stack. */
export function isDeeperThan(value: unknown, levels: number): boolean {
  if (typeof value !== "object" || value === null) return false;
  if (levels === 0) return true;
  return Object.values(value).some((child) => isDeeperThan(child, levels - 1));
}
