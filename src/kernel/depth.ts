// How deep JSON may nest: whatever walks a value by calling itself is safe below this, and only below this.

export const MAX_DEPTH = 32;

export const isTooDeep = (value: unknown): boolean => deeperThan(value, MAX_DEPTH);

function deeperThan(value: unknown, levels: number): boolean {
  if (typeof value !== "object" || value === null) return false;
  if (levels === 0) return true;
  return Object.values(value).some((child) => deeperThan(child, levels - 1));
}
