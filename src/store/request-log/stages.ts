// The stages of a request, between whose ends its time passed.

const HANDLING = ["checks", "body", "validation", "operation"] as const;
export const STAGES = [...HANDLING, "response", "sending"] as const;

/**
 * The stages that a request reached, with the times at which each began and ended. `ends` are the end of each stage of
 * handling, the first byte of the response, and the end of it; every request reaches the last two.
 */
export function stagesBetween(ends: readonly number[]) {
  const names = [...HANDLING.slice(0, ends.length - 2), ...STAGES.slice(HANDLING.length)];
  return names.map((name, index) => {
    const from = ends[index - 1] ?? 0;
    return { name, from, to: Math.max(from, ends[index] ?? 0) };
  });
}
