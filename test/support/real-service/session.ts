// A client's session with the stand-in for the real service. The calls are always the same. They are recorded as a HAR
// and as the log of a webhook receiver.

import { PASSWORD, type RealService, type ServiceResponse } from "./service.ts";

interface Step {
  method: string;
  path: string;
  body?: object;
  key?: string;
  /** The Authorization header (default: the merchant's key). null sends none. */
  authorization?: string | null;
  /** Milliseconds that the service takes (default: 20). */
  duration?: number;
}

export interface Recording {
  har: object;
  /** The lines of the receiver's log. */
  webhooks: string[];
}

const RULE = { name: "Weekend", adjustmentType: "fixed", adjustmentValue: 500 };
const RECEIVER = "https://hooks.shop.example/in";

/** Makes the calls of a typical integration, including calls that the service rejects. */
export function recordSession(service: RealService): Recording {
  const entries: object[] = [];
  const { header } = service.behaviour.idempotency;
  const send = ({
    method,
    path,
    body,
    key,
    authorization = `Bearer ${service.key}`,
    duration = 20,
  }: Step): ServiceResponse => {
    service.pass(1);
    const headers = {
      ...(authorization === null ? {} : { authorization }),
      ...(body === undefined ? {} : { "content-type": "application/json" }),
      ...(key === undefined ? {} : { [header.toLowerCase()]: key }),
    };
    const response = service.exchange({ method, path, headers, body }, duration);
    entries.push(entryOf(service.now(), { method, path, headers, body, duration }, response));
    return response;
  };
  const get = (path: string) => send({ method: "GET", path });
  const post = (path: string, body: object, more: Partial<Step> = {}) => send({ method: "POST", path, body, ...more });
  const rules = "/hospitality/pricing-rules";
  const rule: Record<string, unknown> = service.behaviour.pricingRule.required.includes("priority")
    ? { ...RULE, priority: 1 }
    : RULE;

  post("/webhooks", { url: RECEIVER, events: ["booking.declined", "pricing_rule.created"] });
  for (let repeat = 0; repeat < 3; repeat++) get("/customers/cus_real");
  get("/customers/cus_unknown");
  for (const list of ["/payments", "/payouts"])
    for (const limit of [
      "",
      "?limit=1",
      "?limit=3",
      "?limit=50",
      "?limit=51",
      "?limit=100",
      "?limit=0",
      "?limit=101",
      "?limit=500",
    ])
      get(list + limit);
  const { lists } = service.behaviour;
  const page = get("/payments?limit=2").body as Record<string, { id: string }[]>;
  const last = page[lists.data]?.[1]?.id;
  if (last) get(`/payments?limit=2&${lists.cursor}=${last}`);
  send({ method: "GET", path: "/payments", authorization: null });
  send({ method: "GET", path: "/payments", authorization: "Bearer sk_live_notTheRightOne" });
  for (let count = 0; count < 3; count++) post(rules, { ...rule, adjustmentValue: count }, { key: `rule-${count}` });
  post(rules, { ...rule, adjustmentValue: 0 }, { key: "rule-0" });
  post(rules, { ...rule, adjustmentValue: 77 }, { key: "rule-1" });
  post(rules, { ...rule, colour: "blue" });
  post(rules, { ...rule, priority: 3 });
  for (const field of Object.keys(rule)) post(rules, { ...rule, [field]: undefined });
  post(rules, { ...rule, adjustmentType: "sometimes" });
  for (const id of ["one", "two", "one"]) post(`/hospitality/bookings/bkg_${id}/decline`, {});
  post("/hospitality/bookings/bkg_unknown/decline", {});
  post("/webhooks", { url: "ftp://shop.example/in", events: ["booking.declined"] });
  send({ method: "DELETE", path: "/payments" });
  for (let repeat = 0; repeat < 2; repeat++) get("/exports");
  // The second request is sent while the first one is in progress.
  for (const duration of [5_000, 20]) post(rules, { ...rule, adjustmentValue: 8 }, { key: "slow", duration });
  service.pass(5);
  const login = { email: "casa@mail.example", password: PASSWORD };
  post("/merchants/login", { ...login, password: "wrong" });
  const { accessToken } = post("/merchants/login", login).body as { accessToken?: string };
  send({ method: "GET", path: "/payments?limit=1", authorization: `Bearer ${accessToken}` });
  service.pass(700);
  send({ method: "GET", path: "/payments?limit=1", authorization: `Bearer ${accessToken}` });
  // Two fresh rate-limit windows, and then an exhausted one.
  for (let window = 0; window < 2; window++) {
    service.pass(service.behaviour.rate.seconds);
    get("/payments?limit=1");
  }
  service.exhaustLimit();
  for (let refused = 0; refused < 2; refused++) get("/payments?limit=1");
  // Repeats the first key, from half an hour later to more than a day later, when it has expired.
  service.pass(1_800);
  post(rules, { ...rule, adjustmentValue: 0 }, { key: "rule-0" });
  service.pass(3_000);
  post(rules, { ...rule, adjustmentValue: 0 }, { key: "rule-0" });
  service.pass(22 * 3_600);
  post(rules, { ...rule, adjustmentValue: 0 }, { key: "rule-0" });
  service.pass(2 * 3_600);
  post(rules, { ...rule, adjustmentValue: 0 }, { key: "rule-0" });
  return {
    har: { log: { version: "1.2", creator: { name: "a recorder", version: "1" }, entries } },
    // The receiver refuses every attempt, so that the recording shows the whole schedule.
    webhooks: service.delivered
      .toSorted((one, other) => one.at - other.at)
      .map(({ at, url, headers, body }) =>
        JSON.stringify({ at: new Date(at).toISOString(), url, headers, body, status: 500 }),
      ),
  };
}

const pairs = (headers: Readonly<Record<string, string>>) =>
  Object.entries(headers).map(([name, value]) => ({ name, value }));

function entryOf(
  now: number,
  request: {
    method: string;
    path: string;
    headers: Record<string, string>;
    body?: object | undefined;
    duration: number;
  },
  { status, headers, body }: ServiceResponse,
): object {
  const { method, path } = request;
  const text = typeof body === "string" ? body : JSON.stringify(body);
  const url = new URL(`https://api.service.example/v1${path}`);
  return {
    startedDateTime: new Date(now).toISOString(),
    time: request.duration,
    request: {
      method,
      url: url.href,
      ...{ httpVersion: "HTTP/1.1", cookies: [], headers: pairs(request.headers), headersSize: -1, bodySize: -1 },
      queryString: [...url.searchParams].map(([name, value]) => ({ name, value })),
      ...(request.body === undefined
        ? {}
        : { postData: { mimeType: "application/json", text: JSON.stringify(request.body) } }),
    },
    response: {
      ...{ status, statusText: "", httpVersion: "HTTP/1.1", cookies: [], headers: pairs(headers), redirectURL: "" },
      ...{ headersSize: -1, bodySize: text.length },
      content: { size: text.length, mimeType: headers["content-type"] ?? "application/json", text },
    },
    ...{ cache: {}, timings: { send: 0, wait: request.duration, receive: 0 } },
  };
}
