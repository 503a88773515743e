// The schemas of an event, which is the body of a webhook, and of the body of an error.

import { assumed } from "../schema/assumed.ts";
import { id, oneOf, Type, text, timestamp } from "../schema/shapes.ts";

const ENVELOPE_WHY =
  "The service's documentation lists four fields of an event; this one is common and saves the receiver a request.";

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
      "The service's documentation shows an amount directly in the data of a test event, so the data is the " +
        "object itself.",
    ),
  },
  { title: "event" },
);

const fieldError = Type.Object({
  pointer: text("JSON Pointer to the field"),
  field: text("Path of the field in dot notation"),
  code: text("Code of the validation error"),
  message: text("Description of the validation error"),
});

export const errorObject = Type.Object(
  {
    error: text("Category of the error"),
    message: Type.Optional(text("Description of the error and how to fix it")),
    code: Type.Optional(text("Error code for the exact condition")),
    details: Type.Optional(
      assumed(
        Type.Object(
          {
            requestId: Type.Optional(text("Id of the request in the sandbox's request log")),
            errors: Type.Optional(Type.Array(fieldError, { description: "Validation errors, one per invalid field" })),
          },
          {
            description: "Machine-readable details; further fields depend on the error code",
            additionalProperties: true,
          },
        ),
        "The service's documentation says that `details` is an object but not what it contains.",
      ),
    ),
  },
  { title: "error", description: "The body of every response with a status of 400 or above" },
);
