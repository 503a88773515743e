// The cost of a request: baselines, then reads, writes, lists and replays, in memory and with a file.

import { inRounds, inTurn, openEach, rateAndCpu, slice } from "../measure.js";
import { GET, LIST, POST, POST_WITH_KEY, REPLAY } from "../sample-record.js";

const BARE_GET = "bare node:http, GET";
const BARE_POST = "bare node:http, POST";
const EXPRESS_GET = "bare Express, GET";
const FILE_GET = "GET a record by id, file";
const FILE_REPLAY = "idempotent replay, file";

const cases = [
  { name: BARE_GET, server: "bare", request: GET },
  { name: BARE_POST, server: "bare", request: POST },
  {
    name: "bare node:http that reads, parses and hashes a body, POST",
    server: "hashing",
    request: POST,
    base: BARE_GET,
  },
  { name: EXPRESS_GET, server: "express", request: GET, base: BARE_GET },
  { name: "bare Express, POST", server: "express", request: POST, base: BARE_POST },
  { name: FILE_GET, server: "file", request: GET, base: BARE_GET, target: ">= 0.45" },
  { name: "GET a record by id, memory", server: "memory", request: GET, base: BARE_GET },
  { name: "GET a list of 25, file", server: "file", request: LIST, base: BARE_GET, target: ">= 0.22" },
  { name: "GET a list of 25, memory", server: "memory", request: LIST, base: BARE_GET },
  { name: "POST a pricing rule, file", server: "file", request: POST, base: BARE_POST, target: ">= 0.19" },
  { name: "POST a pricing rule, memory", server: "memory", request: POST, base: BARE_POST },
  { name: "POST a payroll with its key, file", server: "file", request: POST_WITH_KEY, base: BARE_POST },
  { name: "POST a payroll with its key, memory", server: "memory", request: POST_WITH_KEY, base: BARE_POST },
  { name: FILE_REPLAY, server: "file", request: REPLAY, base: BARE_POST },
  { name: "idempotent replay, memory", server: "memory", request: REPLAY, base: BARE_POST },
];

export const requests = {
  name: "requests",
  rows: [
    ...cases
      .filter(({ base }) => base)
      .map(({ name, base, target }) => rateAndCpu({ what: name, against: base, target })),
    rateAndCpu({ what: FILE_REPLAY, against: FILE_GET, target: ">= 0.70" }),
    rateAndCpu({ what: FILE_GET, against: EXPRESS_GET, target: ">= 0.9" }),
  ],
  measure() {
    const names = [...new Set(cases.map(({ server }) => server))];
    return inRounds(
      () => openEach(names),
      (servers, turns) => inTurn(cases, ({ server, request }) => slice(servers.get(server), request), turns),
    );
  },
};
