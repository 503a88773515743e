// Field schemas that several actions share: time spans, choices, and Retry-After.

import type { RetryAfter } from "../contracts/fault.ts";
import { tryParseDuration } from "../kernel/duration.ts";
import { fail } from "../kernel/errors.ts";
import { PATTERNS } from "../schema/patterns.ts";
import { oneOf, Type, text, withDefault } from "../schema/shapes.ts";

export const span = (description: string) =>
  text(`${description}, such as 600ms, 30s or 24h`, { pattern: PATTERNS.duration.pattern, maxLength: 30 });

/** A span in milliseconds; fails if it is too long. */
export function milliseconds(written: string): number {
  return (
    tryParseDuration(written) ??
    fail(
      "validation_failed",
      `${JSON.stringify(written)} is not a time span, or is longer than a hundred years. ` +
        "Write it as 600ms, 30s or 24h.",
    )
  );
}

const LONGEST_WAIT = 366 * 86_400;
const seconds = Type.Integer({ description: "Seconds to wait", minimum: 0, maximum: LONGEST_WAIT });

/** Seconds, or one of the values that clients often handle wrongly. */
export const retryAfter = () =>
  Type.Optional(
    Type.Unsafe<RetryAfter>(
      Type.Union(
        [
          seconds,
          oneOf(
            ["absent", "zero", "past", "invalid"],
            "No header, 0, a date in the past, or a value that is neither number nor date",
          ),
          Type.Object(
            { form: Type.String({ const: "http_date" }), seconds },
            { additionalProperties: false, description: "The same time as an HTTP date" },
          ),
        ],
        {
          description:
            "The Retry-After header: seconds; `absent`, `zero`, `past` or `invalid`; or {form: http_date, seconds}",
        },
      ),
    ),
  );

/** An optional field with one of these values (default: the first). */
export const choice = <const V extends string>(
  values: readonly V[],
  description: string,
  fallback = `\`${values[0]}\``,
) => Type.Optional(withDefault(oneOf(values, description), fallback));
