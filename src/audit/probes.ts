// The probes of an audit: the request of each, the expected response, and the reason; and the deliveries that they
// send.

import type { Clock } from "../kernel/clock.ts";
import { escapedJson, indentedJson, VERIFY_RAW_BYTES } from "../kernel/json-forms.ts";
import type { Random } from "../kernel/random.ts";
import type { Outcome } from "../webhooks/http/outcome.ts";

export interface Probe {
  id: string;
  sent: string;
  /**
   * `accepted`: 2xx for each delivery. `rejected`: 4xx for each. `either`: 4xx, or 2xx if the receiver verifies
   * signatures.
   */
  expected: "accepted" | "rejected" | "either";
  should: string;
  why: string;
  /** Whether the probe needs no secret. A receiver that accepts such a probe accepts forged events. */
  isForgery?: true;
  /** The reason that these outcomes show, if any. `forged` are the outcomes of events with a bad signature. */
  explains?(outcomes: readonly Outcome[], forged: readonly Outcome[]): string | undefined;
  /** Whether the probe is tried even if the receiver rejects a genuine event, because it can show why. */
  isTriedAlways?: true;
  /** Sends all deliveries at the same time (default: one after another). */
  isBurst?: true;
  deliveries(make: TestDeliveries): TestDelivery[];
}

export const isAccepted = ({ responseStatus }: Outcome) =>
  responseStatus !== null && responseStatus >= 200 && responseStatus < 300;
export const isRejected = ({ responseStatus }: Outcome) =>
  responseStatus !== null && responseStatus >= 400 && responseStatus < 500;

const BURST = 200;
const LARGE = 200 * 1_024;
const TAKE = "answer 2xx";
const UNUSUAL_TEXT = { description: "Café, https://example.test/é" };

/** The first probe must send a genuine event: if the receiver rejects it, rejecting forgeries proves nothing. */
export const probes: readonly [Probe, ...Probe[]] = [
  {
    id: "valid_event",
    sent: "a genuine event",
    expected: "accepted",
    should: "answer 2xx within 5 s",
    why: "The sender counts anything else as a failure and retries. Respond first, then do the work that takes long.",
    deliveries: (make) => [make.genuine()],
  },
  {
    id: "bad_signature",
    sent:
      "events signed with another secret, with the last eight digits of the signature changed, and with a " +
      "signature of eight digits",
    expected: "rejected",
    should: "answer 401 to each",
    why:
      "Compare whole signatures in constant time, after comparing their lengths: " +
      "timingSafeEqual throws on buffers of different lengths.",
    isForgery: true,
    deliveries: (make) => [
      withSignature(make.genuine(), ({ body }) => make.signWithWrongSecret(body)),
      withSignature(
        make.genuine(),
        ({ signature = "" }) => signature.slice(0, -8) + (signature.endsWith("00000000") ? "11111111" : "00000000"),
      ),
      withSignature(make.genuine(), () => "deadbeef"),
    ],
  },
  {
    id: "missing_signature",
    sent: "an event without X-Webhook-Signature, and one in which it is empty",
    expected: "rejected",
    should: "answer 401 to each",
    why: "A check that is skipped when the header is missing can be skipped by any sender.",
    isForgery: true,
    deliveries: (make) => [withSignature(make.genuine(), () => undefined), withSignature(make.genuine(), () => "")],
  },
  {
    id: "body_changed",
    sent: "a genuine event, then another event with the same signature: a new id and a thousand times the amount",
    expected: "rejected",
    should: "answer 401 to the second",
    why:
      "Compute the signature over the exact bytes of each request; " +
      "a signature of an earlier request proves nothing.",
    isForgery: true,
    deliveries(make) {
      const genuine = make.genuine();
      return [genuine, withSignature(make.genuine({ data: { amount: 12_500_000 } }), () => genuine.signature)];
    },
  },
  {
    id: "raw_bytes",
    sent: "genuine events in one line, indented, with escaped characters, and with a number written as 1.0",
    expected: "accepted",
    should: TAKE,
    why: "The signature covers the bytes that were sent. Verify them before anything parses the body.",
    isTriedAlways: true,
    explains(outcomes, forged) {
      const rejected = outcomes.filter(isRejected);
      if (rejected.length === 0 || !outcomes.some(isAccepted)) return undefined;
      // Another status than that of forgeries comes from reading the event, not from its signature.
      const isSignature = rejected.every((one) => forged.some((other) => other.responseStatus === one.responseStatus));
      return isSignature
        ? VERIFY_RAW_BYTES
        : "Read events with a JSON parser: their white space and escapes may differ.";
    },
    deliveries: (make) => [
      make.genuine({ write: JSON.stringify }),
      make.genuine({ write: indentedJson }),
      make.genuine({ data: UNUSUAL_TEXT, write: escapedJson }),
      make.genuine({
        data: { exchangeRate: 1 },
        write: (event) => indentedJson(event).replace(/("exchangeRate": 1)/, "$1.0"),
      }),
    ],
  },
  {
    id: "same_event_twice",
    sent: "the same event, twice",
    expected: "accepted",
    should: "answer 2xx to both, and act on one",
    why: "Every event is delivered at least once. A duplicate that is rejected is retried again and again.",
    deliveries(make) {
      const delivery = make.genuine();
      return [delivery, delivery];
    },
  },
  {
    id: "out_of_order",
    sent: "a refund, then the older event that says its payment succeeded",
    expected: "accepted",
    should: "answer 2xx to both, and keep the newer state",
    why:
      "Events come in no guaranteed order. Compare `created`, or read the record again; " +
      "do not reject an event because it is late.",
    deliveries(make) {
      const data = { id: "pay_audit_order", reference: "AUDIT-ORDER" };
      const refunded = { ...data, status: "refunded", refundedAmount: 12_500 };
      return [make.genuine({ type: "payment.refunded", data: refunded }), make.genuine({ age: 60, data })];
    },
  },
  {
    id: "unknown_type",
    sent: "an event of a type that does not exist yet",
    expected: "accepted",
    should: TAKE,
    why:
      "New types reach endpoints that subscribe to `*` without notice. " +
      "Accept the types that you do not handle, and ignore them.",
    deliveries: (make) => [make.genuine({ type: "tomorrow.invented" })],
  },
  {
    id: "extra_fields",
    sent: "an event with unknown fields, in the event and in its record",
    expected: "accepted",
    should: TAKE,
    why: "Fields are added without notice. Read the fields that you need and ignore the others.",
    deliveries: (make) => [
      make.genuine({ data: { addedTomorrow: { deep: [1, null] } }, more: { addedTomorrow: true } }),
    ],
  },
  {
    id: "invalid_json",
    sent: "half of an event, correctly signed",
    expected: "either",
    should: "answer 400, or 2xx after it verified the signature and stored the raw body",
    why:
      "The signature is right, so storing the body for later is safe. A 500 shows that the receiver failed on it; " +
      "without a signature check, a 2xx claims that the event was processed.",
    deliveries(make) {
      const delivery = make.genuine();
      const body = delivery.body.slice(0, delivery.body.length / 2);
      return [{ ...delivery, body, signature: make.sign(body) }];
    },
  },
  {
    id: "slow_send",
    sent: "a genuine event whose body takes two seconds to arrive",
    expected: "accepted",
    should: TAKE,
    why: "A body may arrive in any number of pieces; the signature covers all of them.",
    deliveries: (make) => [make.genuine({ slow: true })],
  },
  {
    id: "large_body",
    sent: "a genuine event of 200 KB",
    expected: "accepted",
    should: TAKE,
    why: "Events carry whole records. Common body parsers stop at 100 KB by default.",
    deliveries: (make) => [make.genuine({ data: { description: "A long story. ".repeat(Math.ceil(LARGE / 14)) } })],
  },
  {
    id: "burst",
    sent: `${BURST} genuine events at once`,
    expected: "accepted",
    should: "answer 2xx to all",
    why: "A payroll or an import makes hundreds of events at once. Put them into a queue, respond, then process them.",
    isBurst: true,
    deliveries: (make) => Array.from({ length: BURST }, () => make.genuine()),
  },
];

const withSignature = (
  delivery: TestDelivery,
  signatureOf: (delivery: TestDelivery) => string | undefined,
): TestDelivery => ({
  ...delivery,
  signature: signatureOf(delivery),
});

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
  /** How the event becomes text (default: as the sandbox writes events). */
  write?(event: object): string;
}

export interface TestDeliveryOptions {
  clock: Clock;
  random: Random;
  sign(body: string, secret: string): string;
  /** Writes an event as the sandbox sends it. */
  writeEvent(event: object): string;
}

/** Makes deliveries for one receiver. Each event has a new id. */
export function createTestDeliveries(
  { clock, random, sign, writeEvent }: TestDeliveryOptions,
  secret: string,
  run: number,
) {
  let number = 0;
  const began = clock.now();
  const genuine = ({
    type = "payment.succeeded",
    age = 0,
    data,
    more,
    slow,
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
      data: { ...payment(number, created), ...data },
      ...more,
    };
    const body = write(event);
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
