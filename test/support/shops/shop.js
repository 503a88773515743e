// A shop's client and webhook receiver, with the bug that BUG names.

import { createHmac, randomUUID } from "node:crypto";
import { once } from "node:events";
import { createServer } from "node:http";
import { setTimeout as wait } from "node:timers/promises";

const { BUG } = process.env;
const MOST_TRIES = BUG === "no end" ? 30 : 4;

export function createClient({ baseUrl, apiKey }) {
  async function call(method, path, body) {
    const once = randomUUID();
    for (let tries = 1; ; tries++) {
      const key = BUG === "new key" ? randomUUID() : once;
      const sent = body && { ...body, ...(BUG === "new body" && { name: `${body.name}, try ${tries}` }) };
      const headers = { Authorization: `Bearer ${apiKey}`, "Content-Type": "application/json" };
      if (sent && BUG !== "no key") headers["Idempotency-Key"] = key;
      const answer = await fetch(baseUrl + path, { method, headers, ...(sent && { body: JSON.stringify(sent) }) });
      const reply = await answer.json();
      if (answer.ok) return reply;
      if (tries === MOST_TRIES || (answer.status < 500 && answer.status !== 429)) throw new Error(reply.message);
      const asked = Number(answer.headers.get("retry-after")) * 1_000;
      const pause = BUG === "no end" ? 0 : 100 * 2 ** tries * (0.9 + Math.random() / 5);
      await wait(BUG === "no wait" ? 0 : asked || pause);
    }
  }
  return { get: (path) => call("GET", path), post: (path, body) => call("POST", path, body) };
}

/** Receives webhooks. Accepts those signed with the secret given to `trust`. */
export async function openReceiver() {
  let secret = "";
  const server = createServer(async (request, response) => {
    const chunks = await request.toArray();
    const expected = createHmac("sha256", secret).update(Buffer.concat(chunks)).digest("hex");
    const isGenuine = request.headers["x-webhook-signature"] === expected;
    response.writeHead(isGenuine || BUG === "no check" ? 204 : 401).end();
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  const trust = (named) => {
    secret = named;
  };
  return { url: `http://127.0.0.1:${server.address().port}/`, trust, close: () => server.close() };
}
