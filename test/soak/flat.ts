// Distinguishes growth from fluctuation by the median slope of many samples, which a few outliers do not change.

/** The growth from the first to the last sample, according to the median slope between all pairs. */
export function growth(values: readonly number[]): number {
  const slopes: number[] = [];
  for (let from = 0; from < values.length; from++)
    for (let to = from + 1; to < values.length; to++)
      slopes.push(((values[to] ?? 0) - (values[from] ?? 0)) / (to - from));
  return median(slopes) * (values.length - 1);
}

export function median(values: readonly number[]): number {
  const sorted = [...values].sort((one, other) => one - other);
  const half = Math.floor(sorted.length / 2);
  return sorted.length % 2 === 1 ? (sorted[half] ?? 0) : ((sorted[half - 1] ?? 0) + (sorted[half] ?? 0)) / 2;
}
