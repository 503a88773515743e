// The page about clients: what the judge finds in HTTP libraries as they come, and what that means for who uses them.

export interface Row {
  situation: string;
  rule: string;
  cells: string[];
}

export function clientsPage(columns: readonly string[], rows: readonly Row[]): string {
  const line = (cells: readonly string[]) => `| ${cells.join(" | ")} |`;
  const table = rows.map(({ situation, rule, cells }, index) =>
    line([rows[index - 1]?.situation === situation ? "" : situation, `\`${rule}\``, ...cells]),
  );
  return [
    "# How clients retry",
    "",
    "The sandbox judges every client that calls it: whether it comes back after a 429, a 503 or a lost answer, whether it waits as long as it was",
    "told, and whether what it repeats can do harm. `GET /_sandbox/verdicts` shows what was found, with the requests that show it and how to mend it.",
    "",
    "Below is what it finds in HTTP libraries as they come, without configuration. A test makes this table anew and compares it.",
    "`pass` and `fail` are the judge's; `–` means that nothing happened that the rule could be held against, such as a pause before a retry that never came.",
    "",
    line(["Situation", "Rule", ...columns]),
    line(["---", "---", ...columns.map(() => "---")]),
    ...table,
    "",
    "## What to make of it",
    "",
    "- A library that does not repeat a POST does so for a good reason: it cannot know that the `Idempotency-Key` makes it safe. Tell it: allow POST",
    "  and PATCH for calls that carry a key, and make the key once for each call, not for each try.",
    "- `Retry-After` is only honoured where the library reads it. Where a rule about waiting fails, hand it a pause of your own that does.",
    "- Pauses that neither grow nor vary bring everybody back at the same moment. Most libraries take a function for the pause; double it with",
    "  each try, and draw it at random.",
    "",
    "`test/clients/client.ts` is a client of a hundred lines over plain `fetch` that passes every rule.",
    "",
  ].join("\n");
}
