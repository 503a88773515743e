// The id of an attempt. It is derived from the delivery, not counted, so concurrent attempts get the same ids in every run.

import { type Random, sortKeyIn } from "../kernel/random.ts";
import type { Delivery } from "../store/webhooks/deliveries.ts";

type DeliveryIdentity = Pick<Delivery, "merchant" | "eventId" | "endpoint" | "replay" | "copy">;

export type AttemptId = (delivery: DeliveryIdentity, attempt: number) => string;

export const createAttemptIds =
  (random: Random): AttemptId =>
  (delivery, attempt) => {
    const { merchant, eventId, endpoint, replay, copy } = delivery;
    return random.sortableId(sortKeyIn(eventId), "whd", merchant, eventId, endpoint, replay, attempt, ...(copy > 0 ? ["copy", copy] : []));
  };
