// Helpers of the benchmarks of many objects: the cost per object, and percentiles.

/** The time and CPU time of `work`, divided by `count`, in milliseconds. `cpu` returns the CPU time used so far. */
export async function timed(cpu, count, work) {
  const [used, started] = [await cpu(), performance.now()];
  await work();
  return { time: (performance.now() - started) / count, cpu: ((await cpu()) - used) / count };
}

export function percentiles(values) {
  const sorted = [...values].sort((one, other) => one - other);
  const at = (share) => sorted[Math.floor(sorted.length * share)];
  return { p50: at(0.5), p99: at(0.99) };
}
