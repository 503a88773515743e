// Many sandboxes in one process, as parallel test suites create them: the cost of creating a sandbox, and the cost of a
// call while all sandboxes get calls.

import { load } from "../load.js";
import { cpuOf, open } from "../measure.js";
import { GET } from "../sample-record.js";
import { timed } from "./timed.js";

/** The number of calls in one measurement, over all sandboxes. */
const CALLS = 10_000;

export async function measureSuites(count) {
  const server = await open("many", { words: [String(count)], execArgv: ["--expose-gc"] });
  const callAll = () =>
    Promise.all(
      server.ports.map(async (port) => {
        const { refused, refusal } = await load({ port, most: CALLS / count, connections: 1, requests: GET });
        if (refused > 0) throw new Error(`${refused} requests were refused: ${refusal}`);
      }),
    );
  await callAll();
  const called = await timed(() => cpuOf(server), CALLS, callAll);
  await server.close();
  return { created: server.created, called };
}
