// Whether memory stays flat: heap and resident memory after each tenth of a million mixed requests, compared with the
// first tenth. Also resident memory at rest, compared with bare node:http.

import { load } from "../load.js";
import { figure, median, memoryOf, open, REQUESTS } from "../measure.js";
import { GET, LIST, POST, POST_WITH_KEY, REPLAY } from "../sample-record.js";

const TENTHS = 10;
/** The samples per tenth. A single sample of resident memory would depend on the garbage collector. */
const LOOKS = 5;
/** Nine of every ten calls. The tenth is a POST with a new key. Most calls are reads, as is typical. */
const MIX = [GET, GET, LIST, GET, REPLAY, GET, POST, GET, LIST];

const mixed = (n) => MIX[n % 10] ?? POST_WITH_KEY();

const FIRST = "after the first tenth of the requests";

const row = (what, field, target) => ({
  what,
  against: FIRST,
  target,
  read: (seen) => ({ figure: figure(growth(seen.map((one) => one[field]))) }),
});

/** Growth from beginning to end, as the median slope between any two samples. */
export function growth(values) {
  const slopes = values.flatMap((one, from) => values.slice(from + 1).map((other, more) => (other - one) / (more + 1)));
  const rises = median(slopes) * (values.length - 1);
  const middle = median(values);
  return (middle + rises / 2) / (middle - rises / 2);
}

const most = (what, field) => ({
  what,
  against: FIRST,
  read: (seen) => ({ figure: figure(Math.max(...seen.map((one) => one[field])) / seen[0][field]) }),
});

export const memory = {
  name: "memory",
  rows: [
    {
      what: "resident memory at rest",
      against: "bare node:http, at rest",
      target: "<= 1.5",
      read: ([{ rest }]) => ({ figure: figure(rest) }),
    },
    {
      what: "resident memory, after all requests",
      against: "at rest",
      target: "<= 1.7",
      read: (seen) => ({ figure: figure(seen.at(-1).rss / seen[0].started) }),
    },
    row("heap in use, after all requests", "heap", "<= 1.1"),
    row("resident memory, after all requests", "rss", "<= 1.1"),
    most("heap in use, maximum", "heap"),
    most("resident memory, maximum", "rss"),
  ],
  async measure() {
    // src/cli/process/young-heap.ts sets the same size.
    const server = await open("file", { execArgv: ["--expose-gc", "--max-semi-space-size=8"] });
    const bare = await open("bare", { execArgv: ["--expose-gc"] });
    const { rss: started } = await memoryOf(server);
    const rest = started / (await memoryOf(bare)).rss;
    await bare.close();
    const seen = [];
    for (let tenth = 0; tenth < TENTHS; tenth++) {
      seen.push({ rest, started, ...(await afterTenth(server)) });
      const { heap, rss } = seen.at(-1);
      console.log(
        `  ${((tenth + 1) * REQUESTS) / TENTHS} requests: heap ${megabytes(heap)}, resident ${megabytes(rss)}`,
      );
    }
    await server.close();
    return seen;
  },
};

/** The median of the samples of a tenth; the last sample is taken at the end of the tenth. */
async function afterTenth(server) {
  const looks = [];
  for (let count = 0; count < LOOKS; count++) {
    const { refused, refusal } = await load({ port: server.port, most: REQUESTS / TENTHS / LOOKS, requests: mixed });
    if (refused > 0) throw new Error(`${refused} requests were refused: ${refusal}`);
    looks.push(await memoryOf(server));
  }
  return { heap: median(looks.map(({ heap }) => heap)), rss: median(looks.map(({ rss }) => rss)) };
}

const megabytes = (bytes) => `${(bytes / 1_048_576).toFixed(1)} MB`;
