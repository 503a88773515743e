// Observations from webhooks: headers, events and their types, the form of the signature, and the retry schedule.

import { createHmac } from "node:crypto";
import { type ObservationContext, observeListed, observeObject } from "./observe-values.ts";
import { jsonIn } from "./read-har.ts";
import { type ComparedSandbox, isObject, type JsonFields, type RecordedDelivery } from "./recording.ts";
import { isMasked, type Knowledge, type Sightings } from "./sightings.ts";

const HEADERS = ["X-Webhook-Signature", "X-Webhook-Id", "X-Webhook-Event"];

export function observeWebhooks(
  deliveries: readonly RecordedDelivery[],
  sandbox: ComparedSandbox,
  knowledge: Knowledge,
  sightings: Sightings,
): void {
  for (const delivery of deliveries) {
    const { entry, headers, text } = delivery;
    for (const name of HEADERS)
      sightings.compare(`webhook.header.${name}`, headers[name.toLowerCase()] === undefined ? "absent" : "sent", { entry });
    const event = jsonIn(text);
    if (isObject(event)) observeEvent({ sightings, knowledge, entry }, event, sandbox);
    observeSignature(delivery, event, knowledge, sightings);
  }
  observeSchedule(deliveries, sightings);
}

function observeEvent(where: ObservationContext, event: JsonFields, { event: schema, eventKinds, records }: ComparedSandbox): void {
  observeObject(where, "event", schema, event);
  const { type, data } = event;
  // A test event has the type and the data that the client sent.
  if (typeof type !== "string" || isTestData(data)) return;
  observeListed(where, "event.type", [...eventKinds.keys()], type);
  const record = records.get(eventKinds.get(type) ?? "");
  if (record && isObject(data)) observeObject(where, "", record, data);
}

const isTestData = (data: unknown) => isObject(data) && data.id === undefined && data.object === undefined;

const KEYS: readonly [string, (secret: string) => string | Buffer][] = [
  ["the whole secret", (secret) => secret],
  ["the secret without its prefix", (secret) => secret.replace(/^[a-z]+_/, "")],
  ["the secret without its prefix, decoded from base64", (secret) => Buffer.from(secret.replace(/^[a-z]+_/, ""), "base64")],
  ["the secret without its prefix, decoded from hex", (secret) => Buffer.from(secret.replace(/^[a-z]+_/, ""), "hex")],
];

/** Some services sign a time or the id of the event with the body. */
function contentsOf({ text, headers }: RecordedDelivery, header: string): [string, string][] {
  const id = headers["x-webhook-id"] ?? "";
  const time = headers["x-webhook-timestamp"] ?? /\bt=(\d+)/.exec(header)?.[1];
  const timed: [string, string][] =
    time === undefined
      ? []
      : [
          ["time and body", `${time}.${text}`],
          ["id, time and body", `${id}.${time}.${text}`],
        ];
  return [["body", text], ["id and body", `${id}.${text}`], ...timed];
}

function observeSignature(delivery: RecordedDelivery, event: unknown, { secrets }: Knowledge, sightings: Sightings): void {
  const header = delivery.headers["x-webhook-signature"];
  if (header === undefined || event === undefined || isMasked(header) || isMasked(delivery.text)) return;
  const [form] = [...secrets].flatMap((secret) => signatureForm(delivery, header, secret) ?? []);
  if (form !== undefined) sightings.compare("webhook.signature.key", form, { entry: delivery.entry });
}

/** How the header follows from the secret; undefined if in no known way, as with the secret of another endpoint. */
function signatureForm(delivery: RecordedDelivery, header: string, secret: string): string | undefined {
  const forms = KEYS.flatMap(([key, keyOf]) =>
    contentsOf(delivery, header).flatMap(([content, signed]) =>
      (["hex", "base64"] as const).map((encoding) => ({ key, keyOf, content, signed, encoding })),
    ),
  );
  const digestOf = ({ keyOf, signed, encoding }: (typeof forms)[number]) =>
    createHmac("sha256", keyOf(secret)).update(signed).digest(encoding);
  const found = forms.find((form) => header.includes(digestOf(form)));
  if (!found) return undefined;
  const inside = header === digestOf(found) ? "" : ", among other text";
  return `${found.encoding} digest of the ${found.content}, keyed with ${found.key}${inside}`;
}

/** By which part of its length, and by how many seconds, a gap may be longer or shorter: jitter, and the way there. */
const TOLERANCE = 0.12;
const LEAST_TOLERANCE = 1.5;

function observeSchedule(deliveries: readonly RecordedDelivery[], sightings: Sightings): void {
  const timed = deliveries.filter(({ at, headers }) => !Number.isNaN(at) && headers["x-webhook-id"] !== undefined);
  const end = timed.reduce((latest, { at }) => Math.max(latest, at), 0);
  const groups = new Map<string, RecordedDelivery[]>();
  for (const delivery of timed) {
    const name = `${delivery.headers["x-webhook-id"]} ${delivery.url}`;
    groups.set(name, [...(groups.get(name) ?? []), delivery]);
  }
  for (const group of groups.values())
    observeAttempts(
      group.toSorted((one, other) => one.at - other.at),
      end,
      sightings,
    );
}

const failed = ({ status }: RecordedDelivery) => status === undefined || status < 200 || status >= 300;

function observeAttempts(attempts: readonly RecordedDelivery[], end: number, sightings: Sightings): void {
  for (const [index, delivery] of attempts.entries()) {
    const fact = sightings.fact(`webhook.schedule.${index + 1}`);
    const next = attempts[index + 1];
    // After a success come replays, which have no schedule; so do attempts whose own numbers are others.
    if (!failed(delivery) || (delivery.attempt ?? index + 1) !== index + 1) return;
    const expected = Number(fact?.value ?? 0);
    const tolerance = Math.max(LEAST_TOLERANCE, expected * TOLERANCE);
    if (next === undefined) {
      const isOver = end - delivery.at > (expected * 2 + tolerance) * 1_000;
      if (fact && isOver && delivery.status !== undefined) sightings.see(fact.id, "no attempt", false, delivery);
      return;
    }
    if ((next.attempt ?? index + 2) !== index + 2) return;
    const gap = (next.at - delivery.at) / 1_000;
    if (fact)
      sightings.see(
        fact.id,
        Math.abs(gap - expected) <= tolerance ? expected : Math.round(gap),
        Math.abs(gap - expected) <= tolerance,
        next,
      );
  }
}
