// The states of a kind of record, and the transitions between them.

/** The statuses that may follow each status. */
export type Transitions = Readonly<Record<string, readonly string[]>>;

/** The shortest path of states from the initial state to `status`, both included. */
export const pathTo = (
  { transitions, defaults }: { transitions: Transitions; defaults: { status?: string } },
  status: string,
): string[] => {
  const ways = [[defaults.status as string]];
  for (const way of ways) {
    const last = way.at(-1) as string;
    if (last === status) return way;
    for (const next of transitions[last] ?? []) if (!ways.some((known) => known.includes(next))) ways.push([...way, next]);
  }
  throw new Error(`no way leads to ${status}`);
};

/** The statuses from which a record may move to `state`. */
export function statesBefore(transitions: Transitions, state: string): string[] {
  return Object.keys(transitions).filter((from) => transitions[from]?.includes(state));
}

/** The transitions as a sentence of the reference. */
export function describeTransitions(transitions: Transitions): string {
  const lines = Object.entries(transitions).map(([from, to]) =>
    to.length > 0 ? `\`${from}\` → ${to.map((state) => `\`${state}\``).join(", ")}` : `\`${from}\` is final`,
  );
  return lines.join("; ");
}
