// Renders docs/clients.md: the judge's verdicts on HTTP libraries with their defaults, and how to configure a library.

export interface Row {
  situation: string;
  rule: string;
  /** The number of times that each library was tried. */
  runs: number;
  cells: string[];
}

export function clientsPage(columns: readonly string[], rows: readonly Row[]): string {
  const line = (cells: readonly string[]) => `| ${cells.join(" | ")} |`;
  const table = rows.map(({ situation, rule, runs, cells }, index) =>
    line([rows[index - 1]?.situation === situation ? "" : situation, `\`${rule}\``, String(runs), ...cells]),
  );
  return [
    "# How clients retry",
    "",
    "The sandbox judges every client that calls it: whether it retries after a 429, a 503 or a lost response, whether it waits as long as `Retry-After`",
    "says, and whether its retries are safe. `GET /_sandbox/verdicts` lists the verdicts, with the requests behind each and how to fix a failure.",
    "",
    "The table shows its verdicts on HTTP libraries with their default configuration, each tried as often as the row says. `pass` and `fail` are",
    "verdicts; `–` means that the rule did not apply, such as a rule about the pause before a retry when there was no retry. Where the runs differ,",
    "the cell counts them. `npm run clients` makes the table; a test tries each library that the machine has once and compares.",
    "",
    line(["Situation", "Rule", "Runs", ...columns]),
    line(["---", "---", "---", ...columns.map(() => "---")]),
    ...table,
    "",
    "## Configuring a library",
    "",
    "- By default, most libraries do not retry a POST, because they cannot know that its `Idempotency-Key` makes a retry safe. Enable retries for POST",
    "  and PATCH calls that carry a key, and create the key once for each call, not for each attempt.",
    "- Not every library honours `Retry-After`. If a `retry_after` rule fails, pass the library a delay function that reads the header.",
    "- With delays that neither grow nor vary, all clients retry at the same moment. Most libraries accept a delay function: double the delay with",
    "  each attempt, and add random jitter.",
    "",
    "`test/support/clients/client.ts` is a client of about 80 lines over plain `fetch` that passes every rule.",
    "",
  ].join("\n");
}
