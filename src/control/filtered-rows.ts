// The rows of a log that match a row filter: reads the log in chunks, newest first, and lets other calls run in between.

import { type FilterFacts, type FilterVocabulary, filterProblem, readRowFilter } from "../contracts/row-filter.ts";
import { realDelay } from "../kernel/clock.ts";
import { fail } from "../kernel/errors.ts";
import { Type } from "../schema/shapes.ts";

/** Reading so many rows takes a few milliseconds. */
const CHUNK = 500;

export const filterFields = {
  path: Type.Optional(Type.String({ description: "Only with a path or URL that contains this text", maxLength: 5_000 })),
  filter: Type.Optional(
    Type.String({
      description:
        "Only rows with these words, fields and marks, as in the filter of the dashboard: `status:4xx path:/v1/payments ms>100 is:fault !lodge`",
      maxLength: 5_000,
    }),
  ),
};

interface FilteredLog<Row> {
  vocabulary: FilterVocabulary;
  factsOf(row: Row): FilterFacts;
  /** The rows older than `after`, newest first. */
  read(after: string | undefined, limit: number): readonly Row[];
}

interface FilteredPage {
  filter: string | undefined;
  starting_after: string | undefined;
  limit: number;
}

export async function filteredRows<Row extends { id: string }>(log: FilteredLog<Row>, page: FilteredPage) {
  const { filter = "", starting_after, limit } = page;
  const problem = filterProblem(filter, log.vocabulary);
  if (problem !== undefined) fail("validation_failed", `${problem}; received ${JSON.stringify(filter)}.`);
  const found: Row[] = [];
  const matches = readRowFilter(filter);
  const chunk = filter.trim() === "" ? limit + 1 : CHUNK;
  for (let after = starting_after; ; await realDelay(0)) {
    const rows = log.read(after, chunk);
    found.push(...rows.filter((row) => matches(log.factsOf(row))));
    if (found.length > limit || rows.length < chunk) return { data: found.slice(0, limit), has_more: found.length > limit };
    after = rows.at(-1)?.id;
  }
}
