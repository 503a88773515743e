// Prints what the sandbox costs. Every figure is a ratio to a baseline of the same run: absolute times mean nothing on a shared machine.
// `node bench/run.js requests` measures one part only.

import { dashboard } from "./dashboard.js";
import { deliveries } from "./deliveries.js";
import { idle } from "./idle.js";
import { SECONDS, SLICES } from "./measure.js";
import { requests } from "./requests.js";
import { start } from "./start.js";

const parts = { requests, idle, deliveries, start, dashboard };
const wanted = process.argv.slice(2);

console.log(`Node ${process.versions.node}; medians of ${SLICES} slices of ${SECONDS} s, taken in turn.`);
for (const [name, measure] of Object.entries(parts)) if (wanted.length === 0 || wanted.includes(name)) console.log(`\n${await measure()}`);
