// The fields that several actions share: spans of time, and what an answer says of the time to wait.

import type { RetryAfter } from "../contracts/fault.ts";
import { tryParseDuration } from "../kernel/duration.ts";
import { fail } from "../kernel/errors.ts";
import { Type, text } from "../schema/shapes.ts";

/** The form of a span, for schemas: `tryParseDuration` has the last word. */
const SPAN = "^[0-9]+(\\.[0-9]+)?(ms|s|m|h|d)$";

export const span = (description: string) => text(`${description}, such as 600ms, 30s or 24h`, { pattern: SPAN, maxLength: 30 });

/** Milliseconds of a span that has the right form. */
export function milliseconds(written: string): number {
  return (
    tryParseDuration(written) ??
    fail(
      "validation_failed",
      `${JSON.stringify(written)} is no span of time, or is longer than a hundred years. Write it as 600ms, 30s or 24h.`,
    )
  );
}

const LONGEST_WAIT = 366 * 86_400;
const seconds = (description: string) => Type.Integer({ description, minimum: 0, maximum: LONGEST_WAIT });

/** Seconds, or one of the forms that clients trip over. */
export const retryAfter = () =>
  Type.Optional(
    Type.Unsafe<RetryAfter>(
      Type.Union(
        [
          seconds("Seconds to wait"),
          Type.Unsafe<string>({
            type: "string",
            enum: ["absent", "zero", "past", "invalid"],
            description: "No header, 0, a date in the past, or no number at all",
          }),
          Type.Object(
            { form: Type.String({ const: "http_date" }), seconds: seconds("Seconds to wait") },
            { additionalProperties: false, description: "The same as a date" },
          ),
        ],
        { description: "What Retry-After says: seconds; absent, zero, past or invalid; or {form: http_date, seconds}" },
      ),
    ),
  );

/** A choice that may be left out. */
export const choice = <const V extends string>(values: readonly V[], description: string) =>
  Type.Optional(Type.Unsafe<V>({ type: "string", enum: [...values], description }));
