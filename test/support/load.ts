// Sends many requests, as fast as the responses arrive or at a given rate.

import { Agent, request as httpRequest } from "node:http";
import { realDelay, stopwatch } from "../../src/kernel/clock.ts";

const get = (agent: Agent, url: string) =>
  new Promise<void>((resolve, reject) => {
    const sent = httpRequest(url, { agent, headers: { authorization: "Bearer sk_test_lodge" } }, (response) => {
      response.resume().once("end", resolve);
    });
    sent.once("error", reject);
    sent.end();
  });

/** Sends requests over eight connections as fast as the responses arrive. `pathOf` returns a request's path. */
export async function load(url: string, count: number, pathOf: (number: number) => string): Promise<void> {
  const agent = new Agent({ keepAlive: true, maxSockets: 8 });
  let next = 0;
  const worker = async () => {
    while (next < count) await get(agent, url + pathOf(next++));
  };
  await Promise.all(Array.from({ length: 8 }, worker));
  agent.destroy();
}

/**
 * Sends this many requests a second. Every few milliseconds, a loop sends all requests that are due, and does not wait
 * for responses.
 */
export async function pacedLoad(
  url: string,
  perSecond: number,
  count: number,
  pathOf: (number: number) => string,
): Promise<void> {
  const agent = new Agent({ keepAlive: true, maxSockets: 64 });
  const elapsed = stopwatch();
  const answers: Promise<void>[] = [];
  while (answers.length < count) {
    const due = Math.min(count, Math.ceil((elapsed() * perSecond) / 1_000));
    while (answers.length < due) answers.push(get(agent, url + pathOf(answers.length)));
    // A real delay, because the test is about the rate of the requests.
    await realDelay(5);
  }
  await Promise.all(answers);
  agent.destroy();
}
