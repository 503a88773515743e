// Masking in the request log: fields whose names suggest a secret, at any depth, and keys, however they are written.

import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { isSecret, MASK, redact, redactHeaders, redactJson, SECRET } from "../../src/kernel/redact.ts";
import { open } from "../support/sandbox.ts";

/** Every word that marks a name as secret, with each separator that it may contain. */
const WORDS = SECRET.source.split("|").flatMap((word) => ["", "_", "-"].map((sign) => word.replace("[_-]?", sign)));

/** A word with random upper and lower case. */
const spelt = fc
  .tuple(fc.constantFrom(...WORDS), fc.infiniteStream(fc.boolean()))
  .map(([word, flips]) => [...word].map((letter) => (flips.next().value ? letter.toUpperCase() : letter.toLowerCase())).join(""));
const secretName = fc
  .tuple(fc.stringMatching(/^[a-z_]{0,4}$/), spelt, fc.stringMatching(/^[A-Za-z0-9]{0,4}$/))
  .map((parts) => parts.join(""));
const token = fc.constantFrom("sk_live_abc", "SK_LIVE_ABC", "sk%5Flive%5Fabc", "sk_test_session_abc", "whsec_abc");

/** JSON with every letter written as an escape. */
const escaped = (text: string) => text.replaceAll(/[a-zA-Z]/g, (letter) => `\\u${letter.charCodeAt(0).toString(16).padStart(4, "0")}`);

describe("the log of a request", () => {
  test("masks a field that is named like a secret, whatever else the body contains", () => {
    fc.assert(
      fc.property(secretName, fc.string(), fc.jsonValue(), (name, other, rest) => {
        expect(isSecret(name)).toBe(true);
        const body = { [other]: rest, deep: [{ [name]: "hidden away" }] };
        for (const kept of [redactJson(JSON.stringify(body)), redactJson(JSON.stringify(body).slice(0, -1))]) {
          expect(kept).not.toContain("hidden away");
          expect(kept).toContain(MASK);
        }
      }),
    );
  });

  test("masks keys in every field", () => {
    fc.assert(
      fc.property(token, fc.string(), (key, around) => {
        expect(redactJson(JSON.stringify({ note: `${around} ${key} ${around}` }))).not.toContain(key);
        expect(redactHeaders({ "x-note": key })).not.toContain(key);
      }),
    );
  });

  test("keeps a body without secrets as it was sent", () => {
    const isHarmless = (value: unknown) => JSON.stringify(redact(value)) === JSON.stringify(value);
    fc.assert(
      fc.property(fc.jsonValue().filter(isHarmless), (value) => {
        const text = JSON.stringify(value, null, 2);
        expect(redactJson(text)).toBe(text);
      }),
    );
  });

  test("masks a field whose name is written with escapes", () => {
    for (const word of WORDS) expect(redactJson(escaped(`{"${word}":"x1"}`))).toBe(`{"${word}":"${MASK}"}`);
    expect(redactJson(String.raw`{"name":"Jos\u00e9"}`)).toBe(String.raw`{"name":"Jos\u00e9"}`);
  });

  test("masks the last value of a truncated body", () => {
    expect(redactJson(String.raw`{"iban":"DE89 \"x\" 37","name":"Z`)).toBe(`{"iban":"${MASK}","name":"Z`);
  });

  test("masks headers with credentials, and keeps their order", () => {
    const headers = { host: "x", authorization: "Bearer sk_test_lodge", "x-api-key": "a1", "proxy-authorization": "b2", accept: "*/*" };
    expect(redactHeaders(headers)).toBe(
      `{"host":"x","authorization":"${MASK}","x-api-key":"${MASK}","proxy-authorization":"${MASK}","accept":"*/*"}`,
    );
  });

  test("contains no secret of a request or its response", async () => {
    const bench = await open();
    const body = { name: "Low", adjustmentType: "fixed", adjustmentValue: 1, metadata: { iban: "DE8937", account_number: "4411" } };
    const made = await bench.call("POST", "/v1/hospitality/pricing-rules", { body, headers: { "x-api-key": "k9" } });
    expect(made.body.metadata).toEqual(body.metadata);
    const kept = JSON.stringify(await bench.control("GET", `/requests/${made.headers["x-sandbox-request-id"]}`));
    expect(["DE8937", "4411", "k9"].filter((secret) => kept.includes(secret))).toEqual([]);
  });

  test("stores each response as it was sent, for repeated requests and for changed records", async () => {
    const bench = await open();
    const texts: string[] = [];
    const ask = async () => texts.push((await bench.call("GET", "/v1/customers/cus_zoe")).text);
    await ask();
    await ask();
    for (const name of ["Zoë", "Zoe"]) {
      await bench.control("PATCH", "/records/customer/cus_zoe", { merchant: "mer_lodge", name });
      await ask();
      await ask();
    }
    const { data } = (await bench.control("GET", "/requests?operation=customers.get")) as { data: { id: string }[] };
    const kept = await Promise.all(data.map(async ({ id }) => (await bench.control("GET", `/requests/${id}`)).response));
    expect(new Set(texts).size).toBe(3);
    expect(kept.map(({ body }) => body).reverse()).toEqual(texts);
    expect(kept.map(({ bytes }) => bytes).reverse()).toEqual(texts.map((text) => Buffer.byteLength(text)));
  });
});
