// The record that an operation wrote last, with its JSON.
//
// Trick. Reason: the row, the event and the response contain the same JSON of the same record, so it is serialised and
// checked against its schema once. Figure: without it, a POST costs 1.3 to 1.5 times the CPU time. Records are
// immutable: a change makes a new one.

import type { RecordBase, Resource } from "../../contracts/resource.ts";
import { fail } from "../../kernel/errors.ts";
import { MAX_BODY } from "../../kernel/request-limits.ts";
import type { TSchema } from "../../schema/schema.ts";

/** An operation that writes records. */
export interface Writing {
  written?: { record: RecordBase; schema: TSchema; json: string };
}

/** Each change adds its unknown fields to the record, so without a bound a record would grow with every call. */
const LONGEST_RECORD = 2 * MAX_BODY;

/** Serialises a record that is about to be written and that matches the schema of its kind. */
export function writtenJson<R extends RecordBase>(operation: Writing, { schema }: Resource<R>, record: R): string {
  const json = JSON.stringify(record);
  if (json.length > LONGEST_RECORD)
    fail(
      "validation_failed",
      `The ${record.object} would have ${json.length} characters, and may have ${LONGEST_RECORD}. Send fewer fields.`,
    );
  operation.written = { record, schema, json };
  return json;
}

/** The JSON of `value` if it is the record written last, of this schema; otherwise undefined. */
export function jsonIfWritten({ written }: Writing, value: unknown, schema: TSchema): string | undefined {
  return written?.record === value && written?.schema === schema ? written?.json : undefined;
}
