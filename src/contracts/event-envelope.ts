// The schema of an event, the body of a webhook.

import { assumed } from "../schema/assumed.ts";
import { id, oneOf, Type, text, timestamp } from "../schema/shapes.ts";

const ENVELOPE_WHY = "The service's documentation lists four fields of an event; this one is common and saves the receiver a request.";

export const envelope = Type.Object(
  {
    id: id("evt", "Unique identifier of the event, the same on every attempt; use it to detect duplicates"),
    object: assumed(oneOf(["event"], "Type of the object"), ENVELOPE_WHY),
    type: text("Event type, such as `payment.succeeded`"),
    created: assumed(timestamp("Time at which the event occurred"), ENVELOPE_WHY),
    livemode: Type.Boolean({ const: false, description: "Always false: no money moves here" }),
    merchantId: assumed(id("mer", "Merchant that owns the event"), ENVELOPE_WHY),
    data: assumed(
      Type.Record(Type.Unknown(), { description: "The object at the time of the event" }),
      "The service's documentation shows an amount directly in the data of a test event, so the data is the object itself.",
    ),
  },
  { title: "event" },
);
