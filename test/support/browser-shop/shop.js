// A shop with its own store: an Express app with one API key. It forwards the baggage header of a request, unless the
// header x-pass-on is "no". It declines bookings and adds rules for the user of its page, and receives webhooks.

import { AsyncLocalStorage } from "node:async_hooks";
import { createHmac } from "node:crypto";
import express from "express";

const { MERCHANT_BASE_URL, MERCHANT_API_KEY, MERCHANT_WEBHOOK_SECRET, PORT } = process.env;
const incoming = new AsyncLocalStorage();
/** The rules of each session, and the events of each merchant. */
const store = { rules: new Map(), events: new Map() };
const add = (map, key, value) => map.set(key, [...(map.get(key) ?? []), value]);

async function pay(method, path, body) {
  const baggage = incoming.getStore();
  const headers = {
    authorization: `Bearer ${MERCHANT_API_KEY}`,
    ...(body && { "content-type": "application/json" }),
    ...(baggage && { baggage }),
  };
  const response = await fetch(MERCHANT_BASE_URL + path, { method, headers, body: body && JSON.stringify(body) });
  const reply = await response.json();
  if (!response.ok) throw new Error(`${response.status} ${reply.code}`);
  return reply;
}

const app = express();
app.use(({ headers }, _, next) => incoming.run(headers["x-pass-on"] === "no" ? undefined : headers.baggage, next));
app.use((request, response, next) => {
  request.session = /session=(\w+)/.exec(request.headers.cookie ?? "")?.[1] ?? crypto.randomUUID().replaceAll("-", "");
  response.cookie("session", request.session);
  next();
});

app.get("/", (request, response) => {
  const rules = (store.rules.get(request.session) ?? []).map(({ name, id }) => `<li>${name} ${id}</li>`).join("");
  response.send(`<h1>Shop</h1><ul>${rules}</ul>
    <form method="post" action="/rules"><input name="name"><button>Add rule</button></form>
    <form method="post" action="/decline"><button>Decline booking</button></form>`);
});

app.post("/rules", express.urlencoded(), async (request, response) => {
  const body = { name: request.body.name, adjustmentType: "percentage", adjustmentValue: 1_500 };
  add(store.rules, request.session, await pay("POST", "/hospitality/pricing-rules", body));
  response.redirect("/");
});

app.post("/decline", async (_, response) => {
  await pay("POST", "/hospitality/bookings/bkg_pending/decline");
  response.send("<p>Declined</p>");
});

app.post("/hooks", express.text({ type: "*/*" }), async (request, response) => {
  const expected = createHmac("sha256", MERCHANT_WEBHOOK_SECRET).update(request.body).digest("hex");
  if (request.headers["x-webhook-signature"] !== expected) return response.sendStatus(401);
  const { id } = await pay("GET", "/merchants/me");
  add(store.events, id, JSON.parse(request.body));
  response.sendStatus(204);
});

app.get("/events/:merchant", (request, response) => response.json(store.events.get(request.params.merchant) ?? []));
app.use((error, _request, response, _next) => response.status(500).send(`<p>${error.message}</p>`));
app.listen(Number(PORT), "127.0.0.1");
