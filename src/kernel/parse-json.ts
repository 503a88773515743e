// Parses JSON that another program wrote.

/** The parsed JSON; undefined if the text is invalid or missing. */
export function tryParseJson(text: string | undefined): unknown {
  try {
    return JSON.parse(text ?? "");
  } catch {
    return undefined;
  }
}
