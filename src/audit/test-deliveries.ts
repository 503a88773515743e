// What a receiver is sent: genuine events, and the same with one thing wrong.

import type { Clock } from "../kernel/clock.ts";
import type { Random } from "../kernel/random.ts";

/** One delivery: a body, and the signature that comes with it. */
export interface Parcel {
  eventId: string;
  eventType: string;
  body: string;
  /** Undefined sends no signature at all. */
  signature: string | undefined;
  /** Sends the body in pieces with pauses between them. */
  slow?: true;
}

/** Makes parcels for one receiver; no two events have the same id. */
export interface Packer {
  genuine(changes?: EventChanges): Parcel;
  /** The same, signed for another body than the one that is sent, or with another secret. */
  sign(body: string): string;
  signWrongly(body: string): string;
}

export interface EventChanges {
  type?: string;
  /** Seconds that the event is older than it would be. */
  age?: number;
  /** Fields of the record that the event is about. */
  data?: Record<string, unknown>;
  /** Fields of the event itself. */
  more?: Record<string, unknown>;
  slow?: true;
}

export interface PackerNeeds {
  clock: Clock;
  random: Random;
  /** The signature of a body with a secret. */
  sign(body: string, secret: string): string;
}

export function createPacker({ clock, random, sign }: PackerNeeds, secret: string, run: number): Packer {
  let number = 0;
  const began = clock.now();
  const genuine = ({ type = "payment.succeeded", age = 0, data, more, slow }: EventChanges = {}): Parcel => {
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
    sign: (body) => sign(body, secret),
    signWrongly: (body) => sign(body, `${secret.slice(0, -1)}${secret.endsWith("0") ? "1" : "0"}`),
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
