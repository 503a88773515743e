// The inspector of a learner shows the learner's own merchant, and nothing of others, whatever is asked.

import { expect, test } from "vitest";
import { attempted } from "../support/attacks.ts";
import { type Bench, open } from "../support/sandbox.ts";
import { receive } from "../support/webhooks.ts";

/** Two learners in a room that other machines can reach, each with a request, an event, a delivery and a verdict. */
async function openRoom() {
  const bench = await open({ host: "0.0.0.0", allowedHost: ["127.0.0.1"], allowLoopbackWebhooks: true });
  const headers = { authorization: `Bearer ${bench.controlToken}` };
  const { body } = await bench.call("POST", "/_sandbox/room", { key: null, headers });
  const room = `/_sandbox/room/${body.room}`;
  const { url } = await receive();
  const join = async (name: string) => {
    const { apiKey, learner } = (await bench.call("POST", `${room}/join`, { key: null, body: { name } })).body;
    await bench.call("POST", "/v1/webhooks", { key: apiKey, body: { url: `${url}/${name}`, events: ["*"] } });
    await bench.call("GET", `/v1/customers/cus_of_${name}`, { key: apiKey });
    await bench.call("POST", "/v1/hospitality/bookings/bkg_pending/decline", { key: apiKey, body: { reason: `said by ${name}` } });
    return { name, key: apiKey as string, id: learner.id as string, base: `${room}/learners/${apiKey}` };
  };
  const [ada, eve] = [await join("ada"), await join("eve")];
  await bench.call("GET", "/v1/payments");
  await bench.call("POST", "/_sandbox/clock/advance", { key: null, headers, body: { by: "0s" } });
  return { bench, room, ada, eve };
}

const get = (bench: Bench, path: string) => bench.call("GET", path, { key: null });

test("shows a learner their own requests, deliveries, verdicts and merchant", async () => {
  const { bench, ada } = await openRoom();
  const requests = (await get(bench, `${ada.base}/requests?limit=100`)).body.data as { id: string; path: string; merchant: string }[];
  expect(requests.map(({ merchant }) => merchant)).toEqual(requests.map(() => ada.id));
  expect(requests.some(({ path }) => path.includes("cus_of_ada"))).toBe(true);
  const [newest] = requests;
  const detail = (await get(bench, `${ada.base}/requests/${newest?.id}`)).body;
  expect(detail.events).toEqual([expect.objectContaining({ type: "booking.declined" })]);
  const attempts = (await get(bench, `${ada.base}/deliveries?requestId=${newest?.id}`)).body.data;
  expect(attempts).toEqual([expect.objectContaining({ merchantId: ada.id, eventType: "booking.declined" })]);
  const attempt = (await get(bench, `${ada.base}/deliveries/${attempts[0].id}`)).body;
  expect(attempt).toMatchObject({ request: newest?.id, attempt: { url: expect.stringContaining("/ada") } });
  expect((await get(bench, `${ada.base}/verdicts`)).status).toBe(200);
  expect((await get(bench, `${ada.base}/sandbox`)).body).toMatchObject({
    merchant: { id: ada.id, apiKeys: [ada.key] },
    version: expect.any(String),
  });
});

test("shows nothing of another learner: neither by an id, nor by a filter, a cursor or a parameter", async () => {
  const { bench, ada, eve } = await openRoom();
  const foreign = [eve.id, eve.key, "cus_of_eve", "said by eve", "/eve", "sk_test_lodge", bench.controlToken ?? "-"];
  const requests = (await get(bench, `${eve.base}/requests?limit=100`)).body.data as { id: string }[];
  const attempts = (await get(bench, `${eve.base}/deliveries?limit=100`)).body.data as {
    id: string;
    eventId: string;
    endpointId: string;
  }[];
  expect([requests.length > 1, attempts.length]).toEqual([true, 1]);
  const ids = [...requests, ...attempts].map(({ id }) => id);
  const tried = [
    ...ids.flatMap((id) => [`/requests/${id}`, `/deliveries/${id}`, `/requests/${id}?merchant=${eve.id}`]),
    ...ids.flatMap((id) => [`/requests?starting_after=${id}`, `/deliveries?starting_after=${id}`, `/deliveries?ending_before=${id}`]),
    ...requests.map(({ id }) => `/deliveries?requestId=${id}`),
    ...attempts.flatMap(({ eventId, endpointId }) => [`/deliveries?eventId=${eventId}`, `/deliveries?endpointId=${endpointId}`]),
    ...["requests", "deliveries", "verdicts", "sandbox"].flatMap((list) => [
      `/${list}`,
      `/${list}?merchant=${eve.id}`,
      `/${list}?merchant=${ada.id}&merchant=${eve.id}`,
      `/${list}?learner=${eve.id}&key=${eve.key}`,
      `/${list}?filter=merchant%3A${eve.id}`,
      `/${list}?filter=${encodeURIComponent(`!merchant:${ada.id}`)}`,
      `/${list}/../../${eve.key}/${list}/../..`,
    ]),
    `/requests?key=${eve.key.slice(-4)}`,
    "/requests?path=cus_of_eve",
  ];
  for (const path of tried) {
    attempted("Access through a workshop room");
    const { text } = await get(bench, `${ada.base}${path.replaceAll("/../", "/%2e%2e/")}`);
    // An id or a parameter that was sent may be repeated in the error.
    const leaked = foreign.filter((part) => text.replaceAll(path, "").includes(part) && !decodeURIComponent(path).includes(part));
    expect([path, leaked]).toEqual([path, []]);
  }
});

test("another learner's request is answered like one that does not exist", async () => {
  const { bench, ada, eve } = await openRoom();
  const [theirs] = (await get(bench, `${eve.base}/requests?limit=1`)).body.data as { id: string }[];
  const answer = await get(bench, `${ada.base}/requests/${theirs?.id}`);
  const none = await get(bench, `${ada.base}/requests/req_999999`);
  attempted("Access through a workshop room");
  expect(answer.status).toBe(404);
  expect(answer.body.message.replace(theirs?.id, "ID")).toBe(none.body.message.replace("req_999999", "ID"));
});

test("takes the code of the room, the key of a learner, and nothing else", async () => {
  const { bench, room, ada } = await openRoom();
  for (const base of [`${room}/learners/sk_test_lodge`, `${room}/learners/nobody`, `/_sandbox/room/guessed/learners/${ada.key}`])
    for (const path of ["/sandbox", "/requests", "/requests/req_1", "/deliveries", "/deliveries/whd_1", "/verdicts"]) {
      attempted("Access through a workshop room");
      expect([base, path, (await get(bench, base + path)).status]).toEqual([base, path, 404]);
    }
  for (const [method, path] of [
    ["POST", "/clock/advance"],
    ["POST", "/faults"],
    ["GET", "/merchants"],
    ["DELETE", "/verdicts"],
    ["POST", "/requests"],
  ] as const) {
    attempted("Access through a workshop room");
    const { status } = await bench.call(method, `${ada.base}${path}`, { key: null, ...(method === "POST" && { body: {} }) });
    expect([path, status === 404 || status === 405]).toEqual([path, true]);
  }
});
