// The stages of a request. A request's time is divided among the stages that it reached.

const HANDLING = ["checks", "body", "validation", "operation"] as const;
export const STAGES = [...HANDLING, "response", "sending"] as const;

/**
 * The stages that a request reached, each with its begin and end. `ends` lists the end of each handling stage, then the
 * times of the response's first and last byte. Every request reaches the last two stages.
 */
export function stagesBetween(ends: readonly number[]) {
  const names = [...HANDLING.slice(0, ends.length - 2), ...STAGES.slice(HANDLING.length)];
  return names.map((name, index) => {
    const from = ends[index - 1] ?? 0;
    return { name, from, to: Math.max(from, ends[index] ?? 0) };
  });
}
