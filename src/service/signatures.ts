// The forms of a webhook's signature, in the words of compare, and how each is computed.

import { createHmac } from "node:crypto";

export type Sign = (body: string | Uint8Array, secret: string, eventId: string) => string;

const KEYS: Readonly<Record<string, (secret: string) => string | Buffer>> = {
  "the whole secret": (secret) => secret,
  "the secret without its prefix": bare,
  "the secret without its prefix, decoded from base64": (secret) => Buffer.from(bare(secret), "base64"),
  "the secret without its prefix, decoded from hex": (secret) => Buffer.from(bare(secret), "hex"),
};

function bare(secret: string): string {
  return secret.replace(/^[a-z]+_/, "");
}

const CONTENTS: Readonly<Record<string, (id: string) => string>> = { body: () => "", "id and body": (id) => `${id}.` };

/** Every form of signature that the sandbox can make, in the words of compare. */
export const signatureForms: readonly string[] = ["hex", "base64"].flatMap((encoding) =>
  Object.keys(CONTENTS).flatMap((content) => Object.keys(KEYS).map((key) => formOf(encoding, content, key))),
);

function formOf(encoding: string, content: string, key: string): string {
  return `${encoding} digest of the ${content}, keyed with ${key}`;
}

const FORM = /^(hex|base64) digest of the (.+), keyed with (the .+)$/;

/** Signs in this form (default: as the sandbox does). */
export function signerOf(form = formOf("hex", "body", "the whole secret")): Sign {
  const [, encoding, content = "", key = ""] = FORM.exec(form) ?? [];
  const keyOf = KEYS[key] ?? ((secret: string) => secret);
  const before = CONTENTS[content] ?? (() => "");
  return (body, secret, eventId) =>
    createHmac("sha256", keyOf(secret))
      .update(before(eventId))
      .update(body)
      .digest(encoding as "hex" | "base64");
}
