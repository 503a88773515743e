// Explains why a signature does not match: searches for one or two mistakes that would produce it.

import { createHash, createHmac } from "node:crypto";
import { tryParseJson } from "../kernel/attempt.ts";
import { indentedJson, jsonForms, VERIFY_RAW_BYTES } from "../kernel/json-forms.ts";
import { sign } from "./signature.ts";

export interface SignatureQuestion {
  /** The body as the receiver hashed it. */
  body: string;
  /** The signature that the receiver computed or received. */
  signature: string;
  secret: string;
  previousSecret?: string | null;
  /** The secrets of the merchant's other endpoints. */
  others?: readonly { endpoint: string; secret: string }[];
  /** The body that the sandbox sent, if the event is known. */
  sent?: string | undefined;
}

export interface SignatureDiagnosis {
  /** True if the signature is right for this body, and this is the body that was sent. */
  matches: boolean;
  /** The names of the mistakes, joined by a plus; null when there is no mistake, or none is recognised. */
  mistake: string | null;
  explanation: string;
}

/** One way of doing a step of the signature, correct or mistaken. The correct one has no name. */
interface Step<T> {
  name: string | null;
  words: string;
  value: T;
}

type Bytes = string | Buffer;

const MAX_MISTAKES = 2;

const correct = <T>(value: T): Step<T> => ({ name: null, words: "", value });
const mistaken = <T>(name: string, words: string, value: T): Step<T> => ({ name, words, value });

export function explainSignature(question: SignatureQuestion): SignatureDiagnosis {
  const { body, signature, secret, sent = body } = question;
  const changes = changesOf(sent);
  if (signature === sign(sent, secret)) {
    if (body === sent)
      return { matches: true, mistake: null, explanation: "The signature is right for this body and this secret." };
    const { name, words } = changes.find(({ value }) => value === body) ?? someChange(sent, body);
    return {
      matches: false,
      mistake: name,
      explanation: `The signature is right for what was sent, but ${words.charAt(0).toLowerCase()}${words.slice(1)}`,
    };
  }
  const bodies = [correct<Bytes>(sent), ...changes, ...(body === sent ? [] : [someChange(sent, body)])];
  const found = search(bodies, keysOf(question), formsOf(signature));
  if (found.length > 0) {
    const mistake = found.map(({ name }) => name).join("+");
    return { matches: false, mistake, explanation: found.map(({ words }) => words).join(" ") };
  }
  return { matches: false, mistake: null, explanation: unexplained(signature) };
}

/** The smallest set of mistakes that produces the signature; empty if no set of one or two does. */
function search(bodies: Step<Bytes>[], keys: Step<Bytes>[], forms: Step<string>[]): Step<unknown>[] {
  let best: Step<unknown>[] = [];
  const isBetter = (path: Step<unknown>[]) =>
    path.length <= MAX_MISTAKES && (best.length === 0 || path.length < best.length);
  for (const [body, key, digest] of product(bodies, keys, DIGESTS)) {
    const start = [body, key, digest].filter(({ name }) => name !== null);
    if (!isBetter(start)) continue;
    const bytes = digest.value(body.value, key.value);
    for (const [encoding, form] of product(ENCODINGS, forms, [null])) {
      const path = [...start, ...[encoding, form].filter(({ name }) => name !== null)];
      if (isBetter(path) && encoding.value(bytes) === form.value) best = path;
    }
  }
  return best;
}

function* product<A, B, C>(first: readonly A[], second: readonly B[], third: readonly C[]): Generator<[A, B, C]> {
  for (const a of first) for (const b of second) for (const c of third) yield [a, b, c];
}

const DIGESTS: Step<(body: Bytes, key: Bytes) => Buffer>[] = [
  correct((body, key) => createHmac("sha256", key).update(body).digest()),
  mistaken("sha1", "SHA-1 was used instead of SHA-256.", (body, key) => createHmac("sha1", key).update(body).digest()),
  mistaken("sha512", "SHA-512 was used instead of SHA-256.", (body, key) =>
    createHmac("sha512", key).update(body).digest(),
  ),
  mistaken("no_key", "The body was hashed without a key; use HMAC.", (body) =>
    createHash("sha256").update(body).digest(),
  ),
  mistaken("concatenated", "Secret and body were hashed one after the other; use HMAC.", (body, key) =>
    createHash("sha256").update(key).update(body).digest(),
  ),
  mistaken("swapped", "Key and body changed places.", (body, key) => createHmac("sha256", body).update(key).digest()),
];

const ENCODINGS: Step<(digest: Buffer) => string>[] = [
  correct((digest) => digest.toString("hex")),
  mistaken("upper_case", "The digest is written in upper case; the header has lower case.", (digest) =>
    digest.toString("hex").toUpperCase(),
  ),
  mistaken("base64", "The digest is written in base64; the header has hex.", (digest) => digest.toString("base64")),
  mistaken("base64url", "The digest is written in base64url; the header has hex.", (digest) =>
    digest.toString("base64url"),
  ),
];

/** The signature, and the signature without the white space or prefix that is often put around it. */
function formsOf(signature: string): Step<string>[] {
  const trimmed = signature.trim();
  const bare = trimmed.replace(/^(sha256|v1)[=,:]/i, "");
  return [
    correct(signature),
    ...(trimmed === signature ? [] : [mistaken("whitespace", "There is white space around the signature.", trimmed)]),
    ...(bare === trimmed
      ? []
      : [
          mistaken(
            "prefix",
            `The signature starts with ${trimmed.slice(0, -bare.length)}; the header has the bare digest.`,
            bare,
          ),
        ]),
  ];
}

function keysOf({ secret, previousSecret, others = [] }: SignatureQuestion): Step<Bytes>[] {
  const bare = secret.replace(/^whsec_/, "");
  const whole = "use the whole string, whsec_ included, as text.";
  return [
    correct<Bytes>(secret),
    mistaken("prefix_stripped", `The key was the secret without its whsec_; ${whole}`, bare),
    mistaken("hex_decoded", `The key was decoded from the secret's hex digits; ${whole}`, Buffer.from(bare, "hex")),
    mistaken("base64_decoded", `The key was decoded from the secret as base64; ${whole}`, Buffer.from(bare, "base64")),
    mistaken("secret_newline", "The secret was read with the line break after it.", `${secret}\n`),
    mistaken("secret_quoted", "The secret was read with the quotes around it.", `"${secret}"`),
    ...(previousSecret
      ? [mistaken("previous_secret", "The key was the secret that was rotated away; use the new one.", previousSecret)]
      : []),
    ...others.map((other) =>
      mistaken("other_endpoint", `The key was the secret of another endpoint, ${other.endpoint}.`, other.secret),
    ),
  ];
}

/** Changes that frameworks often make to a body before it is hashed. */
function changesOf(sent: string): Step<Bytes>[] {
  const changes = [
    mistaken("trailing_newline", "A line break was added to the body.", `${sent}\n`),
    mistaken("latin1", "The body was hashed as Latin-1; hash the bytes as they came.", Buffer.from(sent, "latin1")),
    mistaken("byte_order_mark", "A byte order mark was put before the body.", `\ufeff${sent}`),
    ...rewritten(sent),
  ];
  return changes.filter(({ value }) => Buffer.compare(Buffer.from(value), Buffer.from(sent)) !== 0);
}

function rewritten(sent: string): Step<Bytes>[] {
  const value = tryParseJson(sent);
  if (value === undefined) return [];
  const data = (value as { data?: unknown } | null)?.data;
  return [
    ...jsonForms.map(({ how, write }) =>
      mistaken("reserialised", `The body was parsed and written again ${how}. ${VERIFY_RAW_BYTES}`, write(value)),
    ),
    ...[JSON.stringify, indentedJson].flatMap((write) =>
      data === undefined
        ? []
        : [mistaken("data_only", "Only the event's data was hashed; hash the whole body.", write(data))],
    ),
  ];
}

/** An unknown change of the body. The explanation names the first character that differs. */
function someChange(sent: string, body: string): Step<Bytes> {
  let index = 0;
  while (index < sent.length && sent[index] === body[index]) index++;
  const words =
    `The body differs from the one sent, from character ${index + 1} on: ${around(sent, index)} was sent, ` +
    `${around(body, index)} was hashed.`;
  return mistaken("body_changed", words, body);
}

const around = (text: string, index: number) =>
  index >= text.length ? "the end" : JSON.stringify(text.slice(index, index + 20));

function unexplained(signature: string): string {
  if (!/^[0-9a-f]{64}$/.test(signature))
    return "A signature is 64 hex digits in lower case; this is not, and no known mistake makes it.";
  return (
    "No known mistake makes this signature. " +
    "Hash the raw bytes of the body with HMAC-SHA256, keyed with the endpoint's whole secret as text."
  );
}
