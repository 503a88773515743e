// Writes a JSON value as YAML: lists and objects as blocks, and texts in quotes if YAML would read them differently.

/** Texts that need no quotes in YAML 1.1 and 1.2: not a number, date, boolean or null, and without special characters. */
const PLAIN = /^(?!(?:true|false|yes|no|on|off|null|y|n)$)[A-Za-z/][\w./-]*( [\w./-]+)*$/i;

export const yamlOf = (value: unknown): string => block(JSON.parse(JSON.stringify(value)), "").join("\n");

function block(value: unknown, indent: string): string[] {
  if (Array.isArray(value)) return value.flatMap((item) => entry(`${indent}-`, item, `${indent}  `, true));
  return Object.entries(value as object).flatMap(([name, item]) => entry(`${indent}${scalar(name)}:`, item, `${indent}  `, false));
}

/** Formats a list item or a field. A nested list or object in a list begins on the line of its dash. */
function entry(start: string, value: unknown, indent: string, isItem: boolean): string[] {
  if (!isBlock(value)) return [`${start} ${scalar(value)}`];
  const lines = block(value, indent);
  return isItem ? [`${start} ${(lines[0] ?? "").slice(indent.length)}`, ...lines.slice(1)] : [start, ...lines];
}

const isBlock = (value: unknown): value is object => typeof value === "object" && value !== null && Object.keys(value).length > 0;

const scalar = (value: unknown) => (typeof value === "string" && PLAIN.test(value) ? value : JSON.stringify(value));
