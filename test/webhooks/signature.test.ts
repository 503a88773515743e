// The signature: equal to the one that openssl computes, verified, and explained if it does not match.

import { execFileSync } from "node:child_process";
import { createHash, createHmac } from "node:crypto";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { signatureForms } from "../../src/kernel/signature-forms.ts";
import { sign, verifySignature } from "../../src/webhooks/signature.ts";
import { explainSignature, type SignatureDiagnosis } from "../../src/webhooks/signature-diagnosis.ts";
import { anyText } from "../support/fuzzing.ts";
import { deliver, openRegistered, register } from "../support/webhooks.ts";

const SECRET = `whsec_${"0123456789abcdef".repeat(4)}`;
const BODY = '{"id":"evt_1","object":"event","data":{"url":"http://a/b","name":"Grüße","amount":1}}';

/** The signature of these bytes, computed by openssl. */
const openssl = (input: Buffer, secret: string) =>
  execFileSync("openssl", ["dgst", "-sha256", "-hmac", secret], { input }).toString().trim().split(/\s/).at(-1);

describe("a signature", () => {
  test("is the lower-case hex digest that openssl computes, for a string and for its bytes", async () => {
    const { bench, receiver, secret } = await openRegistered();
    await deliver(bench, "payment.succeeded", { amount: 12_500, note: "Ärger? 世界 \u2028" });
    const [arrival] = receiver.arrivals;
    expect(arrival?.headers["x-webhook-signature"]).toBe(openssl(arrival?.body ?? Buffer.of(), secret));
    expect([sign("", SECRET), sign(Buffer.from(BODY), SECRET)]).toEqual([
      openssl(Buffer.of(), SECRET),
      sign(BODY, SECRET),
    ]);
  });

  test("is valid only for its own body and secret", () => {
    fc.assert(
      fc.property(anyText(), fc.string(), anyText(), fc.string(), (body, secret, other, otherSecret) => {
        const signature = sign(body, secret);
        expect(verifySignature({ body, signature, secret })).toBe(true);
        expect(verifySignature({ body: other, signature, secret })).toBe(Buffer.from(other).equals(Buffer.from(body)));
        if (otherSecret !== secret)
          expect(verifySignature({ body, signature, secret: `${secret}.${otherSecret}` })).toBe(false);
      }),
    );
  });

  test.each([
    ["missing", undefined],
    ["empty", ""],
    ["in upper case", sign(BODY, SECRET).toUpperCase()],
    ["prefixed", `sha256=${sign(BODY, SECRET)}`],
    ["followed by white space", `${sign(BODY, SECRET)}\n`],
    ["in base64", Buffer.from(sign(BODY, SECRET), "hex").toString("base64")],
    ["cut short", sign(BODY, SECRET).slice(0, 63)],
    ["not ASCII", "é".repeat(32)],
  ])("that is %s is rejected without an exception", (_, signature) => {
    expect(verifySignature({ body: BODY, signature, secret: SECRET })).toBe(false);
  });

  test.each(signatureForms)(
    "in the form %j is verified and explained if the assumptions set that form",
    async (form) => {
      const assumptions = { "webhook.signature.key": form as never, "webhook.signature.prefix": "v1=" };
      const { bench, receiver, id: endpoint, secret } = await openRegistered({ assumptions });
      await deliver(bench);
      const [{ body = Buffer.of(), headers = {} } = {}] = receiver.arrivals;
      const delivery = { body, secret, signature: headers["x-webhook-signature"], id: headers["x-webhook-id"] };
      expect(verifySignature({ ...delivery, assumptions })).toBe(true);
      expect(verifySignature({ ...delivery, assumptions, body: `${body} ` })).toBe(false);
      expect(verifySignature(delivery)).toBe(false);
      const explained = (signature: string | undefined) =>
        bench.control("POST", "/signature/explain", { endpoint, body: body.toString(), signature });
      expect(await explained(delivery.signature)).toMatchObject({ matches: true, mistake: null });
      expect(await explained(sign(body, secret))).toEqual({
        matches: false,
        mistake: null,
        explanation:
          `The sandbox signs with the ${form}, after "v1="; ` +
          "this is not the signature for this body and this secret.",
      });
    },
  );

  test("of an unknown form throws an error that names the form", () => {
    const assumptions = { "webhook.signature.key": "md5" as never };
    expect(() => verifySignature({ body: BODY, signature: "", secret: SECRET, assumptions })).toThrow(
      /webhook\.signature\.key takes a form such as "hex digest .*; received "md5"\./,
    );
  });
});

const hmac = (key: string | Buffer, body: string | Buffer, algorithm = "sha256") =>
  createHmac(algorithm, key).update(body).digest();
const hex = (key: string | Buffer, body: string | Buffer) => hmac(key, body).toString("hex");
const bare = SECRET.slice("whsec_".length);
const parsed = JSON.parse(BODY);
const PYTHON =
  '{"id": "evt_1", "object": "event", "data": {"url": "http://a/b", "name": "Gr\\u00fc\\u00dfe", "amount": 1}}';
const PYTHON_SORTED =
  '{"data": {"amount": 1, "name": "Gr\\u00fc\\u00dfe", "url": "http://a/b"}, "id": "evt_1", "object": "event"}';
const PHP = '{"id":"evt_1","object":"event","data":{"url":"http:\\/\\/a\\/b","name":"Gr\\u00fc\\u00dfe","amount":1}}';
const previousSecret = `whsec_${"f".repeat(64)}`;
const others = [{ endpoint: "we_other", secret: `whsec_${"e".repeat(64)}` }];

const explain = (signature: string, body = BODY, sent?: string): SignatureDiagnosis =>
  explainSignature({ body, signature, secret: SECRET, previousSecret, others, sent });

describe("an explanation", () => {
  test("of a valid signature says that it is valid", () => {
    expect(explain(sign(BODY, SECRET))).toEqual({
      matches: true,
      mistake: null,
      explanation: "The signature is right for this body and this secret.",
    });
  });

  test.each([
    ["prefix_stripped", hex(bare, BODY)],
    ["hex_decoded", hex(Buffer.from(bare, "hex"), BODY)],
    ["base64_decoded", hex(Buffer.from(bare, "base64"), BODY)],
    ["secret_newline", hex(`${SECRET}\n`, BODY)],
    ["secret_quoted", hex(`"${SECRET}"`, BODY)],
    ["previous_secret", hex(previousSecret, BODY)],
    ["other_endpoint", hex(others[0]?.secret ?? "", BODY)],
    ["trailing_newline", hex(SECRET, `${BODY}\n`)],
    ["latin1", hex(SECRET, Buffer.from(BODY, "latin1"))],
    ["byte_order_mark", hex(SECRET, `\ufeff${BODY}`)],
    ["reserialised", hex(SECRET, JSON.stringify(parsed, null, 2))],
    ["reserialised", hex(SECRET, PYTHON)],
    [
      "reserialised",
      hex(SECRET, '{"data":{"amount":1,"name":"Grüße","url":"http://a/b"},"id":"evt_1","object":"event"}'),
    ],
    ["reserialised", hex(SECRET, PHP)],
    ["reserialised", hex(SECRET, PYTHON_SORTED)],
    ["data_only", hex(SECRET, JSON.stringify(parsed.data, null, 2))],
    ["data_only", hex(SECRET, JSON.stringify(parsed.data))],
    ["sha1", hmac(SECRET, BODY, "sha1").toString("hex")],
    ["sha512", hmac(SECRET, BODY, "sha512").toString("hex")],
    ["no_key", createHash("sha256").update(BODY).digest("hex")],
    ["concatenated", createHash("sha256").update(SECRET).update(BODY).digest("hex")],
    ["swapped", hex(BODY, SECRET)],
    ["upper_case", hex(SECRET, BODY).toUpperCase()],
    ["base64", hmac(SECRET, BODY).toString("base64")],
    ["base64url", hmac(SECRET, BODY).toString("base64url")],
    ["prefix", `sha256=${hex(SECRET, BODY)}`],
    ["whitespace", ` ${hex(SECRET, BODY)}\n`],
    ["base64_decoded+base64", hmac(Buffer.from(bare, "base64"), BODY).toString("base64")],
    ["reserialised+prefix_stripped", hex(bare, PYTHON)],
    ["base64+prefix", `sha256=${hmac(SECRET, BODY).toString("base64")}`],
  ])("names the mistake %s", (mistake, signature) => {
    const found = explain(signature);
    expect(found).toMatchObject({ matches: false, mistake });
    expect(found.explanation).toMatch(/^[A-Z].*\.$/);
  });

  test.each([
    ["reserialised", JSON.stringify(parsed, null, 2)],
    ["reserialised", PYTHON],
    ["trailing_newline", `${BODY}\n`],
    ["body_changed", BODY.replace("1}}", "2}}")],
  ])("of a valid signature over a different body names the mistake %s", (mistake, body) => {
    for (const signature of [sign(BODY, SECRET), sign(body, SECRET)])
      expect(explain(signature, body, BODY), signature).toMatchObject({ matches: false, mistake });
  });

  test("shows where the body differs from the sent body", () => {
    const { explanation } = explain(sign(BODY, SECRET), BODY.replace('"amount":1', '"amount":2'), BODY);
    expect(explanation).toContain(`from character ${BODY.indexOf("1}}") + 1} on`);
  });

  test("says so if it finds no known mistake", () => {
    expect(explain("0".repeat(64))).toMatchObject({
      matches: false,
      mistake: null,
      explanation: expect.stringContaining("No known mistake"),
    });
    expect(explain("nonsense")).toMatchObject({
      matches: false,
      mistake: null,
      explanation: expect.stringContaining("64 hex digits"),
    });
  });

  test("is available from the control API, which knows the sent bytes and the secrets", async () => {
    const { bench, receiver, id: endpoint, secret } = await openRegistered();
    const other = await register(bench, receiver.url);
    await deliver(bench, "payment.succeeded", { note: "ß" });
    const body = receiver.arrivals[0]?.body.toString() ?? "";
    const ask = (given: object) => bench.control("POST", "/signature/explain", { endpoint, body, ...given });
    expect(await ask({ signature: sign(body, secret) })).toMatchObject({ matches: true, mistake: null });
    expect(await ask({ signature: sign(body, other.secret) })).toMatchObject({
      mistake: "other_endpoint",
      explanation: expect.stringContaining(other.id),
    });
    const compact = JSON.stringify(JSON.parse(body));
    expect(await ask({ signature: sign(body, secret), body: compact })).toMatchObject({
      matches: false,
      mistake: "reserialised",
      explanation: expect.stringContaining("verify the raw bytes"),
    });
    await bench.call("POST", `/v1/webhooks/${endpoint}/rotate-secret`);
    expect(await ask({ signature: sign(body, secret) })).toMatchObject({ mistake: "previous_secret" });
  });
});
