// Everything that a receiver is tried with: what is sent, what it should do, and why.

import type { Packer, Parcel } from "./test-deliveries.ts";

export interface Probe {
  id: string;
  /** What is sent, in a few words. */
  sent: string;
  /** `taken`: 2xx for each. `refused`: 4xx for each. */
  wanted: "taken" | "refused";
  should: string;
  why: string;
  /** Somebody who does not know the secret could have sent it: a receiver that takes it is open to anybody. */
  isForgery?: true;
  /** All are sent at the same time; otherwise each waits for the answer to the one before. */
  isBurst?: true;
  parcels(packer: Packer): Parcel[];
}

const BURST = 200;
const LARGE = 200 * 1_024;
const TAKE = "answer 2xx";

/** The first is the one that all others are compared with: what refuses a genuine event says nothing by refusing a forgery. */
export const probes: readonly [Probe, ...Probe[]] = [
  {
    id: "valid_event",
    sent: "a genuine event",
    wanted: "taken",
    should: "answer 2xx within 5 s",
    why: "Anything else is a failure to the sender, which tries again. Work that takes long is done after the answer.",
    parcels: (packer) => [packer.genuine()],
  },
  {
    id: "bad_signature",
    sent: "events signed with another secret, with all but the end of the signature right, and with a signature of eight digits",
    wanted: "refused",
    should: "answer 401 to each",
    why: "Compare whole signatures in constant time, after comparing their lengths: what compares buffers of one length throws on others.",
    isForgery: true,
    parcels: (packer) => [
      altered(packer.genuine(), ({ body }) => packer.signWrongly(body)),
      altered(
        packer.genuine(),
        ({ signature = "" }) => signature.slice(0, -8) + (signature.endsWith("00000000") ? "11111111" : "00000000"),
      ),
      altered(packer.genuine(), () => "deadbeef"),
    ],
  },
  {
    id: "missing_signature",
    sent: "an event without X-Webhook-Signature, and one in which it is empty",
    wanted: "refused",
    should: "answer 401 to each",
    why: "A check that is left out where the header is left out checks nobody.",
    isForgery: true,
    parcels: (packer) => [altered(packer.genuine(), () => undefined), altered(packer.genuine(), () => "")],
  },
  {
    id: "body_changed",
    sent: "a genuine event, then another under its signature: a new id and a thousand times the amount",
    wanted: "refused",
    should: "answer 401 to the second",
    why: "The signature must be computed anew over the very bytes that came; one that was right before proves nothing.",
    isForgery: true,
    parcels(packer) {
      const seen = packer.genuine();
      return [seen, altered(packer.genuine({ data: { amount: 12_500_000 } }), () => seen.signature)];
    },
  },
  {
    id: "same_event_twice",
    sent: "the same event, twice",
    wanted: "taken",
    should: "answer 2xx to both, and act on one",
    why: "Every event comes at least once. A duplicate that is refused is sent again, and again.",
    parcels(packer) {
      const parcel = packer.genuine();
      return [parcel, parcel];
    },
  },
  {
    id: "out_of_order",
    sent: "a refund, then the older event that its payment succeeded",
    wanted: "taken",
    should: "answer 2xx to both, and keep the newer state",
    why: "No order is promised. Compare `created`, or read the record again; do not refuse what is merely late.",
    parcels(packer) {
      const data = { id: "pay_audit_order", reference: "AUDIT-ORDER" };
      const refunded = { ...data, status: "refunded", refundedAmount: 12_500 };
      return [packer.genuine({ type: "payment.refunded", data: refunded }), packer.genuine({ age: 60, data })];
    },
  },
  {
    id: "unknown_type",
    sent: "an event of a type that does not exist yet",
    wanted: "taken",
    should: TAKE,
    why: "New types come without notice to endpoints that want all. What is not of interest is taken and let go.",
    parcels: (packer) => [packer.genuine({ type: "tomorrow.invented" })],
  },
  {
    id: "extra_fields",
    sent: "an event with fields that do not exist yet, in it and in its record",
    wanted: "taken",
    should: TAKE,
    why: "Fields are added without notice. Read those that are needed and leave the others alone.",
    parcels: (packer) => [packer.genuine({ data: { addedTomorrow: { deep: [1, null] } }, more: { addedTomorrow: true } })],
  },
  {
    id: "invalid_json",
    sent: "half of an event, rightly signed",
    wanted: "refused",
    should: "answer 400",
    why: "What cannot be read cannot have been taken; and an answer of 500 says that the receiver broke on it.",
    parcels(packer) {
      const parcel = packer.genuine();
      const body = parcel.body.slice(0, parcel.body.length / 2);
      return [{ ...parcel, body, signature: packer.sign(body) }];
    },
  },
  {
    id: "slow_send",
    sent: "a genuine event whose body takes two seconds to arrive",
    wanted: "taken",
    should: TAKE,
    why: "A body comes in as many pieces as the network likes; the signature is over all of them.",
    parcels: (packer) => [packer.genuine({ slow: true })],
  },
  {
    id: "large_body",
    sent: "a genuine event of 200 KB",
    wanted: "taken",
    should: TAKE,
    why: "Events carry whole records. Common parsers stop at 100 KB unless they are told otherwise.",
    parcels: (packer) => [packer.genuine({ data: { description: "A long story. ".repeat(Math.ceil(LARGE / 14)) } })],
  },
  {
    id: "burst",
    sent: `${BURST} genuine events at once`,
    wanted: "taken",
    should: "answer 2xx to all",
    why: "A payroll or an import makes hundreds of events in a moment. Take them into a queue, then work.",
    isBurst: true,
    parcels: (packer) => Array.from({ length: BURST }, () => packer.genuine()),
  },
];

const altered = (parcel: Parcel, signatureOf: (parcel: Parcel) => string | undefined): Parcel => ({
  ...parcel,
  signature: signatureOf(parcel),
});
