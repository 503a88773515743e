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
  const table = rows.map(({ situation, rule, cells }, index) =>
    line([rows[index - 1]?.situation === situation ? "" : situation, `\`${rule}\``, ...cells]),
  );
  return [
    "# How clients retry",
    "",
    "The judge's verdicts on popular HTTP libraries with the settings shown, otherwise with their defaults. " +
      "`merchant-sandbox verdicts`",
    "lists those on your client.",
    "",
    line(["Situation", "Rule", ...columns]),
    `|${"---|".repeat(columns.length + 2)}`,
    ...table,
    "",
    `Each library was tried ${rows[0]?.runs} times; where the runs differ, the cell counts them. ` +
      "`–` means that the rule did not apply.",
    "",
    "## A POST without an Idempotency-Key",
    "",
    "| First response | A repeat | Verdict |",
    "| --- | --- | --- |",
    "| 429 | is safe: the first call had no effect | `idempotency.present` passes |",
    "| 503, another 5xx, or none before the call took effect | may take effect twice | `idempotency.present` is " +
      "inconclusive for two repeats, and fails at the third |",
    "| lost after the call took effect | takes effect twice | `idempotency.present` and `effect.single` fail |",
    "",
    "One or two repeats after a 503 may be new orders with the same content. " +
      "`retry.happened` does not require a retry of such a POST.",
    "",
    "## Configure a library",
    "",
    "- Most libraries do not retry a POST. Enable retries for POST and PATCH calls that carry an `Idempotency-Key`, " +
      "and create the key once for each call,",
    "  not for each attempt.",
    "- If a `retry_after` rule fails, pass the library a delay function that reads the header.",
    "- If `retry.backoff_grows` fails, pass it one that doubles the delay with each attempt.",
    "",
    "[Test that your client survives](surviving.md) writes a client of thirty lines over plain `fetch` that passes.",
    "",
  ].join("\n");
}
