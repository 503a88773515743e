// A room of learners: the cost of joining it, and of a step that all learners complete at once.

import { Pool } from "undici";
import { call } from "../control-call.js";
import { cpuOf, memoryOf, open } from "../measure.js";
import { percentiles, timed } from "./timed.js";

/** How many join and leave before the measurement, so that V8 has compiled the hot code in a small room too. */
const WARM_UP = 40;

/** The costs of one learner among `count`: of joining, and of a step. */
export async function measureRoom(count) {
  const server = await open("memory", { execArgv: ["--expose-gc"] });
  const { url } = await call(server.port, "POST", "/_sandbox/room");
  const room = connectTo(server.port, new URL(url).pathname, 2 * count + WARM_UP);
  for (const learner of await room.join("Early", WARM_UP)) {
    await room.step(learner);
    await call(server.port, "DELETE", `/_sandbox/learners/${learner.id}`);
    await call(server.port, "DELETE", `/_sandbox/merchants/${learner.id}`);
  }
  const before = await memoryOf(server);
  let learners = [];
  const joining = await timed(
    () => cpuOf(server),
    count,
    async () => {
      learners = await room.join("Learner", count);
    },
  );
  const each = ((await memoryOf(server)).rss - before.rss) / count;
  let waits = [];
  const step = await timed(
    () => cpuOf(server),
    count,
    async () => {
      waits = await Promise.all(learners.map(room.step));
    },
  );
  await room.close();
  await server.close();
  return { joining: { ...joining, each }, step: { ...step, ...percentiles(waits) } };
}

function connectTo(port, path, connections) {
  const pool = new Pool(`http://127.0.0.1:${port}`, { connections, pipelining: 1 });
  const ask = async (method, target, { key, body } = {}) => {
    const headers = {
      "Content-Type": "application/json",
      ...(key === undefined ? {} : { Authorization: `Bearer ${key}` }),
    };
    const answer = await pool.request({
      method,
      path: target,
      headers,
      ...(body ? { body: JSON.stringify(body) } : {}),
    });
    const text = await answer.body.text();
    if (answer.statusCode >= 300) throw new Error(`${method} ${target}: ${answer.statusCode} ${text}`);
    return JSON.parse(text);
  };
  const join = async (name) => {
    const { learner, apiKey } = await ask("POST", `${path}/join`, { body: { name } });
    return { id: learner.id, key: apiKey, version: learner.version };
  };
  return {
    join: (name, count) => Promise.all(Array.from({ length: count }, (_, number) => join(`${name} ${number}`))),
    /** Makes the call of the first step, and returns after how many milliseconds the learner sees the second one. */
    async step({ id, key, version }) {
      const started = performance.now();
      const seen = ask("GET", `/_sandbox/learners/${id}?after=${version}`, { key });
      await ask("GET", "/v1/merchants/me", { key });
      const learner = await seen;
      if (learner.step !== 2) throw new Error(`${learner.name} is at step ${learner.step} after the call of the first`);
      return performance.now() - started;
    },
    close: () => pool.close(),
  };
}
