// The ways to compute a webhook's signature, each with its description.

import { createHmac } from "node:crypto";
import { usageError } from "./errors.ts";
import { PROGRAM } from "./program-name.ts";

export type Sign = (body: string | Uint8Array, secret: string, eventId: string) => string;

export interface SignatureForm {
  encoding: "hex" | "base64";
  /** The signed content, such as `id and body`. */
  content: string;
  /** How the HMAC key is derived from the secret. */
  key: string;
}

const bare = (secret: string) => secret.replace(/^[a-z]+_/, "");

const KEYS: Readonly<Record<string, (secret: string) => string | Buffer>> = {
  "the whole secret": (secret) => secret,
  "the secret without its prefix": bare,
  "the secret without its prefix, decoded from base64": (secret) => Buffer.from(bare(secret), "base64"),
  "the secret without its prefix, decoded from hex": (secret) => Buffer.from(bare(secret), "hex"),
};

const CONTENTS: Readonly<Record<string, (id: string) => string>> = { body: () => "", "id and body": (id) => `${id}.` };

/** Every form with one of these contents. */
export const formsOfSignature = (contents: readonly string[]): SignatureForm[] =>
  (["hex", "base64"] as const).flatMap((encoding) =>
    contents.flatMap((content) => Object.keys(KEYS).map((key) => ({ encoding, content, key }))),
  );

export const wordsOf = ({ encoding, content, key }: SignatureForm) =>
  `${encoding} digest of the ${content}, keyed with ${key}`;

export const digestOf = (
  { encoding, key }: SignatureForm,
  secret: string,
  ...signed: readonly (string | Uint8Array)[]
): string => {
  const hmac = createHmac("sha256", (KEYS[key] as (secret: string) => string | Buffer)(secret));
  for (const part of signed) hmac.update(part);
  return hmac.digest(encoding);
};

const own = new Map(formsOfSignature(Object.keys(CONTENTS)).map((form) => [wordsOf(form), form]));

/** The forms in which the sandbox can sign. */
export const signatureForms: readonly string[] = [...own.keys()];

/** Returns the function that signs in this form, which must be one of `signatureForms`. */
export function signerOf(words: string): Sign {
  const form = own.get(words) ?? unknownForm(words);
  const before = CONTENTS[form.content] as (id: string) => string;
  return (body, secret, eventId) => digestOf(form, secret, before(eventId), body);
}

const unknownForm = (words: string) =>
  usageError(
    `webhook.signature.key takes a form such as "${signatureForms[0]}"; received ${JSON.stringify(words)}. ` +
      `\`${PROGRAM} assumptions webhook.signature.key --json\` lists all.`,
  );
