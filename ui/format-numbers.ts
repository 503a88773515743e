// Figures as a person reads them: thousands apart, spans in the unit that counts.

const grouped = new Intl.NumberFormat("en");

/** `13,259`. */
export const count = (value: number): string => grouped.format(value);

/** `1 attempt`, `3 attempts`. */
export const counted = (value: number, thing: string): string => `${count(value)} ${thing}${value === 1 ? "" : "s"}`;

/** A measured time: `1.2 ms`, `940 ms`, `12.5 s`. */
export function duration(milliseconds: number): string {
  if (milliseconds < 100) return `${milliseconds.toFixed(1)} ms`;
  if (milliseconds < 10_000) return `${count(Math.round(milliseconds))} ms`;
  return `${count(Math.round(milliseconds / 100) / 10)} s`;
}

/** A time that is counted down: `4 s`, `9:41`, `23 h`, `6 d`. */
export function countdown(seconds: number): string {
  const left = Math.max(0, Math.ceil(seconds));
  if (left < 60) return `${left} s`;
  if (left < 3_600) return `${Math.floor(left / 60)}:${String(left % 60).padStart(2, "0")}`;
  if (left < 48 * 3_600) return `${Math.round(left / 3_600)} h`;
  return `${count(Math.round(left / 86_400))} d`;
}
