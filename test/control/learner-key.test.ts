// A learner's key opens only that learner's merchant on the control API, and the keys of other learners cannot be
// derived from it.

import { describe, expect, test } from "vitest";
import { WebSocket } from "ws";
import { controlCatalogue } from "../../src/control/index.ts";
import { createRandom } from "../../src/kernel/random.ts";
import { attempted, type Bench, open } from "../support/sandbox.ts";
import { receive } from "../support/webhooks.ts";

/** Two learners in a room that other machines can reach, each with a request, an event, a delivery and a verdict. */
async function openRoom() {
  const bench = await open({ host: "0.0.0.0", allowedHost: ["127.0.0.1"], allowLoopbackWebhooks: true });
  const token = bench.controlToken as string;
  const { body } = await bench.call("POST", "/_sandbox/room", { key: token });
  const room = `/_sandbox/room/${body.room}`;
  const { url } = await receive();
  const join = async (name: string) => {
    const { apiKey, learner } = (await bench.call("POST", `${room}/join`, { key: null, body: { name } })).body;
    await bench.call("POST", "/v1/webhooks", { key: apiKey, body: { url: `${url}/hook-of-${name}`, events: ["*"] } });
    await bench.call("GET", `/v1/customers/cus_of_${name}`, { key: apiKey });
    await bench.call("POST", "/v1/hospitality/bookings/bkg_pending/decline", {
      key: apiKey,
      body: { reason: `said by ${name}` },
    });
    return { name, key: apiKey as string, id: learner.id as string };
  };
  const [ada, eve] = [await join("ada"), await join("eve")];
  await bench.call("GET", "/v1/payments");
  await bench.call("POST", "/_sandbox/clock/advance", { key: token, body: { by: "0s" } });
  return {
    bench,
    room,
    token,
    ada,
    eve,
    foreign: [eve.id, eve.key, "cus_of_eve", "said by eve", "hook-of-eve", "sk_test_lodge", token],
  };
}

type Room = Awaited<ReturnType<typeof openRoom>>;

const get = ({ bench }: Room, path: string, key: string) => bench.call("GET", `/_sandbox${path}`, { key });

const READABLE = [
  ...["sandbox.health", "clock.get", "lessons.get", "learners.list", "learners.get", "merchants.list"],
  ...["requests.list", "requests.get", "attempts.list", "attempts.get", "verdicts.list"],
];
const MOVES = ["learners.begin", "learners.skip", "learners.hint"];

test("opens the operations that are declared for learners, and no other", () => {
  const opened = controlCatalogue
    .filter(({ access }) => access !== undefined && "learner" in access)
    .map(({ id }) => id);
  expect(opened.toSorted()).toEqual([...READABLE, ...MOVES].toSorted());
  const byCode = controlCatalogue
    .filter(({ access }) => access !== undefined && "requireRoom" in access)
    .map(({ path }) => path);
  expect(byCode.filter((path) => !path.startsWith("/room/{room}"))).toEqual([]);
});

test("shows a learner their own requests, deliveries, verdicts, merchant and progress", async () => {
  const room = await openRoom();
  const { ada } = room;
  const read = async (path: string) => (await get(room, path, ada.key)).body;
  const requests = (await read("/requests?limit=100")).data as { id: string; path: string; merchant: string }[];
  expect(requests.map(({ merchant }) => merchant)).toEqual(requests.map(() => ada.id));
  expect(requests.some(({ path }) => path.includes("cus_of_ada"))).toBe(true);
  const [newest] = requests;
  expect((await read(`/requests/${newest?.id}`)).events).toEqual([
    expect.objectContaining({ type: "booking.declined" }),
  ]);
  const attempts = (await read(`/deliveries?requestId=${newest?.id}`)).data;
  expect(attempts).toEqual([expect.objectContaining({ merchantId: ada.id, eventType: "booking.declined" })]);
  const attempt = await read(`/deliveries/${attempts[0].id}`);
  expect(attempt).toMatchObject({ request: newest?.id, attempt: { url: expect.stringContaining("/hook-of-ada") } });
  expect(await read("/verdicts")).toMatchObject({ data: expect.any(Array) });
  expect((await read("/merchants")).data).toEqual([expect.objectContaining({ id: ada.id, apiKeys: [ada.key] })]);
  expect((await read("/learners")).data).toEqual([expect.objectContaining({ id: ada.id, name: "ada" })]);
  expect(await read("/lessons/first-call")).toMatchObject({
    steps: [{ command: expect.stringContaining(ada.key) }, {}, {}, {}, {}],
  });
});

describe("every control operation, called with a learner's key", () => {
  /** What the host sees of everything but Ada and the time. */
  async function othersState({ bench, token, ada, eve }: Room): Promise<unknown> {
    const lists = [
      "",
      "/faults",
      "/scenarios",
      "/traffic",
      "/snapshots",
      "/rate-limits",
      `/requests?merchant=${eve.id}`,
      "/learners",
      "/merchants",
    ];
    const answers = await Promise.all(
      lists.map(async (path) => (await bench.call("GET", `/_sandbox${path}`, { key: token })).body),
    );
    const changing = ["elapsed", "resetIn", "reset", "unix", "now", "made", "kept"];
    return JSON.parse(
      JSON.stringify(answers, (name, value) => {
        if (changing.includes(name)) return undefined;
        return Array.isArray(value) ? value.filter((one) => one?.id !== ada.id && one?.merchant !== ada.id) : value;
      }),
    );
  }

  /** The names of others that a caller may try in the path, and in the fields of the query and the body. */
  async function tries(room: Room) {
    const { bench, token, eve } = room;
    const [[request] = [], [attempt] = []] = await Promise.all(
      ["requests", "deliveries"].map(
        async (list) =>
          (await bench.call("GET", `/_sandbox/${list}?merchant=${eve.id}`, { key: token })).body.data as {
            id: string;
          }[],
      ),
    );
    return [eve.id, "mer_lodge", eve.key, request?.id, attempt?.id, "__proto__", "first-call"] as string[];
  }

  test("is refused, or its reply and its effects concern the learner's merchant only", async () => {
    const room = await openRoom();
    const { bench, ada, eve, foreign } = room;
    const names = await tries(room);
    const before = await othersState(room);
    const answered = new Set<string>();
    for (const operation of controlCatalogue.filter(({ access }) => access === undefined || "learner" in access)) {
      const { id, method, path, body, query, example, exampleParams } = operation;
      const fields = ["merchant", "learner", "id", "key"].filter((name) => Object.hasOwn(query.properties, name));
      const paths = [ada.id, ...Object.values(exampleParams), ...names].map((name) =>
        path.replaceAll(/\{\w+\}/g, name),
      );
      const searches = ["", ...fields.flatMap((field) => [eve.id, eve.key].map((name) => `?${field}=${name}`))];
      const bodies = body ? [example ?? {}, { ...example, merchant: eve.id }] : [undefined];
      for (const called of new Set(paths))
        for (const search of searches)
          for (const sent of bodies) {
            attempted("Access through a workshop room");
            const { status, text } = await bench.call(method, `/_sandbox${called}${search}`, {
              key: ada.key,
              ...(sent && { body: sent }),
            });
            if (operation.access === undefined) expect([id, called, status]).toEqual([id, called, 403]);
            if (status < 300) answered.add(id);
            // What was sent may be repeated in an error.
            const said = called + search + JSON.stringify(sent ?? "");
            expect([id, called, search, foreign.filter((part) => text.includes(part) && !said.includes(part))]).toEqual(
              [id, called, search, []],
            );
            if (status < 300)
              expect([id, called, search, foreign.filter((part) => text.includes(part))]).toEqual([
                id,
                called,
                search,
                [],
              ]);
          }
    }
    expect(await othersState(room)).toEqual(before);
    // No id of an attempt of Ada's own is among the tried names; req_1 is hers.
    expect([...answered, "attempts.get"].toSorted()).toEqual([...READABLE, ...MOVES].toSorted());
  });

  test("shows nothing of another learner by an id, a filter or a cursor", async () => {
    const room = await openRoom();
    const { ada, eve, foreign } = room;
    const requests = (await get(room, "/requests?limit=100", eve.key)).body.data as { id: string }[];
    const attempts = (await get(room, "/deliveries?limit=100", eve.key)).body.data as {
      id: string;
      eventId: string;
      endpointId: string;
    }[];
    expect([requests.length > 1, attempts.length]).toEqual([true, 1]);
    const ids = [...requests, ...attempts].map(({ id }) => id);
    const tried = [
      ...ids.flatMap((id) => [`/requests/${id}`, `/deliveries/${id}`, `/requests/${id}?merchant=${eve.id}`]),
      ...ids.flatMap((id) => [
        `/requests?starting_after=${id}`,
        `/deliveries?starting_after=${id}`,
        `/deliveries?ending_before=${id}`,
      ]),
      ...requests.map(({ id }) => `/deliveries?requestId=${id}`),
      ...attempts.flatMap(({ eventId, endpointId }) => [
        `/deliveries?eventId=${eventId}`,
        `/deliveries?endpointId=${endpointId}`,
      ]),
      ...["requests", "deliveries", "verdicts", "learners", "merchants"].flatMap((list) => [
        `/${list}?merchant=${ada.id}&merchant=${eve.id}`,
        `/${list}?learner=${eve.id}&key=${eve.key}`,
        `/${list}?filter=merchant%3A${eve.id}`,
        `/${list}?filter=${encodeURIComponent(`!merchant:${ada.id}`)}`,
        `/learners/${ada.id}/%2e%2e/${eve.id}`,
      ]),
      `/requests?key=${eve.key.slice(-4)}`,
      "/requests?path=cus_of_eve",
    ];
    for (const path of tried) {
      attempted("Access through a workshop room");
      const { text } = await get(room, path, ada.key);
      // An id or a parameter that was sent may be repeated in the error.
      const leaked = foreign.filter(
        (part) => text.replaceAll(path, "").includes(part) && !decodeURIComponent(path).includes(part),
      );
      expect([path, leaked]).toEqual([path, []]);
    }
  });

  test("answers another learner's request like one that does not exist", async () => {
    const room = await openRoom();
    const { bench, token, ada, eve } = room;
    const own = (await bench.call("GET", `/_sandbox/requests?merchant=${eve.id}&limit=1`, { key: token })).body.data[0]
      .id as string;
    const [theirs, none] = [
      await get(room, `/requests/${own}`, ada.key),
      await get(room, "/requests/req_999999", ada.key),
    ];
    attempted("Access through a workshop room");
    expect(theirs.status).toBe(404);
    expect(theirs.body.message.replace(own, "ID")).toBe(none.body.message.replace("req_999999", "ID"));
  });
});

describe("the scope", () => {
  test("is refused in a sentence that says what the key reaches", async () => {
    const room = await openRoom();
    const { bench, ada, eve } = room;
    attempted("Access through a workshop room", 2);
    const reset = await bench.call("POST", "/_sandbox/reset", { key: ada.key, body: {} });
    expect([reset.status, reset.body.message]).toEqual([
      403,
      expect.stringContaining("sandbox.reset is for the host: a learner's key opens"),
    ]);
    const other = await get(room, `/requests?merchant=${eve.id}`, ada.key);
    expect([other.status, other.body.message]).toEqual([
      403,
      `A learner's key reaches the learner's merchant, ${ada.id}; received "${eve.id}".`,
    ]);
  });

  test("does not include the live stream, which has the requests of all merchants", async () => {
    const { bench, ada, token } = await openRoom();
    const statusWith = (key: string) =>
      new Promise((resolve) => {
        const socket = new WebSocket(`${bench.url.replace("http", "ws")}/_sandbox/live`, {
          headers: { authorization: `Bearer ${key}` },
        });
        socket.on("unexpected-response", (_, { statusCode }) => resolve(statusCode));
        socket.on("open", () => resolve("open"));
        socket.on("open", () => socket.terminate());
        socket.on("error", () => {});
      });
    attempted("Access through a workshop room");
    expect([await statusWith(ada.key), await statusWith(token)]).toEqual([403, "open"]);
  });

  test("is that of a learner: not of another merchant, a session, or a merchant whose key is public", async () => {
    const { bench, ada, token } = await openRoom();
    const merchant = await bench.call("POST", "/v1/merchants", {
      key: ada.key,
      body: { name: "Shop", email: "shop@shop.example", password: "a-long-password" },
    });
    const session = await bench.call("POST", "/v1/merchants/login", {
      body: { email: "shop@shop.example", password: "a-long-password" },
    });
    await bench.call("POST", "/_sandbox/learners", { key: token, body: { merchant: "mer_lodge" } });
    for (const key of [
      merchant.body.apiKey,
      session.body.accessToken ?? session.body.token,
      "sk_test_lodge",
      "sk_test_nobody",
      "",
      `${ada.key}x`,
    ]) {
      attempted("Access through a workshop room");
      expect([key, (await bench.call("GET", "/_sandbox/requests", { key })).status]).toEqual([key, 403]);
    }
  });

  test("stays when the room closes, and ends when the host removes the learner", async () => {
    const room = await openRoom();
    const { bench, ada, token } = room;
    const statusOf = async () => (await get(room, `/learners/${ada.id}`, ada.key)).status;
    await bench.call("DELETE", "/_sandbox/room", { key: token });
    expect(await statusOf()).toBe(200);
    await bench.call("DELETE", `/_sandbox/learners/${ada.id}`, { key: token });
    attempted("Access through a workshop room");
    expect(await statusOf()).toBe(403);
  });

  test("limits the operations that learners share on loopback too, and none of the others, because no token is asked for there", async () => {
    const bench = await open();
    const { apiKey, learner } = await bench.control("POST", "/learners", { name: "Ada" });
    attempted("Access through a workshop room");
    expect((await bench.call("GET", "/_sandbox/merchants", { key: apiKey })).body.data).toMatchObject([
      { id: learner.id },
    ]);
    expect((await bench.call("GET", "/_sandbox/merchants", { key: null })).body.data.length).toBeGreaterThan(1);
    expect((await bench.call("POST", "/_sandbox/reset", { key: apiKey, body: {} })).status).toBe(200);
  });
});

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
  expect([ada.key, ada.room]).toEqual([
    expect.stringMatching(/^sk_test_\w{21,}$/),
    expect.stringMatching(/^[0-9a-f]{16,}$/),
  ]);
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
      const merchant = await bench.call("POST", "/v1/merchants", {
        key,
        body: { name: "Shop", email: "shop@shop.example" },
      });
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
