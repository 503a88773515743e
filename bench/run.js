// Prints what the sandbox costs. Most figures are ratios to a baseline in the same run, because absolute times mean
// little on a shared machine. `npm run bench requests stages` measures only these two parts. `npm run bench --
// --write` writes the figures to bench/README.md and docs/performance.md.

import { SECONDS, SLICES } from "./measure.js";
import { provenance, rowsOf, table, writeFigures } from "./page.js";
import { parts } from "./parts.js";

const words = process.argv.slice(2);
const names = words.filter((word) => word !== "--write");
const unknown = names.filter((name) => !parts.some((part) => part.name === name));
if (unknown.length > 0) {
  console.error(`There is no part ${unknown.join(", ")}. There are: ${parts.map(({ name }) => name).join(", ")}.`);
  process.exit(2);
}

const text = provenance(SLICES, SECONDS);
console.log(`${text}, taken in turn.`);
const measured = new Map();
for (const part of parts.filter(({ name }) => names.length === 0 || names.includes(name))) {
  const started = performance.now();
  try {
    measured.set(part.name, await part.measure());
    console.log(`\n${table(rowsOf(part, measured.get(part.name)))}`);
    if (words.includes("--write")) writeFigures(parts, measured, text);
  } catch (error) {
    // If one part fails, the other parts are still measured.
    console.error(error.message.startsWith(`The part ${part.name} needs`) ? error.message : error);
    process.exitCode = 1;
  }
  console.log(`${part.name}: ${Math.round((performance.now() - started) / 1_000)} s`);
}
// A part that failed may have left its servers open.
process.exit();
