// The secrets of a workshop room: a participant cannot derive the keys of others from their own key or the sandbox's seed.

import { expect, test } from "vitest";
import { createRandom } from "../../src/kernel/random.ts";
import { attempted, type Bench, open } from "../support/sandbox.ts";

const SEED = 7;

async function joinRoom(bench: Bench, name: string) {
  const { room } = await bench.control("POST", "/room");
  const { body } = await bench.call("POST", `/_sandbox/room/${room}/join`, { key: null, body: { name } });
  return { room: room as string, id: body.learner.id as string, key: body.apiKey as string };
}

test("no seed predicts the key of a learner, though it predicts every merchant that a test creates", async () => {
  const [first, second] = [await open({ seed: SEED }), await open({ seed: SEED })];
  const [ada, eve] = [await joinRoom(first, "Ada"), await joinRoom(second, "Ada")];
  attempted("Guessed keys and codes of a workshop room", 3);
  expect(ada.id).toBe(eve.id);
  expect([ada.key, eve.key]).not.toContain(`sk_test_${createRandom(SEED).text(24, "key", ada.id)}`);
  expect(ada.key).not.toBe(eve.key);
  // 21 base62 characters are 125 bits, and 16 hexadecimal digits 64.
  expect([ada.key, ada.room]).toEqual([expect.stringMatching(/^sk_test_\w{21,}$/), expect.stringMatching(/^[0-9a-f]{16,}$/)]);
  expect(ada.room).not.toBe(eve.room);
  expect(await first.control("POST", "/merchants", {})).toEqual(await second.control("POST", "/merchants", {}));
});

test("no seed predicts webhook secrets, or the keys of merchants that a learner creates", async () => {
  const made = await Promise.all(
    [0, 1].map(async () => {
      const bench = await open({ seed: SEED });
      const { key } = await joinRoom(bench, "Ada");
      const endpoint = await bench.call("POST", "/v1/webhooks", {
        key,
        body: { url: "http://localhost:4848/", events: ["payment.succeeded"] },
      });
      const merchant = await bench.call("POST", "/v1/merchants", { key, body: { name: "Shop", email: "shop@shop.example" } });
      return [endpoint.body.secret as string, merchant.body.apiKey as string];
    }),
  );
  expect(made[0]).toEqual([expect.stringMatching(/^whsec_/), expect.stringMatching(/^sk_test_/)]);
  attempted("Guessed keys and codes of a workshop room", 2);
  for (const [index, secret] of (made[0] ?? []).entries()) expect(secret).not.toBe(made[1]?.[index]);
});

test("a learner's merchant has no password: that of its fixture is public", async () => {
  const bench = await open();
  const { key, id } = await joinRoom(bench, "Ada");
  const { email } = (await bench.call("GET", "/v1/merchants/me", { key })).body;
  expect([email, id]).toEqual([expect.stringContaining("+"), expect.stringMatching(/^mer_/)]);
  attempted("Guessed keys and codes of a workshop room");
  const login = await bench.call("POST", "/v1/merchants/login", { body: { email, password: "lodge-password" } });
  expect([login.status, login.body.code]).toEqual([401, "invalid_credentials"]);
});
