// The probes of an audit: the requests of each, the expected responses and effects, and the reason.

import { parseDuration } from "../kernel/duration.ts";
import { escapedJson, goJson, indentedJson, pythonJson, VERIFY_RAW_BYTES } from "../kernel/json-forms.ts";
import type { Outcome } from "../webhooks/http/outcome.ts";
import type { TestDeliveries, TestDelivery } from "./test-deliveries.ts";

/** How often a correct receiver acts because of a probe. */
export interface EffectRange {
  atLeast: number;
  atMost: number;
}

export const exactly = (number: number): EffectRange => ({ atLeast: number, atMost: number });
export const atMost = (number: number): EffectRange => ({ atLeast: 0, atMost: number });

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
  /** A more precise reason that these outcomes show. `forged` are the outcomes of events with a bad signature. */
  explains?(outcomes: readonly Outcome[], forged: readonly Outcome[]): string | undefined;
  /** Whether the probe is tried even if the receiver rejects a genuine event, because it can show why. */
  isTriedAlways?: true;
  /** The check that stays open if the receiver accepts the event, because the service documents no requirement. */
  unchecked?: string;
  /** Whether all deliveries are sent at the same time (default: one after another). */
  isBurst?: true;
  /** Whether deliveries that are not accepted are sent again, like those of the service. */
  isRetried?: true;
  /** The receiver is restarted before the delivery with this index. */
  restartsBefore?: number;
  /** The outcomes that the expectation is about (default: all). */
  judged?(outcomes: readonly Outcome[]): readonly Outcome[];
  effects: EffectRange;
  deliveries(make: TestDeliveries): TestDelivery[];
}

export const isAccepted = ({ responseStatus }: Outcome) =>
  responseStatus !== null && responseStatus >= 200 && responseStatus < 300;
export const isRejected = ({ responseStatus }: Outcome) =>
  responseStatus !== null && responseStatus >= 400 && responseStatus < 500;

const BURST = 200;
const LARGE = 200 * 1_024;
const TAKE = "answer 2xx";
const FILLED = { metadata: { order: "A-1" } };
const UNUSUAL_TEXT = { description: "Café, https://example.test/é" };

/** `maxAge` is the maximum age that the receiver allows for an event, such as 3d (default: unknown). */
export const oldEventProbe = (maxAge?: string): Probe => {
  const age = maxAge === undefined ? parseDuration("30d", "age") : parseDuration(maxAge, "maxAge") + 60_000;
  const ageText = maxAge === undefined ? "30 days" : `a minute more than ${maxAge}`;
  return {
    id: "old_event",
    sent: `a genuine event whose \`created\` is ${ageText} ago`,
    effects: atMost(1),
    expected: "rejected",
    should: maxAge === undefined ? "answer 400 (required only with --max-age)" : "answer 400",
    why:
      "The signature contains no timestamp, and the service documents no tolerance, so a recorded delivery stays " +
      "valid. Reject events whose signed `created` is older than the longest retry period, or keep event ids " +
      "forever." +
      (maxAge === undefined ? " With --max-age 3d, the audit checks this." : ""),
    ...(maxAge === undefined && { unchecked: "whether it rejects old events" }),
    deliveries: (make) => [make.genuine({ age: age / 1_000 })],
  };
};

/** The first probe must send a genuine event. A receiver that rejects it proves nothing by rejecting forgeries. */
export const probes: readonly [Probe, ...Probe[]] = [
  {
    id: "valid_event",
    sent: "a genuine event",
    effects: exactly(1),
    expected: "accepted",
    should: "answer 2xx within 5 s",
    why: "The sender counts anything else as a failure and retries. Respond first, then do the slow work.",
    deliveries: (make) => [make.genuine()],
  },
  {
    id: "bad_signature",
    sent:
      "events signed with another secret, with the last eight digits of the signature changed, and with a " +
      "signature of eight digits",
    effects: exactly(0),
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
    effects: exactly(0),
    expected: "rejected",
    should: "answer 401 to each",
    why: "A check that is skipped when the header is missing can be skipped by any sender.",
    isForgery: true,
    deliveries: (make) => [withSignature(make.genuine(), () => undefined), withSignature(make.genuine(), () => "")],
  },
  {
    id: "body_changed",
    sent: "a genuine event, then another event with the same signature: a new id and a thousand times the amount",
    effects: exactly(1),
    expected: "rejected",
    should: "answer 401 to the second",
    why:
      "Compute the signature over the exact bytes of each request; " +
      "a signature of an earlier request proves nothing.",
    isForgery: true,
    judged: (outcomes) => outcomes.slice(1),
    deliveries(make) {
      const genuine = make.genuine();
      return [genuine, withSignature(make.genuine({ data: { amount: 12_500_000 } }), () => genuine.signature)];
    },
  },
  {
    id: "raw_bytes",
    sent:
      "genuine events in one line, indented, with spaces, with sorted fields, with escaped characters, and with a " +
      "number written as 1.0",
    effects: exactly(6),
    expected: "accepted",
    should: TAKE,
    why: "The signature covers the bytes that were sent. Verify them before anything parses the body.",
    isTriedAlways: true,
    explains(outcomes, forged) {
      const rejected = outcomes.filter(isRejected);
      if (rejected.length === 0 || !outcomes.some(isAccepted)) return undefined;
      // If the status differs from the status for forgeries, the receiver failed to parse the event, not to verify it.
      const isSignature = rejected.every((one) => forged.some((other) => other.responseStatus === one.responseStatus));
      return isSignature
        ? VERIFY_RAW_BYTES
        : "Read events with a JSON parser: their white space and escapes may differ.";
    },
    deliveries: (make) => [
      // An empty object would not survive PHP's arrays.
      ...[JSON.stringify, indentedJson, pythonJson, goJson].map((write) => make.genuine({ data: FILLED, write })),
      make.genuine({ data: { ...FILLED, ...UNUSUAL_TEXT }, write: escapedJson }),
      make.genuine({
        data: { ...FILLED, exchangeRate: 1 },
        write: (event) => indentedJson(event).replace(/("exchangeRate": 1)/, "$1.0"),
      }),
    ],
  },
  {
    id: "same_event_twice",
    sent: "the same event, twice",
    effects: exactly(1),
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
    sent: "an event, then an older one about the same record, such as a refund before its payment",
    effects: atMost(2),
    expected: "accepted",
    should: "answer 2xx to both, and keep the newer state",
    why:
      "Events come in no guaranteed order. Compare `created`, or read the record again; " +
      "do not reject an event because it is late.",
    deliveries: (make) => make.outOfOrder(),
  },
  oldEventProbe(),
  {
    id: "unknown_type",
    sent: "an event of a type that does not exist yet",
    effects: atMost(1),
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
    effects: exactly(1),
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
    effects: atMost(1),
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
    effects: exactly(1),
    expected: "accepted",
    should: TAKE,
    why: "A body may arrive in any number of pieces; the signature covers all of them.",
    deliveries: (make) => [make.genuine({ transport: "slow_send" })],
  },
  {
    id: "large_body",
    sent: "a genuine event of 200 KB",
    effects: exactly(1),
    expected: "accepted",
    should: TAKE,
    why:
      "Events carry whole records. Common body parsers stop at 100 KB by default: " + 'in Express, set limit: "1mb".',
    deliveries: (make) => [make.genuine({ data: { description: "A long story. ".repeat(Math.ceil(LARGE / 14)) } })],
  },
  {
    id: "burst",
    sent: `${BURST} genuine events at once`,
    effects: exactly(BURST),
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
