// Content faults change the request of an attempt: its signature, its body, or how it is sent.

import type { AttemptFault, DeliveryEffect, DeliveryInjection } from "../contracts/fault.ts";
import { EVENT_HEADER, SIGNATURE_HEADER, type WebhookRequest } from "../contracts/webhook.ts";
import { escapedJson, indentedJson } from "../kernel/json-forms.ts";
import type { JsonObject } from "../kernel/json-object.ts";
import type { Random } from "../kernel/random.ts";
import type { Sign } from "../kernel/signature-forms.ts";
import { pointerSegments } from "../schema/json-pointer.ts";
import { type TSchema, Type } from "../schema/shapes.ts";
import type { Delivery, Receiver } from "../store/webhooks/deliveries.ts";
import { evolved } from "./changed-json.ts";

export type EffectOf<Kind extends DeliveryEffect["kind"]> = Extract<DeliveryEffect, { kind: Kind }>;

/** The schema of the records of a kind; undefined for an unknown kind. */
export type SchemaOf = (kind: string) => TSchema | undefined;

interface FaultContext {
  schemaOf: SchemaOf;
  sign: Sign;
  delivery: Delivery;
  receiver: Receiver;
  random: Random;
}

const UNKNOWN_TYPE = "sandbox.unheard_of";

/** The faults that rules have decided on for the next attempt, or for the attempt in flight. */
export const injectionsOf = ({ decided }: Delivery): readonly DeliveryInjection[] =>
  decided === null ? [] : (JSON.parse(decided) as DeliveryInjection[]);

export function effectOf<Kind extends DeliveryEffect["kind"]>(
  injections: readonly DeliveryInjection[],
  kind: Kind,
): EffectOf<Kind> | undefined {
  for (const { effect } of injections) if (effect.kind === kind) return effect as EffectOf<Kind>;
  return undefined;
}

export const applyFaults = (
  intended: WebhookRequest,
  injections: readonly DeliveryInjection[],
  context: FaultContext,
): WebhookRequest => injections.reduce((request, { effect }) => applyEffect(request, effect, context), intended);

function applyEffect(request: WebhookRequest, effect: DeliveryEffect, context: FaultContext): WebhookRequest {
  if (effect.kind === "drop") return { ...request, transport: "drop" };
  if (effect.kind === "signature") return corruptSignature(request, effect.as, context);
  if (effect.kind === "payload") return changePayload(request, effect, context);
  if (effect.kind !== "transport") return request;
  if (effect.as === "wrong_content_type") return withHeader(request, "Content-Type", "text/plain");
  return { ...request, transport: effect.as };
}

/** The faults of an attempt, for the delivery log; null without any. */
export function attemptFaultOf(
  injections: readonly DeliveryInjection[],
  { headers, body }: WebhookRequest,
  copy: number,
): AttemptFault | null {
  const [first] = injections;
  if (!first) return null;
  const effects = injections.map(({ effect, firing: { ruleId, action } }) => ({ id: ruleId, action, effect }));
  return { id: first.firing.ruleId, name: first.firing.name, effects, copy, wouldHaveSent: { headers, body } };
}

function corruptSignature(
  request: WebhookRequest,
  as: EffectOf<"signature">["as"],
  context: FaultContext,
): WebhookRequest {
  const { delivery, receiver, random, sign } = context;
  const { body, headers } = request;
  // A secret that no endpoint ever had.
  const foreignSecret = `whsec_${random.hex(32, "wrong_secret", delivery.merchant, delivery.endpoint)}`;
  const own = headers[SIGNATURE_HEADER] ?? "";
  const signedWith = (secret: string) => withHeader(request, SIGNATURE_HEADER, sign(body, secret, delivery.eventId));
  switch (as) {
    case "missing": {
      const { [SIGNATURE_HEADER]: _, ...others } = headers;
      return { ...request, headers: others };
    }
    case "wrong_secret":
      return signedWith(foreignSecret);
    // Before the first rotation, an endpoint has no previous secret.
    case "previous_secret":
      return signedWith(receiver.previousSecret ?? foreignSecret);
    case "body_changed":
      return withBody(request, rewritten(body, { tampered: true }));
    // A receiver that hashes the parsed body instead of the bytes computes this signature.
    case "reserialised":
      return withHeader(request, SIGNATURE_HEADER, sign(reformatted(body), receiver.secret, delivery.eventId));
    // Half of the correct signature. A receiver that compares without checking the length first may throw.
    case "malformed":
      return withHeader(request, SIGNATURE_HEADER, own.slice(0, 32));
  }
}

function changePayload(request: WebhookRequest, effect: EffectOf<"payload">, context: FaultContext): WebhookRequest {
  const { delivery, receiver, sign } = context;
  const body = changedBody(request.body, effect, context.schemaOf);
  const signed = withHeader(withBody(request, body), SIGNATURE_HEADER, sign(body, receiver.secret, delivery.eventId));
  return effect.as === "unknown_type" ? withHeader(signed, EVENT_HEADER, UNKNOWN_TYPE) : signed;
}

function changedBody(body: string, { as, patch }: EffectOf<"payload">, schemaOf: SchemaOf): string {
  switch (as) {
    case "truncate":
      return body.slice(0, Math.ceil(body.length / 2));
    case "invalid_json":
      return `${body.slice(0, -1)},,}`;
    case "unknown_type":
      return rewritten(body, { type: UNKNOWN_TYPE });
    case "extra_field":
      return rewritten(body, { addedLater: { by: "a later version" } });
    case "evolve": {
      const event = JSON.parse(body) as JsonObject;
      const { object } = event.data as { object?: unknown };
      const data = typeof object === "string" ? schemaOf(object) : undefined;
      return writtenLike(body, evolved(event, data && Type.Object({ data }), "everything"));
    }
    case "reformat": {
      const event = JSON.parse(body);
      return body === JSON.stringify(event) ? indentedJson(event) : escapedJson(event);
    }
    case "patch": {
      const patched = Object.entries(patch).reduce(
        (event, [pointer, value]) => setAt(event, pointerSegments(pointer), value),
        JSON.parse(body),
      );
      return writtenLike(body, patched);
    }
  }
}

/** Reformats the event: indents a body of one line, and puts an indented body on one line. */
function reformatted(body: string): string {
  const event = JSON.parse(body);
  const compact = JSON.stringify(event);
  return body === compact ? indentedJson(event) : compact;
}

const rewritten = (body: string, fields: JsonObject) =>
  writtenLike(body, { ...(JSON.parse(body) as JsonObject), ...fields });

/** Keeps the body's format, one line or indented, so that only the fault changes it. */
const writtenLike = (body: string, event: unknown) =>
  body.includes("\n") ? indentedJson(event) : JSON.stringify(event);

/** A copy with `wanted` at the end of the path. Creates missing objects on the way, and never writes to a prototype. */
function setAt(value: unknown, [step, ...rest]: readonly string[], wanted: unknown): unknown {
  if (step === undefined) return wanted;
  if (Array.isArray(value) && /^(\d+|-)$/.test(step)) {
    const index = step === "-" ? value.length : Number(step);
    return [...value.slice(0, index), setAt(value[index], rest, wanted), ...value.slice(index + 1)];
  }
  const entries = typeof value === "object" && value !== null ? Object.entries(value) : [];
  const known = entries.find(([name]) => name === step);
  if (!known) return Object.fromEntries([...entries, [step, setAt(undefined, rest, wanted)]]);
  return Object.fromEntries(entries.map(([name, child]) => [name, name === step ? setAt(child, rest, wanted) : child]));
}

const withHeader = (request: WebhookRequest, name: string, value: string): WebhookRequest => ({
  ...request,
  headers: { ...request.headers, [name]: value },
});

/** Replaces the body and keeps the signature. */
const withBody = (request: WebhookRequest, body: string): WebhookRequest =>
  withHeader({ ...request, body }, "Content-Length", String(Buffer.byteLength(body)));
