// What fault rules make of the request of an attempt: another signature, another body, another way of sending it.

import type { DeliveryEffect, DeliveryInjection } from "../../contracts/fault.ts";
import type { Random } from "../../kernel/random.ts";
import { pointerSegments } from "../../schema/validator.ts";
import type { AttemptFault } from "../../store/webhooks/attempts.ts";
import type { Delivery, Receiver } from "../../store/webhooks/deliveries.ts";
import type { WebhookRequest } from "../http/sender.ts";
import { sign } from "../signature.ts";

type Fields = Record<string, unknown>;
type Kind = DeliveryEffect["kind"];
export type EffectOf<K extends Kind> = Extract<DeliveryEffect, { kind: K }>;

interface About {
  delivery: Delivery;
  receiver: Receiver;
  random: Random;
}

const SIGNATURE = "X-Webhook-Signature";
const UNKNOWN_TYPE = "sandbox.unheard_of";

const NONE: readonly never[] = [];

/** What rules decided about the attempt to come, or under way. */
export const injectionsOf = ({ decided }: Delivery): readonly DeliveryInjection[] =>
  decided === null ? NONE : (JSON.parse(decided) as DeliveryInjection[]);

export function effectOf<K extends Kind>(injections: readonly DeliveryInjection[], kind: K): EffectOf<K> | undefined {
  for (const { effect } of injections) if (effect.kind === kind) return effect as EffectOf<K>;
  return undefined;
}

export const disturbed = (usual: WebhookRequest, injections: readonly DeliveryInjection[], about: About): WebhookRequest =>
  injections.reduce((plan, { effect }) => disturb(plan, effect, about), usual);

function disturb(plan: WebhookRequest, effect: DeliveryEffect, about: About): WebhookRequest {
  if (effect.kind === "drop") return { ...plan, transport: "drop" };
  if (effect.kind === "signature") return badlySigned(plan, effect.as, about);
  if (effect.kind === "payload") return changed(plan, effect, about.receiver.secret);
  if (effect.kind !== "transport") return plan;
  if (effect.as === "wrong_content_type") return withHeaders(plan, { "Content-Type": "text/plain" });
  return { ...plan, transport: effect.as };
}

/** What the log keeps of it; null when no rule had a hand in it. */
export function noteOf(injections: readonly DeliveryInjection[], { headers, body }: WebhookRequest, copy: number): AttemptFault | null {
  const [first] = injections;
  if (!first) return null;
  const effects = injections.map(({ effect, firing: { ruleId, action } }) => ({ id: ruleId, action, effect }));
  return { id: first.firing.ruleId, name: first.firing.name, effects, copy, wouldHaveSent: { headers, body } };
}

function badlySigned(plan: WebhookRequest, as: EffectOf<"signature">["as"], { delivery, receiver, random }: About): WebhookRequest {
  const { body, headers } = plan;
  // Nobody was ever told it.
  const strange = `whsec_${random.hex(32, "wrong_secret", delivery.merchant, delivery.endpoint)}`;
  switch (as) {
    case "missing": {
      const { [SIGNATURE]: _, ...others } = headers;
      return { ...plan, headers: others };
    }
    case "wrong_secret":
      return withHeaders(plan, { [SIGNATURE]: sign(body, strange) });
    // Of a secret that was never rotated, the one before it is as good as any.
    case "previous_secret":
      return withHeaders(plan, { [SIGNATURE]: sign(body, receiver.previousSecret ?? strange) });
    case "body_changed":
      return withBody(plan, rewritten(body, { tampered: true }), headers[SIGNATURE] ?? "");
    // Half of the right one: whoever compares without looking at the length stumbles.
    case "malformed":
      return withHeaders(plan, { [SIGNATURE]: (headers[SIGNATURE] ?? "").slice(0, 32) });
  }
}

function changed(plan: WebhookRequest, effect: EffectOf<"payload">, secret: string): WebhookRequest {
  const body = changedBody(plan.body, effect);
  const signed = withBody(plan, body, sign(body, secret));
  return effect.as === "unknown_type" ? withHeaders(signed, { "X-Webhook-Event": UNKNOWN_TYPE }) : signed;
}

function changedBody(body: string, { as, patch }: EffectOf<"payload">): string {
  switch (as) {
    case "truncate":
      return body.slice(0, Math.ceil(body.length / 2));
    case "invalid_json":
      return `${body.slice(0, -1)},,}`;
    case "unknown_type":
      return rewritten(body, { type: UNKNOWN_TYPE });
    case "extra_field":
      return rewritten(body, { addedLater: { by: "a later version" } });
    case "patch": {
      const patched = Object.entries(patch).reduce(
        (event, [pointer, value]) => put(event, pointerSegments(pointer), value),
        JSON.parse(body),
      );
      return JSON.stringify(patched);
    }
  }
}

const rewritten = (body: string, fields: Fields) => JSON.stringify({ ...(JSON.parse(body) as Fields), ...fields });

/** A copy in which something else stands at the end of a path; what is missing on the way is made. Names are only ever a copy's own. */
function put(value: unknown, [step, ...rest]: readonly string[], wanted: unknown): unknown {
  if (step === undefined) return wanted;
  if (Array.isArray(value) && /^(\d+|-)$/.test(step)) {
    const place = step === "-" ? value.length : Number(step);
    return [...value.slice(0, place), put(value[place], rest, wanted), ...value.slice(place + 1)];
  }
  const entries = typeof value === "object" && value !== null ? Object.entries(value) : [];
  const known = entries.find(([name]) => name === step);
  if (!known) return Object.fromEntries([...entries, [step, put(undefined, rest, wanted)]]);
  return Object.fromEntries(entries.map(([name, child]) => [name, name === step ? put(child, rest, wanted) : child]));
}

const withHeaders = (plan: WebhookRequest, headers: Record<string, string>): WebhookRequest => ({
  ...plan,
  headers: { ...plan.headers, ...headers },
});

const withBody = (plan: WebhookRequest, body: string, signature: string): WebhookRequest =>
  withHeaders({ ...plan, body }, { [SIGNATURE]: signature, "Content-Length": String(Buffer.byteLength(body)) });
