// The signature of a delivery: how the sandbox signs a body, and how a receiver verifies it.

import { createHmac, timingSafeEqual } from "node:crypto";
import type { AssumptionValues } from "../../generated/control-api.ts";
import type { MeasuredBehaviour } from "../contracts/fact.ts";
import { USUAL_SIGNATURE } from "../contracts/webhook.ts";
import { atCaller, SandboxError } from "../kernel/errors.ts";
import { type Sign, signatureForms, signerOf } from "../kernel/signature-forms.ts";
import { withArticle } from "../schema/keywords.ts";
import { oneOf, Type } from "../schema/shapes.ts";
import { type Assumptions, assumedValue, settableFact } from "../store/assumptions.ts";

type Body = string | Uint8Array;

/** The lower-case hex HMAC-SHA256 of the exact bytes, keyed with the whole secret as text, `whsec_` included. */
export const sign = (body: Body, secret: string): string => createHmac("sha256", secret).update(body).digest("hex");

export const signatureFact = settableFact<string>(
  "webhook.signature.key",
  "signature",
  USUAL_SIGNATURE,
  oneOf(signatureForms, ""),
);

/** The text before the digest. */
export const signaturePrefixFact = settableFact<string>(
  "webhook.signature.prefix",
  "signature",
  "",
  Type.String({ maxLength: 20, pattern: "^[!-~]*$" }),
);

/** Returns the function that signs in the form that the assumptions set. */
export function signerUnder(set: Assumptions): Sign {
  const [form, prefix] = [assumedValue(set, signatureFact), assumedValue(set, signaturePrefixFact)];
  const digest = form === USUAL_SIGNATURE ? sign : signerOf(form);
  return prefix === "" ? digest : (body, secret, eventId) => prefix + digest(body, secret, eventId);
}

/** How signatures are computed, in words. */
export function shownSignature(set: Assumptions): string {
  const [form, prefix] = [assumedValue(set, signatureFact), assumedValue(set, signaturePrefixFact)];
  return prefix === "" ? form : `${form}, after ${JSON.stringify(prefix)}`;
}

export interface Signed {
  /** The body exactly as it was received: bytes, or their text, before any parsing. */
  body: Body;
  /** The value of `X-Webhook-Signature`. */
  signature: string | undefined;
  /** The secret of the endpoint, as it was shown when the endpoint was created. */
  secret: string;
  /** The assumptions of the sandbox, if they set the form of the signature. */
  assumptions?: AssumptionValues;
  /** The value of `X-Webhook-Id`, for forms of the signature that cover the id too. */
  id?: string | undefined;
}

/** Whether a delivery was signed with the secret. Compares in constant time. */
export function verifySignature({ body, signature, secret, assumptions = {}, id = "" }: Signed): boolean {
  const misuse = misuseOf(body, secret);
  if (misuse !== undefined) throw atCaller(new SandboxError(misuse, "usage"), verifySignature);
  const expected = Buffer.from(signerUnder(assumptions as Assumptions)(body, secret, id));
  const received = Buffer.from(signature ?? "");
  return received.length === expected.length && timingSafeEqual(received, expected);
}

/** Programs without type checks may pass a parsed body, or a variable that is not set. */
function misuseOf(body: unknown, secret: unknown): string | undefined {
  if (typeof body !== "string" && !ArrayBuffer.isView(body))
    return (
      `verifySignature needs the body as it was received, as text or bytes; received ${kindOf(body)}. In Express, ` +
      'express.raw({ type: "application/json" }) leaves the bytes in req.body.'
    );
  if (typeof secret === "string") return undefined;
  return `verifySignature needs the secret of the endpoint, such as whsec_local; received ${kindOf(secret)}.`;
}

const kindOf = (value: unknown) => (value === undefined || value === null ? `${value}` : withArticle(typeof value));

export const behaviours: MeasuredBehaviour[] = [
  {
    id: "webhooks.signature_key",
    fact:
      "The HMAC key is the whole secret, including `whsec_`, as UTF-8. " +
      "The digest covers exactly the bytes of the body.",
    why:
      "The service's documentation says `HMAC-SHA256 hex digest of the body` but does not name the key; " +
      "using the secret as returned needs no decoding.",
    facts: [signatureFact, signaturePrefixFact],
  },
  {
    id: "webhooks.rotation",
    fact:
      "After rotation, every attempt is signed with the new secret, including pending retries. " +
      "The old secret is not used again.",
    why:
      "The service's documentation says that rotation replaces the secret, and the signature header has room for " +
      "one digest.",
  },
];
