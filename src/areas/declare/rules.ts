// Rules that several kinds of records share: dates in order, and correct sums.

import type { RecordBase, Rule, RuleProblem } from "../../contracts/resource.ts";

const valuesOf = (record: RecordBase) => record as unknown as Readonly<Record<string, unknown>>;

/** A problem of a field, or of a path such as `items/0/amount`. */
export const problem = (field: string, code: string, message: string): RuleProblem => ({ field, code, message });

/** A rule that the days or times in these fields do not decrease. Null fields are skipped. */
export const inOrder =
  (...fields: readonly string[]): Rule<RecordBase> =>
  (record) => {
    const values = valuesOf(record);
    let earlier: string | undefined;
    for (const field of fields) {
      const value = values[field];
      if (value == null) continue;
      if (earlier !== undefined && (value as number) < (values[earlier] as number))
        return problem(
          field,
          "out_of_order",
          `${field} must not come before ${earlier}; received ${value} and ${values[earlier]}.`,
        );
      earlier = field;
    }
    return undefined;
  };

/** A rule that `field` is the sum of `parts`. Skipped if any of them is null. */
export const sumOf =
  (field: string, ...parts: readonly string[]): Rule<RecordBase> =>
  (record) => {
    const values = valuesOf(record);
    if (values[field] == null || parts.some((part) => values[part] == null)) return undefined;
    const sum = parts.reduce((total, part) => total + Number(values[part]), 0);
    if (values[field] === sum) return undefined;
    return problem(
      field,
      "wrong_sum",
      `${field} must be the sum of ${parts.join(" and ")}, ${sum}; received ${values[field]}.`,
    );
  };
