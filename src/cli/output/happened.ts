// The lines about what life on the clock changed: by day, then the sums.

import type { LifeChange } from "../../../generated/control-api.ts";

/** More changes of the same sort on one day are one line. */
const MOST_LINES = 10;

export function happenedLines(changes: readonly LifeChange[]): string[] {
  if (changes.length === 0) return [];
  const days = groupBy(changes, ({ at }) => at.slice(0, 10));
  const lines = [...days].flatMap(([day, ofDay]) => [day, ...[...sorts(ofDay)].flatMap(linesOfSort).map((line) => `  ${line}`)]);
  return [...lines, "In all", ...[...sorts(changes)].map((ofSort) => `  ${sumOf(ofSort)}`)];
}

/** Changes of records of one kind into the same state, in the order of the first of each. */
const sorts = (changes: readonly LifeChange[]) => groupBy(changes, ({ kind, to }) => `${kind} ${to}`).values();

function groupBy(changes: readonly LifeChange[], nameOf: (change: LifeChange) => string): Map<string, LifeChange[]> {
  const groups = new Map<string, LifeChange[]>();
  for (const change of changes) {
    const group = groups.get(nameOf(change)) ?? [];
    group.push(change);
    groups.set(nameOf(change), group);
  }
  return groups;
}

function linesOfSort(changes: LifeChange[]): string[] {
  if (changes.length > MOST_LINES) return [`${timeOf(changes[0])} ${sumOf(changes)}`];
  return changes.map((change) => {
    const { merchant, kind, id, from, to, event } = change;
    const state = from === null ? (to ?? "changed") : `${from} → ${to}`;
    return [timeOf(change), merchant, kind, id, state, ...money([change]), event].filter((part) => part !== null).join("  ");
  });
}

const timeOf = (change: LifeChange | undefined) => change?.at.slice(11, 16);

function sumOf(changes: LifeChange[]): string {
  const [{ kind = "", to = null } = {}] = changes;
  return [`${changes.length} × ${kind} ${to ?? "changed"}`, ...money(changes)].join("  ");
}

/** The sum in each currency, such as `EUR 1,234.50`. */
function money(changes: readonly LifeChange[]): string[] {
  const sums = new Map<string, number>();
  for (const { amount, currency } of changes)
    if (amount !== null && currency !== null) sums.set(currency, (sums.get(currency) ?? 0) + amount);
  return [...sums].map(([currency, sum]) => inMajorUnits(sum, currency));
}

function inMajorUnits(amount: number, currency: string): string {
  // A client may send a currency that Intl refuses.
  if (!/^[A-Za-z]{3}$/.test(currency)) return `${currency} ${amount}`;
  const format = new Intl.NumberFormat("en", { style: "currency", currency, currencyDisplay: "code" });
  return format.format(amount / 10 ** (format.resolvedOptions().maximumFractionDigits ?? 2)).replace(/\s/g, " ");
}
