// The row filter: words that a row must contain, fields that must match, and `!` for negation.

/** The facts by which a filter selects a row: its text as shown, and its fields by name. */
export interface FilterFacts {
  text: string;
  fields: Record<string, string | number | null>;
}

export type RowFilter = (facts: FilterFacts) => boolean;

/** `status:4xx path:/v1/payments ms>100 !lodge "two words"`; every term must match. An empty filter matches everything. */
export function readRowFilter(text: string): RowFilter {
  const terms = (text.match(TERM) ?? []).map(readTerm);
  return (facts) => terms.every((matches) => matches(facts));
}

const TERM = /!?(?:"[^"]*"?|[^\s"]+)+/g;

function readTerm(text: string): RowFilter {
  const inverted = text.startsWith("!") && text.length > 1;
  const term = text.slice(inverted ? 1 : 0).replaceAll('"', "");
  const matches = fieldTerm(term) ?? ((facts) => contains(facts.text, term));
  return inverted ? (facts) => !matches(facts) : matches;
}

/** If the row has no field of that name, the whole term is plain text: URLs contain colons too. */
function fieldTerm(term: string): RowFilter | undefined {
  const [, name = "", sign, value = ""] = /^([a-z]+)([:<>])(.*)$/i.exec(term) ?? [];
  if (sign === undefined) return undefined;
  return ({ text, fields }) => (Object.hasOwn(fields, name) ? matchesField(fields[name] ?? "", sign, value) : contains(text, term));
}

function matchesField(field: string | number, sign: string, value: string): boolean {
  // A value that was not measured matches neither < nor >.
  if (sign !== ":") return value !== "" && field !== "" && (sign === ">" ? Number(field) > Number(value) : Number(field) < Number(value));
  const isClass = /^[1-5]xx$/i.test(value);
  return isClass ? String(field).startsWith(value.slice(0, 1)) && String(field).length === 3 : contains(String(field), value);
}

const contains = (text: string, part: string) => text.toLowerCase().includes(part.toLowerCase());
