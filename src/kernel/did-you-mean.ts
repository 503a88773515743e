// Suggests the valid name that is closest to a mistyped one, for error messages.

/** Longer than any name of an API. Bounds the comparison, whose time grows with the product of both lengths. */
const MAX_LENGTH = 200;

/** The candidate with the fewest edits; undefined if every candidate needs more than two edits and more than a third of its length. */
export function closestMatch(wrong: string, candidates: Iterable<string>): string | undefined {
  if (wrong.length > MAX_LENGTH) return undefined;
  const sought = wrong.toLowerCase();
  let best: string | undefined;
  let fewest = Infinity;
  for (const candidate of candidates) {
    const allowed = Math.max(2, Math.ceil(candidate.length / 3));
    if (Math.abs(wrong.length - candidate.length) > allowed) continue;
    const edits = distance(sought, candidate.toLowerCase());
    if (edits <= allowed && edits < fewest) [best, fewest] = [candidate, edits];
  }
  return best;
}

/** ` Did you mean X?` with its leading space, or nothing. */
export function didYouMean(wrong: string, candidates: Iterable<string>): string {
  const guess = closestMatch(wrong, candidates);
  return guess === undefined ? "" : ` Did you mean ${guess}?`;
}

/** The Levenshtein distance, computed row by row. */
function distance(from: string, to: string): number {
  let above = Array.from({ length: to.length + 1 }, (_, column) => column);
  for (let row = 1; row <= from.length; row++) {
    const current = [row];
    for (let column = 1; column <= to.length; column++) {
      const swap = (above[column - 1] as number) + (from[row - 1] === to[column - 1] ? 0 : 1);
      current.push(Math.min(swap, (above[column] as number) + 1, (current[column - 1] as number) + 1));
    }
    above = current;
  }
  return above[to.length] as number;
}
