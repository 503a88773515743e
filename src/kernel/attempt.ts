// Work that may fail without harm, such as reading a file that may be gone.

/** The result of `work`; undefined if it throws. */
export function attempt<T>(work: () => T): T | undefined {
  try {
    return work();
  } catch {
    return undefined;
  }
}

/** The parsed JSON, which another program wrote; undefined if the text is invalid or missing. */
export const tryParseJson = (text: string | undefined): unknown => attempt(() => JSON.parse(text ?? ""));

/** Whether `work` ends without an error. */
export const succeeds = (work: () => unknown): boolean => attempt(() => ({ result: work() })) !== undefined;
