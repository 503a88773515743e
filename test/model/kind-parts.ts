// The parts of a kind's description: states, what arriving in them sets, and the calendar of the merchant's country.

export type Fields = Record<string, unknown>;

/** The fields of the merchant that the states of a record use. */
export interface Home {
  country: string | null;
  /** The default payout method. */
  payoutMethodId: string | null;
}

export interface Kind {
  prefix: string;
  defaults: Fields;
  /** For each state, the states that may follow. */
  transitions: Record<string, string[]>;
  /** Event types by trigger: `created`, the state reached, or `updated`. */
  emits: Record<string, string>;
  /** The values that arriving in a state sets; the caller's values stay. */
  sets?: Record<string, (now: number, record: Fields, home: Home) => Fields>;
  /** Times that must not decrease, as lists of fields. */
  orders?: string[];
}

/** A field with the time of the arrival. */
export const at = (field: string) => (now: number) => ({ [field]: now });

/** The same, and another field that is set unless it is known. */
export const atWith = (field: string, other: string, value: unknown) => (now: number, record: Fields) => ({
  [field]: now,
  [other]: record[other] ?? value,
});

/** Events named after the states: `eventsOf("booking", "confirmed")`. */
export const eventsOf = (kind: string, ...states: string[]) => Object.fromEntries(states.map((state) => [state, `${kind}.${state}`]));

/** Fields that are null, by their names. */
export const none = (names: string): Fields => Object.fromEntries(names.split(" ").map((name) => [name, null]));

/** Parses transitions: in `pending > paid failed`, paid and failed may follow pending. A state that nothing follows needs no text of its own. */
export function transitions(...lines: string[]): Record<string, string[]> {
  const next = new Map(lines.map((line) => line.split(" > ") as [string, string]).map(([from, to]) => [from, to.split(" ")]));
  for (const state of [...next.values()].flat()) if (!next.has(state)) next.set(state, []);
  return Object.fromEntries(next);
}

const ZONES: Record<string, string> = { PT: "Europe/Lisbon", CH: "Europe/Zurich", KE: "Africa/Nairobi", JP: "Asia/Tokyo" };

/** The day in a country at a time in Unix seconds. */
export const dayOf = (seconds: number, { country }: Home): string =>
  new Intl.DateTimeFormat("sv", { timeZone: ZONES[country ?? ""] ?? "UTC" }).format(seconds * 1_000);

export const daysLater = (day: string, days: number): string => new Date(Date.parse(day) + days * 86_400_000).toISOString().slice(0, 10);
