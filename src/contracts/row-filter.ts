// The filter that a watcher writes over rows: words that a row must hold, fields that must fit, `!` for the opposite.

/** What a row is filtered by: its text as it is shown, and its fields by name. */
export interface FilterFacts {
  text: string;
  fields: Record<string, string | number | null>;
}

export type RowFilter = (facts: FilterFacts) => boolean;

/** `status:4xx path:/v1/payments ms>100 !lodge "two words"`; every term must hold. An empty text lets everything through. */
export function readRowFilter(written: string): RowFilter {
  const terms = (written.match(TERM) ?? []).map(readTerm);
  return (facts) => terms.every((holds) => holds(facts));
}

const TERM = /!?(?:"[^"]*"?|[^\s"]+)+/g;

function readTerm(written: string): RowFilter {
  const inverted = written.startsWith("!") && written.length > 1;
  const term = written.slice(inverted ? 1 : 0).replaceAll('"', "");
  const holds = fieldTerm(term) ?? ((facts) => contains(facts.text, term));
  return inverted ? (facts) => !holds(facts) : holds;
}

/** A name that the row has no field of is plain text: an address has a colon too. */
function fieldTerm(term: string): RowFilter | undefined {
  const [, name = "", sign, value = ""] = /^([a-z]+)([:<>])(.*)$/i.exec(term) ?? [];
  if (sign === undefined) return undefined;
  return ({ text, fields }) => (Object.hasOwn(fields, name) ? fits(fields[name] ?? "", sign, value) : contains(text, term));
}

function fits(field: string | number, sign: string, value: string): boolean {
  // What was not measured is neither more nor less than anything.
  if (sign !== ":") return value !== "" && field !== "" && (sign === ">" ? Number(field) > Number(value) : Number(field) < Number(value));
  const isClass = /^[1-5]xx$/i.test(value);
  return isClass ? String(field).startsWith(value.slice(0, 1)) && String(field).length === 3 : contains(String(field), value);
}

const contains = (text: string, part: string) => text.toLowerCase().includes(part.toLowerCase());
