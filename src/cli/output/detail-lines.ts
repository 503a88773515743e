// The details of one record as lines of text.

/** A record with this field is printed as its text, a command to copy. */
export const CURL = "curl";

/**
 * One line for each field that has a value. A text of several lines follows below the name of its field, indented by
 * two spaces: other programs wrote the text, so it must not look like a line of this command.
 */
export function detailLines(details: object, indent = ""): string[] {
  if (CURL in details) return String(details[CURL]).split("\n");
  return Object.entries(details)
    .filter(
      ([, value]) => value !== "" && value !== null && !(typeof value === "object" && Object.keys(value).length === 0),
    )
    .flatMap(([name, value]): string[] => {
      if (typeof value !== "object") return fieldLines(`${indent}${name}:`, String(value).split(/\r?\n/), indent);
      if (!Array.isArray(value)) return [`${indent}${name}:`, ...detailLines(value, `${indent}  `)];
      if (value.some((item) => typeof item === "object" || String(item).includes(" ")))
        return [`${indent}${name}:`, ...value.map((item) => `${indent}  - ${itemText(item)}`)];
      return [`${indent}${name}: ${value.join(", ")}`];
    });
}

const fieldLines = (name: string, lines: readonly string[], indent: string) =>
  lines.length === 1 ? [`${name} ${lines[0]}`] : [name, ...lines.map((line) => `${indent}  ${line}`)];

const itemText = (item: unknown) => (typeof item === "object" && item !== null ? objectText(item) : String(item));

const objectText = (item: object) =>
  Object.entries(item)
    .filter(([, value]) => value !== null)
    .map(([name, value]) => `${name} ${typeof value === "object" ? JSON.stringify(value) : value}`)
    .join(", ");
