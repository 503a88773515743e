// Suggests the valid name that is closest to a mistyped one, for error messages.

/** Longer than any name of an API. Bounds the comparison, whose time grows with the product of both lengths. */
const MAX_LENGTH = 200;

/** A shorter name is rarely meant as an abbreviation. */
const SHORTEST_BEGINNING = 3;

/**
 * The candidate with the fewest edits, at most one for every three characters. Otherwise the only candidate that begins
 * with the mistyped name. Undefined if there is neither.
 */
export function closestMatch(wrong: string, candidates: Iterable<string>): string | undefined {
  if (wrong.length > MAX_LENGTH) return undefined;
  const sought = wrong.toLowerCase();
  const all = [...candidates];
  let best: string | undefined;
  let fewest = Infinity;
  for (const candidate of all) {
    const allowed = Math.floor(Math.max(wrong.length, candidate.length) / 3);
    if (Math.abs(wrong.length - candidate.length) > allowed) continue;
    const edits = distance(sought, candidate.toLowerCase());
    if (edits <= allowed && edits < fewest) [best, fewest] = [candidate, edits];
  }
  if (best !== undefined || sought.length < SHORTEST_BEGINNING) return best;
  const [only, ...others] = all.filter((candidate) => candidate.toLowerCase().startsWith(sought));
  return others.length === 0 ? only : undefined;
}

/** ` Did you mean X?` with its leading space, or nothing. */
export function didYouMean(wrong: string, candidates: Iterable<string>): string {
  const guess = closestMatch(wrong, candidates);
  return guess === undefined ? "" : ` Did you mean ${guess}?`;
}

/** ` Did you mean X?` with its leading space, or a list of all names if none is close. */
export const nearestOrAll = (wrong: string, names: readonly string[]): string =>
  didYouMean(wrong, names) || ` There are ${names.join(", ") || "none"}.`;

/** The Levenshtein distance, computed row by row. Swapping two neighbours counts as one edit. */
function distance(from: string, to: string): number {
  let twoAbove: number[] = [];
  let above = Array.from({ length: to.length + 1 }, (_, column) => column);
  for (let row = 1; row <= from.length; row++) {
    const current = [row];
    for (let column = 1; column <= to.length; column++) {
      const replace = (above[column - 1] as number) + (from[row - 1] === to[column - 1] ? 0 : 1);
      const isSwapped = from[row - 2] === to[column - 1] && from[row - 1] === to[column - 2];
      const swap = isSwapped ? (twoAbove[column - 2] ?? Infinity) + 1 : Infinity;
      current.push(Math.min(replace, swap, (above[column] as number) + 1, (current[column - 1] as number) + 1));
    }
    twoAbove = above;
    above = current;
  }
  return above[to.length] as number;
}
