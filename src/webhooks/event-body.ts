// Writes an event as the text that is signed and sent.

import type { MeasuredBehaviour } from "../contracts/fact.ts";
import { indentedJson } from "../kernel/json-forms.ts";
import { oneOf } from "../schema/shapes.ts";
import { type Assumptions, assumedValue, settableFact } from "../store/assumptions.ts";

const WRITERS = { indented: indentedJson, compact: (event: object) => JSON.stringify(event) };

type BodyFormat = keyof typeof WRITERS;

export const bodyFormatFact = settableFact<BodyFormat>(
  "webhooks.body_format",
  "body_format",
  "indented",
  oneOf(Object.keys(WRITERS), ""),
);

/** Writes events in the format that was set. */
export const eventWriterUnder = (set: Assumptions): ((event: object) => string) =>
  WRITERS[assumedValue(set, bodyFormatFact)];

export const behaviours: MeasuredBehaviour[] = [
  {
    id: "webhooks.bodies",
    fact: "The body of an event is JSON over several lines, indented by two spaces.",
    why:
      "The service's documentation shows no spacing. JavaScript writes compact JSON again after parsing. If the " +
      "sandbox sent compact JSON, a receiver that verifies the re-serialised body would pass here, and fail with a " +
      "service that writes it otherwise.",
    facts: [bodyFormatFact],
  },
];
