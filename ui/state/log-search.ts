// The search of the log for the matches of a list's filter: under load, the stream leaves out most rows.

import { filteredRows, type List, visibleRows } from "./list.ts";
import { type Gap, mayHide, type Row } from "./rows.ts";

const hidesMatches = (gap: Gap | undefined, filter: string): boolean =>
  gap !== undefined && gap.isDropped !== true && mayHide(gap, filter);

/** Whether rows that the list lacks may match its filter. */
export const isUnsearched = ({ rows, filter }: List): boolean => rows.some(({ gap }) => hidesMatches(gap, filter));

/**
 * The newest gap that may hide matches of the filter from a screen of `height` rows; undefined if none does. With
 * `isWhole`, gaps outside of the screen are included, because the log does not take the filter.
 */
export function unsearchedGap(list: List, height: number, isWhole: boolean): Row | undefined {
  const { rows, filter } = list;
  const { above, below } = isWhole ? WHOLE : needed(list, height);
  return rows.findLast((row, index) => {
    if (!hidesMatches(row.gap, filter) || row.gap?.error !== undefined) return false;
    const newer = rows.slice(index + 1).find(({ gap }) => !gap)?.order ?? Number.POSITIVE_INFINITY;
    const older = rows[index - 1]?.order ?? Number.NEGATIVE_INFINITY;
    return newer > above && older < below;
  });
}

const WHOLE = { above: Number.NEGATIVE_INFINITY, below: Number.POSITIVE_INFINITY };

/**
 * The positions in the log between which the screen needs every match: the first and the last row on the screen, or no
 * limit where the list begins or ends.
 */
function needed(list: List, height: number): { above: number; below: number } {
  const matches = filteredRows(list).filter(({ gap }) => !gap);
  const shown = visibleRows(list, height).rows.filter(({ gap }) => !gap);
  const [first, last] = [shown[0], shown.at(-1)];
  if (shown.length < height) return WHOLE;
  return {
    above: first?.id === matches[0]?.id ? WHOLE.above : (first?.order ?? WHOLE.above),
    below: last?.id === matches.at(-1)?.id ? WHOLE.below : (last?.order ?? WHOLE.below),
  };
}
