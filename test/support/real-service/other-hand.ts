// A second stand-in for the real service. It rewrites the recording of the first stand-in with other names, envelopes,
// ids and formats, as if the service had been written independently.

import { createHash, createHmac } from "node:crypto";
import type { Stored } from "./records.ts";
import type { Recording } from "./session.ts";
import type { HarEntry } from "./tool-forms.ts";

/** The habits of the second stand-in. A test can switch on any of them. */
export const traits = [
  ...(["snake_case", "envelopes", "uuids", "problem+json", "token cursors", "decimal amounts", "ISO times"] as const),
  ...(["payload under data.object", "t=,v1= signatures"] as const),
] as const;

export type Trait = (typeof traits)[number];

const snake = (name: string) => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
const uuid = (id: string) =>
  createHash("sha1")
    .update(id)
    .digest("hex")
    .replace(/^(.{8})(.{4})(.{4})(.{4})(.{12}).*/, "$1-$2-$3-$4-$5");
const ID = /\b(?:cus|pay|po|prl|bkg|we|evt|req|mer|pom|room)_[A-Za-z0-9]+\b/g;
const AMOUNT = /^(amount|fee|nightlyRate|refundedAmount|paidOutAmount)$/;
const TIME = /^created$|At$/;

/** Rewrites a JSON value with the habits. `name` is the name of the field that has the value. */
function written(value: unknown, has: (trait: Trait) => boolean, name = ""): unknown {
  if (Array.isArray(value)) return value.map((item) => written(item, has));
  if (typeof value === "object" && value !== null)
    return Object.fromEntries(
      Object.entries(value).map(([field, inner]) => [
        has("snake_case") ? snake(field) : field,
        written(inner, has, field),
      ]),
    );
  if (typeof value === "number" && has("decimal amounts") && AMOUNT.test(name)) return (value / 100).toFixed(2);
  if (typeof value === "number" && has("ISO times") && TIME.test(name)) return new Date(value * 1_000).toISOString();
  return typeof value === "string" && has("uuids") ? value.replaceAll(ID, uuid) : value;
}

const token = (id: unknown) => Buffer.from(`after:${id}`).toString("base64url");

function success(body: Stored, id: string, has: (trait: Trait) => boolean): Stored {
  if (!Array.isArray(body.data)) return has("envelopes") ? { data: body, meta: { requestId: id } } : body;
  const { data, has_more: more, object, ...others } = body;
  const page = has("token cursors")
    ? { nextCursor: more ? token((data as Stored[]).at(-1)?.id) : null }
    : { has_more: more };
  return has("envelopes")
    ? { data, meta: { ...others, ...page, requestId: id } }
    : { object, data, ...others, ...page };
}

function problem(body: Stored, status: number): Stored {
  const inner = Array.isArray(body.errors) && body.code === undefined ? (body.errors[0] as Stored) : body;
  const { error, message, code, details } = inner;
  const listed = (details as { errors?: unknown } | undefined)?.errors;
  const invalid = Array.isArray(listed)
    ? listed.map((one) => ({ pointer: `#${one.pointer}`, detail: one.message }))
    : undefined;
  return {
    type: `https://service.example/problems/${code}`,
    title: error,
    status,
    detail: message,
    ...(invalid && { errors: invalid }),
  };
}

/** The recording as the second stand-in would have produced it with these habits (default: all). */
export function inOtherHand({ har, webhooks }: Recording, some: readonly Trait[] = traits): Recording {
  const has = (trait: Trait) => some.includes(trait);
  const { log } = structuredClone(har) as { log: { entries: HarEntry[] } };
  let secret = "";
  for (const [index, { request, response }] of log.entries.entries()) {
    const body = JSON.parse(response.content.text as string) as Stored;
    secret ||= typeof body.secret === "string" ? body.secret : "";
    const isProblem = response.status >= 400 && has("problem+json");
    let shaped: unknown = body;
    if (response.status < 400) shaped = success(body, `req_${index}`, has);
    else if (isProblem) shaped = problem(body, response.status);
    response.content.text = JSON.stringify(written(shaped, has));
    for (const header of response.headers)
      if (isProblem && header.name === "content-type") header.value = "application/problem+json";
    if (request.postData?.text) request.postData.text = JSON.stringify(written(JSON.parse(request.postData.text), has));
    if (has("token cursors"))
      request.url = request.url.replace(/(?:starting_after|after)=([^&]+)/, (_, id) => `cursor=${token(id)}`);
    if (has("uuids")) request.url = request.url.replaceAll(ID, uuid);
  }
  return { har: { log }, webhooks: webhooks.map((line) => deliveryOf(JSON.parse(line), secret, has)) };
}

function deliveryOf(
  line: { at: string; headers: Record<string, string>; body: string },
  secret: string,
  has: (trait: Trait) => boolean,
): string {
  const event = JSON.parse(line.body) as Stored;
  const body = JSON.stringify(
    written(has("payload under data.object") ? { ...event, data: { object: event.data } } : event, has),
  );
  const { "x-webhook-signature": plain, "x-webhook-id": id, "x-webhook-event": type, ...others } = line.headers;
  const digest = (text: string) => createHmac("sha256", secret).update(text).digest("hex");
  const time = Math.floor(Date.parse(line.at) / 1_000);
  const headers = has("t=,v1= signatures")
    ? { ...others, "merchant-signature": `t=${time},v1=${digest(`${time}.${body}`)}` }
    : {
        ...line.headers,
        ...(plain && line.body !== body && { "x-webhook-signature": digest(body) }),
        ...(id && { "x-webhook-id": String(written(id, has)) }),
      };
  return JSON.stringify({ ...line, headers, body });
}
