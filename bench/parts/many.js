// Whether the cost per object grows with the number of objects: webhook endpoints, sandboxes in a process, and
// processes on a machine. Each number of objects is compared with a tenth of that number.

import { measureEndpoints } from "../many/endpoints.js";
import { measureProcesses } from "../many/processes.js";
import { measureSuites } from "../many/suites.js";
import { FEW, figure, median, ratio } from "../measure.js";

/** There are few turns, because each turn starts new servers, which takes longer than the measurement. */
const TURNS = Math.min(FEW, 3);
const MEGABYTE = 1e6;
/** The sandbox's limit of endpoints for one merchant. */
const MOST_ENDPOINTS = 100;
/** A higher ratio means that the cost per object grows with the number of objects. */
const TARGET = "<= 1.5 of CPU time";

/** The measurements for each kind of object, by the names of their rows. */
const subjects = [
  {
    many: MOST_ENDPOINTS,
    measure: async (count) => ({
      [`a delivery, ${count} endpoints of one merchant`]: await measureEndpoints(count, { isOneMerchant: true }),
    }),
  },
  {
    many: 500,
    measure: async (count) => ({
      [`a delivery, ${count} merchants with an endpoint each`]: await measureEndpoints(count, { isOneMerchant: false }),
    }),
  },
  {
    many: 50,
    async measure(count) {
      const { created, called } = await measureSuites(count);
      return {
        [`createSandbox(), ${count} in one process`]: created,
        [`GET a record by id, ${count} sandboxes in one process`]: called,
      };
    },
  },
  {
    many: 40,
    measure: async (count) => ({ [`command to first 200, ${count} processes at once`]: await measureProcesses(count) }),
  },
];

const middle = (results, what, field) => median(results.get(what).map((measured) => measured[field]));
const latency = (results, what) =>
  `median ${figure(middle(results, what, "p50"), " ms")}, ` +
  `99th percentile ${figure(middle(results, what, "p99"), " ms")}`;
const memory = (results, what) => `${figure(middle(results, what, "each") / MEGABYTE, " MB")} each`;

/** The row for one of `many` objects. `details` returns the text beside the figure. */
function row(name, many, details) {
  const [what, against] = [name(many), name(many / 10)];
  return {
    what,
    against,
    target: TARGET,
    read(results) {
      const more = details === undefined ? "" : ` (${details(results, what)})`;
      return {
        figure: figure(ratio(results, what, against, "time")) + more,
        cpu: figure(ratio(results, what, against, "cpu")),
      };
    },
  };
}

export const many = {
  name: "many",
  rows: [
    row(
      (count) => `a delivery, ${count} endpoints of one merchant`,
      MOST_ENDPOINTS,
      (results, what) => `the call for all of them: ${latency(results, what)}`,
    ),
    row((count) => `a delivery, ${count} merchants with an endpoint each`, 500, latency),
    row((count) => `createSandbox(), ${count} in one process`, 50, memory),
    row((count) => `GET a record by id, ${count} sandboxes in one process`, 50),
    row((count) => `command to first 200, ${count} processes at once`, 40, memory),
  ],
  async measure() {
    const results = new Map();
    for (let turn = 0; turn < TURNS; turn++) {
      for (const { many: most, measure } of subjects) {
        const counts = turn % 2 === 0 ? [most / 10, most] : [most, most / 10];
        for (const count of counts)
          for (const [name, cost] of Object.entries(await measure(count)))
            results.set(name, [...(results.get(name) ?? []), cost]);
      }
    }
    return results;
  },
};
