// Formats a merchant and its records as a fixture file, for `fixture save` and for both dashboards.

type Fixture = Readonly<Record<"merchant" | "records", Readonly<Record<string, unknown>>>>;

/** JSON with one line for each record, so that a change of one record is a change of one line. */
export function fixtureText({ merchant, records, ...head }: Fixture): string {
  const fields = Object.entries(head).map(([name, value]) => `  ${JSON.stringify(name)}: ${oneLine(value)}`);
  const lists = Object.entries(records).map(
    ([kind, all]) =>
      `    ${JSON.stringify(kind)}: [\n${(all as object[]).map((one) => `      ${oneLine(one)}`).join(",\n")}\n    ]`,
  );
  const parts = [...fields, `  "merchant": ${oneLine(merchant)}`, `  "records": {\n${lists.join(",\n")}\n  }`];
  return `{\n${parts.join(",\n")}\n}\n`;
}

/** JSON on one line with spaces, as in `{ "id": "pay_1", "amount": 100 }`. */
function oneLine(value: unknown): string {
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  if (Array.isArray(value)) return `[${value.map(oneLine).join(", ")}]`;
  const fields = Object.entries(value).map(([name, field]) => `${JSON.stringify(name)}: ${oneLine(field)}`);
  return fields.length === 0 ? "{}" : `{ ${fields.join(", ")} }`;
}

export const recordCount = ({ records }: Fixture): number => Object.values(records).flat().length;
