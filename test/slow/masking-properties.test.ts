// Sends secrets in many places and spellings, in calls that store no record and in responses of a receiver. No output
// shows a secret, and the database file contains none.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { expect, test } from "vitest";
import { eventLine } from "../../src/cli/output/event-lines.ts";
import { inputs } from "../support/fuzzing.ts";
import { folder } from "../support/program.ts";
import { attempted, type Bench, open } from "../support/sandbox.ts";
import { ibans, jsonEscaped, keys, percentEncoded, secretNames } from "../support/secrets.ts";
import { openRegistered, trigger } from "../support/webhooks.ts";

const RUNS = inputs(10);
/** How many bytes of a body the request log keeps, and how many the log of deliveries keeps. */
const [REQUEST_CUT, DELIVERY_CUT] = [16_384, 4_096];

const plain = (text: string) => text;
const word = fc.stringMatching(/^[A-Za-z0-9]{14}$/);
const number = fc.noBias(fc.integer({ min: 123_456_789, max: 987_654_321 }));

interface Secret {
  /** A JSON field whose name or value contains the secret. */
  json: string;
  /** The secret in a name-value pair of a query or form. */
  pair: string;
  /** The secret as text, for a header or a path segment. */
  value: string;
  /** No output may contain any of these texts. */
  traces: string[];
}

const tracesOf = (value: string) => [
  value,
  jsonEscaped(value),
  percentEncoded(value),
  encodeURIComponent(value),
  value.replaceAll(" ", "+"),
];

/** A secret that can be recognised only by the name of its field. */
const named = fc
  .tuple(
    secretNames,
    word,
    number,
    fc.constantFrom("text", "number", "object", "array"),
    fc.constantFrom(plain, jsonEscaped),
    fc.constantFrom(plain, percentEncoded),
  )
  .map(([name, text, digits, kind, spellJson, spellPair]): Secret => {
    const value = kind === "number" ? String(digits) : text;
    const quoted = `"${spellJson(text)}"`;
    const json = { text: quoted, number: value, object: `{"a":[${quoted}]}`, array: `["b",${quoted}]` }[kind] as string;
    return {
      json: `"${spellJson(name)}":${json}`,
      pair: `${spellPair(name)}=${spellPair(value)}`,
      value,
      traces: tracesOf(value),
    };
  });

/** A secret that can be recognised by its form, in a name or a value. */
const known = fc
  .tuple(
    fc.oneof(keys, ibans),
    fc.constantFrom(plain, jsonEscaped),
    fc.constantFrom(percentEncoded, encodeURIComponent),
    fc.boolean(),
  )
  .map(([value, spellJson, spellPair, asName]): Secret => {
    const secret = spellPair(value);
    // The prefix of a key may be shown, the rest may not.
    const hidden = value.replace(/^(?:sk_test_(?:session_)?|whsec_)/, "");
    // Half of an IBAN counts as a leak too. It would remain if a log cut a text before masking it.
    const half = value.slice(0, 12);
    return {
      json: asName ? `"${spellJson(value)}":1` : `"note":"see ${spellJson(value)} there"`,
      pair: asName ? `${secret}=1` : `note=${secret}`,
      value,
      traces: [...tracesOf(hidden), ...(hidden === value ? tracesOf(half) : [])],
    };
  });

/**
 * A body with the secret: nested in JSON, in JSON within a string, in a form, or in JSON without its end. Padding moves
 * the secret close to the byte at which a log cuts a body.
 */
const bodyOf = (json: string, pair: string, form: string, padding: number): string => {
  const object = `{"pad":"${"x".repeat(padding)}",${json}}`;
  if (form === "nested") return `{"a":[{"b":${object}}]}`;
  if (form === "text") return JSON.stringify({ a: object });
  if (form === "deepText") return JSON.stringify({ a: JSON.stringify({ b: object }) });
  if (form === "form") return `pad=${"x".repeat(padding)}&${pair}&z=1`;
  return form === "cut" ? object.slice(0, -1) : object;
};

const forms = fc.constantFrom("plain", "nested", "text", "deepText", "form", "cut");
const paddings = fc.oneof(fc.constant(0), fc.integer({ min: REQUEST_CUT - 100, max: REQUEST_CUT }));
const secretHeaders = fc.constantFrom(
  "x-api-key",
  "X-Auth-Token",
  "Cookie",
  "Proxy-Authorization",
  "authorization",
  "x-client-secret",
);

interface SentCall {
  method: string;
  path: string;
  headers?: Record<string, string>;
  body?: string;
  key?: string | null;
}

const UNREAD = { "x-sandbox-inject": "outage" };
const DECLINE = "/v1/hospitality/bookings/bkg_none/decline";

/** Calls that store no record: rejected calls, and reads. */
const calls: fc.Arbitrary<{ sent: SentCall; secret: Secret }> = fc
  .tuple(fc.oneof(named, known), known, forms, paddings, secretHeaders, fc.nat(9))
  .map(([secret, form, shape, padding, header, place]) => {
    const body = bodyOf(secret.json, secret.pair, shape, padding);
    const both = { ...secret, traces: [...secret.traces, ...form.traces] };
    const segment = encodeURIComponent(form.value);
    const cases: { sent: SentCall; secret: Secret }[] = [
      { sent: { method: "GET", path: `/v1/payments?limit=1&${secret.pair}` }, secret },
      { sent: { method: "GET", path: `/v1/payments?starting_after=${segment}` }, secret: form },
      { sent: { method: "GET", path: `/v1/payments/${segment}?${secret.pair}` }, secret: both },
      { sent: { method: "GET", path: `/v1/${segment}` }, secret: form },
      { sent: { method: "GET", path: "/v1/payments", key: null, headers: { [header]: secret.value } }, secret },
      {
        sent: { method: "GET", path: "/v1/payments", headers: { "x-note": form.value, "user-agent": secret.pair } },
        secret: both,
      },
      {
        sent: { method: "POST", path: DECLINE, body, headers: { "idempotency-key": form.value.replaceAll(" ", "-") } },
        secret: both,
      },
      { sent: { method: "POST", path: "/v1/payouts", body, headers: UNREAD }, secret },
      { sent: { method: "POST", path: "/v1/hospitality/pricing-rules", body }, secret },
      {
        sent: {
          method: "POST",
          path: "/v1/webhooks",
          body: JSON.stringify({ url: `ftp://x/?${secret.pair}`, events: ["*"] }),
        },
        secret,
      },
    ];
    return cases[place] as { sent: SentCall; secret: Secret };
  });

/** Everything that the sandbox outputs about its calls, and the bytes of its files. */
async function outputs(bench: Bench, db: string): Promise<Map<string, string>> {
  const { data } = await bench.control("GET", "/requests?limit=100");
  const found = new Map<string, string>([["request log", JSON.stringify(data)]]);
  for (const { id } of data)
    found.set(`request log ${id}`, JSON.stringify(await bench.control("GET", `/requests/${id}`)));
  for (const format of ["json", "har", "junit", "markdown", "html"])
    found.set(format, (await bench.call("GET", `/_sandbox/report?format=${format}`, { key: null })).text);
  for (const file of [db, `${db}-wal`]) found.set(file, readFileSync(file, "latin1"));
  return found;
}

function leaks(secrets: readonly Secret[], texts: Map<string, string>) {
  attempted("Secrets in logs and reports", secrets.length);
  return [...texts].flatMap(([name, text]) =>
    secrets.flatMap(({ traces }) =>
      traces.filter((trace) => text.includes(trace)).map((trace) => `${name} contains ${trace}`),
    ),
  );
}

test("the request log, reports, live events, console lines and database file show no secret of a call", async () => {
  const db = join(folder(), "data.db");
  const bench = await open({ memory: false, db, rateLimit: "100000/1h" });
  const lines: string[] = [];
  bench.onLiveEvent((event) => lines.push(JSON.stringify(event), eventLine(event)));
  await fc.assert(
    fc.asyncProperty(fc.array(calls, { minLength: 6, maxLength: 10 }), async (batch) => {
      await bench.control("POST", "/reset");
      lines.length = 0;
      for (const { sent } of batch) {
        const { method, path, ...options } = sent;
        const { status } = await bench.call(method, path, options);
        expect([path, status, method === "GET" || status >= 400]).toEqual([path, status, true]);
      }
      const texts = await outputs(bench, db);
      texts.set("lines", lines.join("\n"));
      expect(
        leaks(
          batch.map(({ secret }) => secret),
          texts,
        ),
      ).toEqual([]);
    }),
    { numRuns: RUNS, endOnFailure: true },
  );
});

test("the log of deliveries, reports and database file show no secret of a receiver's response", async () => {
  const db = join(folder(), "data.db");
  const { bench, receiver } = await openRegistered({ memory: false, db });
  const secrets: Secret[] = [];
  const answers = fc.tuple(
    fc.oneof(named, known),
    forms,
    fc.oneof(fc.constant(0), fc.integer({ min: DELIVERY_CUT - 100, max: DELIVERY_CUT })),
  );
  for (const [secret, shape, padding] of fc.sample(answers, RUNS)) {
    secrets.push(secret);
    receiver.script({ status: 200, body: bodyOf(secret.json, secret.pair, shape, padding) });
    await trigger(bench, "a.b", {});
    await receiver.arrived(secrets.length);
  }
  await bench.control("POST", "/clock/advance", { by: "1s" });
  const texts = await outputs(bench, db);
  texts.set("deliveries", (await bench.call("GET", "/v1/webhook-deliveries?limit=100")).text);
  expect(texts.get("deliveries")).toContain("…redacted…");
  expect(leaks(secrets, texts)).toEqual([]);
});
