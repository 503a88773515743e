// The deliveries that an audit sends: genuine events with valid or invalid signatures.

import type { Clock } from "../kernel/clock.ts";
import type { Random } from "../kernel/random.ts";

export interface TestDelivery {
  eventId: string;
  eventType: string;
  body: string;
  /** Undefined: no signature is sent. */
  signature: string | undefined;
  /** Sends the body in pieces with pauses between them. */
  slow?: true;
}

export type TestDeliveries = ReturnType<typeof createTestDeliveries>;

interface EventChanges {
  type?: string;
  /** Age of the event in seconds. */
  age?: number;
  /** Fields of the record in the event. */
  data?: Record<string, unknown>;
  /** Fields of the event itself. */
  more?: Record<string, unknown>;
  slow?: true;
}

export interface TestDeliveryOptions {
  clock: Clock;
  random: Random;
  sign(body: string, secret: string): string;
}

/** Makes deliveries for one receiver. Each event has a new id. */
export function createTestDeliveries({ clock, random, sign }: TestDeliveryOptions, secret: string, run: number) {
  let number = 0;
  const began = clock.now();
  const genuine = ({ type = "payment.succeeded", age = 0, data, more, slow }: EventChanges = {}): TestDelivery => {
    const id = random.id("evt", "audit", began, run, ++number);
    const created = clock.seconds() - age;
    const event = {
      id,
      object: "event",
      type,
      created,
      livemode: false,
      merchantId: "mer_audit",
      data: { ...payment(number, created), ...data },
      ...more,
    };
    const body = JSON.stringify(event);
    return { eventId: id, eventType: type, body, signature: sign(body, secret), ...(slow ? { slow } : {}) };
  };
  return {
    genuine,
    /** Signs a body with the receiver's secret. */
    sign: (body: string) => sign(body, secret),
    signWithWrongSecret: (body: string) => sign(body, `${secret.slice(0, -1)}${secret.endsWith("0") ? "1" : "0"}`),
  };
}

const payment = (number: number, created: number) => ({
  id: `pay_audit_${number}`,
  object: "payment",
  merchantId: "mer_audit",
  status: "succeeded",
  amount: 12_500,
  currency: "EUR",
  method: "card",
  customerId: null,
  reference: `AUDIT-${number}`,
  description: "Sent by an audit; no money moved",
  fee: null,
  failureCode: null,
  refundedAmount: 0,
  metadata: {},
  created,
  livemode: false,
});
