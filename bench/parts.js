// All parts of the bench, in the order in which they are measured and shown.

import { backlog } from "./parts/backlog.js";
import { dashboard } from "./parts/dashboard.js";
import { deliveries } from "./parts/deliveries.js";
import { idle } from "./parts/idle.js";
import { many } from "./parts/many.js";
import { memory } from "./parts/memory.js";
import { npx } from "./parts/npx.js";
import { page } from "./parts/page.js";
import { peers } from "./parts/peers.js";
import { records } from "./parts/records.js";
import { requestLog } from "./parts/request-log-growth.js";
import { requests } from "./parts/requests.js";
import { stages } from "./parts/stages.js";
import { start } from "./parts/start.js";
import { tails } from "./parts/tails.js";
import { wrk } from "./parts/wrk.js";

export const parts = [
  requests,
  wrk,
  tails,
  stages,
  idle,
  deliveries,
  start,
  npx,
  dashboard,
  page,
  memory,
  records,
  requestLog,
  backlog,
  many,
  peers,
];
