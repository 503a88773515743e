// The nesting limit of JSON: below it, functions that walk a value recursively cannot overflow the stack.

export const MAX_DEPTH = 32;

export const isTooDeep = (value: unknown): boolean => isDeeperThan(value, MAX_DEPTH);

function isDeeperThan(value: unknown, levels: number): boolean {
  if (typeof value !== "object" || value === null) return false;
  if (levels === 0) return true;
  return Object.values(value).some((child) => isDeeperThan(child, levels - 1));
}
