// Masking: replaces each secret of a text, found by its name or its form, and nothing else. Errors, console lines and
// the dashboard's details are masked too.

import { readFileSync } from "node:fs";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { eventLine } from "../../src/cli/output/event-lines.ts";
import { defectLine } from "../../src/cli/output/output.ts";
import { isJsonType } from "../../src/http/read-body.ts";
import { closestMatch } from "../../src/kernel/did-you-mean.ts";
import { SandboxError } from "../../src/kernel/errors.ts";
import { containsLiveKey, MASK, mask, maskedJson, maskValue, mayHoldSecret } from "../../src/kernel/mask.ts";
import { maskHeaders, maskIdempotencyKey } from "../../src/kernel/mask-headers.ts";
import { isSecretName, SECRET_PARAMETERS, SECRET_WORDS, secretsIn } from "../../src/kernel/secrets.ts";
import { bodyLines, headerLines } from "../../ui/panes/details/detail-lines.ts";
import { expectLinear, hostilePieces } from "../support/hostile-pieces.ts";
import { THEME } from "../support/live-rows.ts";
import { open } from "../support/sandbox.ts";
import { gluedSecretNames, ibans, jsonEscaped, keys, percentEncoded, secretNames } from "../support/secrets.ts";
import { receive, register, settle, trigger } from "../support/webhooks.ts";

describe("a name", () => {
  test("is secret if one of its words is secret, in any spelling", () => {
    fc.assert(fc.property(secretNames, (name) => isSecretName(name)));
    const others = ["PINCode", "pins", "cvv2", "newpassword", "xapikey", "pass_word", "PassWord", "user-pass-phrase"];
    expect(others.filter((name) => !isSecretName(name))).toEqual([]);
  });

  test("is secret even without capitals or separators between its words", () => {
    fc.assert(fc.property(gluedSecretNames, (name) => isSecretName(name) && isSecretName(`x-${name}`)));
    const sent = ["x-authtoken", "accesstoken", "x-clientsecret", "sessioncookie", "bankaccountnumber", "dbpwd"];
    for (const name of sent) {
      expect([name, isSecretName(name)]).toEqual([name, true]);
      expect(mask(`{"${name}":"hidden-value"}`)).toBe(`{"${name}":"${MASK}"}`);
      expect(maskHeaders({ [name]: "hidden-value" })).toBe(`{"${name}":"${MASK}"}`);
    }
  });

  test("is not secret if a secret word is only a part of another word", () => {
    const innocent = [
      "pinned",
      "shipping",
      "opinion",
      "secretary",
      "tokenized",
      "caliban",
      "accountNumeral",
      "apiKeyboard",
      "spin",
    ];
    expect(innocent.filter(isSecretName)).toEqual([]);
    expect(mask('{"shipping":5,"pinned":1,"secretary":"Ana"}')).toBe('{"shipping":5,"pinned":1,"secretary":"Ana"}');
  });
});

test("SECURITY.md lists the secret names", () => {
  const page = readFileSync("SECURITY.md", "utf8");
  const listed = (row: string) =>
    [...(page.split("\n").find((line) => line.startsWith(row)) ?? "").matchAll(/`([^`]+)`/g)].map(([, name]) => name);
  expect(listed("| By name |")).toEqual(SECRET_WORDS);
  expect(listed("| By name, at the end")).toEqual(SECRET_PARAMETERS);
});

describe("masking JSON", () => {
  test("leaves valid JSON if a message in it quotes text that looks like a secret field", () => {
    const quoted = 'Unexpected token \':\', "{ "password": x';
    for (const text of [quoted, ":", "'pin': \"", "token=", "apiKey: \\"]) {
      const message = `The body is not valid: ${text}`;
      expect(Object.keys(JSON.parse(maskedJson({ message, code: "invalid_json" })))).toEqual(["message", "code"]);
      expect(Object.keys(JSON.parse(maskHeaders({ cookie: "a=b", "x-message": message })))).toEqual([
        "cookie",
        "x-message",
      ]);
    }
  });

  test("replaces strings, numbers, objects and arrays under secret names, and leaves valid JSON", () => {
    const value = fc.oneof(
      fc.constant("hidden away"),
      fc.constant(["hidden away"]),
      fc.constant({ a: "hidden away" }),
      fc.constant(773_311),
    );
    fc.assert(
      fc.property(secretNames, value, fc.jsonValue(), fc.constantFrom(undefined, 2), (name, secret, rest, indent) => {
        const masked = mask(JSON.stringify({ deep: [{ [name]: secret }], rest }, null, indent));
        expect(masked).not.toMatch(/hidden away|773311/);
        expect(JSON.parse(masked).deep).toEqual([{ [name]: MASK }]);
      }),
    );
  });

  test.each([
    [
      '{"pin": 1234, "password": {"a": 1}, "tokens":["a","b"]}',
      `{"pin": "${MASK}", "password": "${MASK}", "tokens":"${MASK}"}`,
    ],
    ['{"hasPassword": true, "cvv": null}', '{"hasPassword": true, "cvv": null}'],
    [String.raw`{"p\u0069n":"x y","n":"Z"}`, String.raw`{"p\u0069n":"${MASK}","n":"Z"}`],
    [String.raw`{"p\u0061ssword":"a\"b","n":1}`, String.raw`{"p\u0061ssword":"${MASK}","n":1}`],
    [String.raw`{"password":"x\\","name":"Zoe"}`, `{"password":"${MASK}","name":"Zoe"}`],
    [String.raw`{"iban":"DE89 \"x\" 37","name":"Z`, `{"iban":"${MASK}","name":"Z`],
    ['{"password":"cut', `{"password":"${MASK}`],
    ['{"password":{"a":["cut', `{"password":"${MASK}"`],
    ["{pin: 1234, name: 'x'}", `{pin: ${MASK}, name: 'x'}`],
    [
      String.raw`{"a":"{\"pin\":1234,\"password\":\"q\\\"\",\"z\":1}","k":1}`,
      String.raw`{"a":"{\"pin\":\"${MASK}\",\"password\":\"${MASK}\",\"z\":1}","k":1}`,
    ],
    [String.raw`{"form":"password=ab\"cd&x=1","k":1}`, `{"form":"password=${MASK}&x=1","k":1}`],
  ])("replaces only the secrets of %s", (text, masked) => {
    expect(mask(text)).toBe(masked);
  });

  test("does not change JSON without secrets", () => {
    const isHarmless = (value: unknown) => JSON.stringify(maskValue(value)) === JSON.stringify(value);
    fc.assert(
      fc.property(fc.jsonValue().filter(isHarmless), (value) => {
        const text = JSON.stringify(value, null, 2);
        fc.pre(!mayHoldSecret(text));
        expect(mask(text)).toBe(text);
      }),
    );
    expect(mask(String.raw`{"name":"Jos\u00e9","note":"a \"pinned\" shipping"}`)).toBe(
      String.raw`{"name":"Jos\u00e9","note":"a \"pinned\" shipping"}`,
    );
  });
});

describe("masking queries, forms and messages", () => {
  test.each([
    ["token=abc&page=2", `token=${MASK}&page=2`],
    ["a=1&access%5Ftoken=s%26t&b=2", `a=1&access%5Ftoken=${MASK}&b=2`],
    ["password=a b\"c,d;e'f&x=1", `password=${MASK}&x=1`],
    ["card[cvv]=123&card%5Bnumber%5D=4111&x=1", `card[cvv]=${MASK}&card%5Bnumber%5D=${MASK}&x=1`],
    ["%77hsec_abcdef=1&x=whsec%5Fabcd", `%77hsec_${MASK}&x=whsec%5F${MASK}`],
    ["note=DE89+3704+0044+0532+0130+00&b=1", `note=${MASK}&b=1`],
    ["note=DE89%C2%A03704%C2%A00044%C2%A00532%C2%A00130%C2%A000", `note=${MASK}`],
    ["data=%7B%22pin%22%3A1234%7D&x=1", `data=%7B%22pin%22%3A%22${MASK}%22%7D&x=1`],
    ["?%5Ctoken=abc", `?%5Ctoken=${MASK}`],
    ["api_key=abc&key=d&monkey=e&sort_key=f", `api_key=${MASK}&key=${MASK}&monkey=e&sort_key=${MASK}`],
    ["see http://localhost/hooks?token=abc&page=2 there", `see http://localhost/hooks?token=${MASK}&page=2 there`],
    ["authorization: Bearer abc def\nx-api-key: k1\nhost: z", `authorization: ${MASK}\nx-api-key: ${MASK}\nhost: z`],
    ["/v1/x/DE89370400440532013000/y", `/v1/x/${MASK}/y`],
    [
      "see postgres://ada:p@ss@db/x?a=b@c, https://token@git.example/x y@z",
      `see postgres://${MASK}@db/x?a=b@c, https://${MASK}@git.example/x y@z`,
    ],
    ["a=https%3A%2F%2Fada%3Ap%40db%2F&b=1", `a=https%3A%2F%2F${MASK}%40db%2F&b=1`],
    ["id eyJhbGciOiJI.eyJzdWIiOiIx.c2ln, eyJhbGci alone, keyJab.c", `id ${MASK}, eyJhbGci alone, keyJab.c`],
    ["sk_test_abc. whsec_ab/cd== sk_live_x", `sk_test_${MASK}. whsec_${MASK} sk_live_${MASK}`],
    [
      "Send `Authorization: Bearer sk_test_…`; it takes sk_test_ keys.",
      "Send `Authorization: Bearer sk_test_…`; it takes sk_test_ keys.",
    ],
  ])("replaces only the secrets of %s", (text, masked) => {
    expect(mask(text)).toBe(masked);
    expect(mask(masked)).toBe(masked);
  });
});

describe("headers", () => {
  test("with credentials are masked, and keep their order", () => {
    const headers = {
      host: "x",
      authorization: "Bearer sk_test_lodge",
      "x-api-key": "a1",
      "x-auth-token": "c3",
      "proxy-authorization": "b2",
      cookie: "a=b; c=d",
      "set-cookie": ["e=f", "g=h"],
      accept: "*/*",
    };
    const masked = Object.fromEntries(
      Object.entries(headers).map(([name, value]) => [name, /host|accept/.test(name) ? value : MASK]),
    );
    expect(maskHeaders(headers)).toBe(JSON.stringify(masked));
  });

  test("show an Idempotency-Key unless it contains a secret", () => {
    expect(JSON.parse(maskHeaders({ "idempotency-key": "order-1" }))).toEqual({ "idempotency-key": "order-1" });
    const [one, same, other] = ["sk_test_abcdefghij", "sk_test_abcdefghij", "sk_test_abcdefghik"].map(
      maskIdempotencyKey,
    );
    expect(one).toMatch(/^sk_t…redacted…[0-9a-f]{16}$/);
    expect([same === one, other === one]).toEqual([true, false]);
    expect(JSON.parse(maskHeaders({ "idempotency-key": "sk_test_abcdefghij" }))).toEqual({ "idempotency-key": one });
    expect(maskIdempotencyKey("password-1")).not.toContain("pass");
  });
});

describe("every text", () => {
  test("is masked before it is cut", () => {
    const iban = "DE89370400440532013000";
    for (let cut = 0; cut <= iban.length; cut++) {
      const text = `${"x".repeat(100 - cut)} ${iban} and more`;
      expect(mask(text, 101)).not.toContain(iban.slice(0, Math.max(4, cut)));
      expect(mask(text, 101).length).toBeLessThanOrEqual(101);
    }
    expect(mask(`{"a":"${"x".repeat(50)}","password":"${"hidden".repeat(20)}"}`, 100)).not.toContain("hidden");
  });

  test("gets its keys and IBANs masked in every layer of escapes", () => {
    const spelling = fc.constantFrom(
      (text: string) => text,
      jsonEscaped,
      percentEncoded,
      (text: string) => percentEncoded(percentEncoded(text)),
      (text: string) => jsonEscaped(JSON.stringify(jsonEscaped(text))),
    );
    fc.assert(
      fc.property(fc.oneof(keys, ibans), spelling, fc.string(), (secret, spell, around) => {
        const text = `${around} ${spell(secret)} ${around}`;
        expect(mask(text)).not.toContain(spell(secret));
        expect(mask(text)).toContain(MASK);
      }),
    );
  });

  test("gets its keys in base64 masked, as in Basic credentials, whatever precedes the key", () => {
    for (const prefix of ["sk_live_", "sk_test_"])
      for (const user of ["", "a", "ab", "abc:"]) {
        const encoded = Buffer.from(`${user}${prefix}4eC39HqLyjWDarjt:`).toString("base64");
        for (const text of [`Basic ${encoded}`, `{"note":"Basic ${encoded}"}`, encoded]) {
          const masked = mask(text);
          expect([masked, mayHoldSecret(text)]).toEqual([expect.stringContaining(MASK), true]);
          expect(masked).not.toContain(encoded.slice(-8));
          expect(containsLiveKey(jsonEscaped(text))).toBe(prefix === "sk_live_");
        }
      }
    expect(mask("Basic YWxhZGRpbjpvcGVuc2VzYW1l")).toBe("Basic YWxhZGRpbjpvcGVuc2VzYW1l");
  });

  test("that contains a secret is recognised by the quick check, mayHoldSecret", () => {
    const pieces = fc.oneof(
      fc.constantFrom(...SECRET_WORDS, ...SECRET_PARAMETERS, ...'":=&\\%{[ a', "u0070", "70", "sk_test_", "whsec_"),
      secretNames,
      keys,
      ibans,
    );
    fc.assert(
      fc.property(fc.array(pieces, { maxLength: 12 }), (parts) => {
        const text = parts.join("");
        if (secretsIn(text).length > 0) expect(mayHoldSecret(text)).toBe(true);
        for (const encoded of [jsonEscaped(text), percentEncoded(text)])
          if (secretsIn(encoded).length > 0) expect(mayHoldSecret(encoded)).toBe(true);
      }),
      { numRuns: 1_000 },
    );
  });

  test("stays the same if it is masked twice", () => {
    fc.assert(
      fc.property(secretNames, keys, fc.constantFrom("=", ": ", '":"', '":'), (name, key, separator) => {
        const masked = mask(`{"a":1,"${name}${separator}${key}`);
        expect(mask(masked)).toBe(masked);
      }),
    );
  });
});

describe("in linear time,", () => {
  test.each([...hostilePieces, "eyJ", "eyJa.", "://a", "://a@"])("1 MiB of %s is masked", (piece) =>
    expectLinear(piece, mask),
  );

  test("a text with too many secrets or escapes is masked whole; in a value, only texts past the limit are", () => {
    expect(mask("pin=1&x=2&".repeat(6_000))).toBe(MASK);
    expect(mask(`${"%2525252525".repeat(60_000)}41`)).toBe(MASK);
    const masked = maskValue({ notes: Array.from({ length: 6_000 }, () => "pin=1"), name: "Ada" }) as {
      notes: string[];
      name: string;
    };
    expect([masked.notes[0], masked.notes.at(-1), masked.name]).toEqual([`pin=${MASK}`, MASK, "Ada"]);
  });

  test("the closest name is suggested", () => {
    expectLinear("payments.list", (text) => closestMatch(text, [`${text}s`, "payments.list"]));
    expect(closestMatch("payments.lst", ["payments.list", "payments.create"])).toBe("payments.list");
  });

  test("a Content-Type is recognised as JSON or not", () => {
    expectLinear(" ", (spaces) => isJsonType(`application/json${spaces}x`));
    const types = [
      "application/json",
      'Application/JSON ; charset = "UTF-8" ;',
      "application/json;",
      "application/json; charset=latin1",
      "text/json",
      "application/json;;a",
    ];
    expect(types.map(isJsonType)).toEqual([true, true, true, false, false, false]);
  });
});

const IBAN = "DE89370400440532013000";

test("an error message quotes no secret, and a shortened one quotes no part of a secret", async () => {
  const bench = await open();
  const post = (path: string, body: unknown) => bench.call("POST", path, { body });
  const replies = [
    await post("/v1/hospitality/pricing-rules", `{"password":"hidden-away"x}`),
    await post("/v1/hospitality/pricing-rules", `{"note":1,"pin":77331199 1}`),
    await post("/v1/hospitality/pricing-rules", { name: [], adjustmentType: `${"x".repeat(45)} ${IBAN}` }),
    await post("/v1/webhooks", { url: `ftp://${"x".repeat(180)}/${IBAN}?token=hidden-away`, events: ["*"] }),
    await bench.call("GET", `/v1/${"x".repeat(180)}/${IBAN}`),
    await bench.call("GET", `/v1/payments?${"x".repeat(980)}=1&${IBAN}=2`),
  ];
  for (const { text, headers } of replies) expect(text + JSON.stringify(headers)).not.toMatch(/hidden|77331199|DE8937/);
  expect(replies.map(({ status }) => status)).toEqual([400, 400, 400, 400, 404, 200]);
});

test("a console line of a delivery masks the endpoint's URL", async () => {
  const bench = await open();
  const lines: string[] = [];
  bench.onLiveEvent((event) => lines.push(eventLine(event)));
  const receiver = await receive();
  await register(bench, `${receiver.url}?token=hidden-away`);
  await trigger(bench);
  await receiver.arrived(1);
  await settle(bench);
  expect(lines.join("\n")).toContain(`?token=${MASK}`);
  expect(lines.join("\n")).not.toContain("hidden-away");
});

test("an internal error is printed without the secrets that it quotes", () => {
  const printed = defectLine({ error: new Error(`cannot use {"password":"hidden-away"}`), where: "req_1" });
  expect(printed).toContain("mask.test.ts");
  expect(printed).not.toContain("hidden-away");
  const mendable = new SandboxError("The SQLite file x.db was deleted. Start the sandbox again.");
  expect(defectLine({ error: mendable, where: "req_1" })).toBe(`failed at req_1: ${mendable.message}`);
});

test("the dashboard's details mask headers and bodies", () => {
  const shown = [
    ...headerLines(THEME, 80, { "X-Api-Key": "hidden-away", Accept: "a/b" }),
    ...bodyLines(THEME, 80, '{"iban":1234,"a":"b"}', 21),
  ];
  expect(shown.join("\n")).not.toMatch(/hidden-away|1234/);
  expect(shown.join("\n")).toContain("a/b");
});
