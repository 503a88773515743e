// The deliveries of an audit, signed for one receiver. A template determines the type and the record of each event.

import type { Clock } from "../kernel/clock.ts";
import type { Random } from "../kernel/random.ts";

export interface TestDelivery {
  eventId: string;
  eventType: string;
  body: string;
  /** Undefined: no signature is sent. */
  signature: string | undefined;
  /** Sends the body in pieces with pauses between them, or closes the connection before the response. */
  transport?: "slow_send" | "hang_up";
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
  transport?: TestDelivery["transport"];
  /** Converts the event to text (default: in the sandbox's own form). */
  write?(event: object): string;
}

export interface TestDeliveryOptions {
  clock: Clock;
  random: Random;
  sign(body: string, secret: string): string;
  /** Writes an event as the sandbox sends it. */
  writeEvent(event: object): string;
}

/** The type of the events, and the record of the event with this number. */
export interface EventTemplate {
  type: string;
  record(number: number, created: number): Record<string, unknown>;
  /** A later event of the same record: its type, and the fields that have changed. */
  later: { type: string; data: Record<string, unknown> };
}

/** Makes deliveries for one receiver. Each event has a new id. */
export function createTestDeliveries(
  { clock, random, sign, writeEvent }: TestDeliveryOptions,
  secret: string,
  run: number,
  template: EventTemplate,
) {
  let number = 0;
  const began = clock.now();
  const genuine = ({
    type = template.type,
    age = 0,
    data,
    more,
    transport,
    write = writeEvent,
  }: EventChanges = {}): TestDelivery => {
    const id = random.id("evt", "audit", began, run, ++number);
    const created = clock.seconds() - age;
    const event = {
      id,
      object: "event",
      type,
      created,
      livemode: false,
      merchantId: "mer_audit",
      data: { ...template.record(number, created), ...data },
      ...more,
    };
    const body = write(event);
    return { eventId: id, eventType: type, body, signature: sign(body, secret), ...(transport && { transport }) };
  };
  return {
    genuine,
    /** Two events of one record, the later one first. */
    outOfOrder() {
      const { id } = template.record(0, 0);
      const { type, data } = template.later;
      return [genuine({ type, data: { ...data, id } }), genuine({ age: 60, data: { id } })];
    },
    /** Signs a body with the receiver's secret. */
    sign: (body: string) => sign(body, secret),
    signWithWrongSecret: (body: string) => sign(body, `${secret.slice(0, -1)}${secret.endsWith("0") ? "1" : "0"}`),
  };
}

/** Events that are like a logged one, each about a record with an id of its own. */
export const likeEvent = (type: string, data: Record<string, unknown>): EventTemplate => ({
  type,
  record: (number) => ({ ...data, ...(typeof data.id === "string" && { id: `${data.id}_audit_${number}` }) }),
  later: { type, data: {} },
});

export const paymentEvents: EventTemplate = {
  type: "payment.succeeded",
  record: payment,
  later: { type: "payment.refunded", data: { status: "refunded", refundedAmount: 12_500 } },
};

function payment(number: number, created: number) {
  return {
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
  };
}
