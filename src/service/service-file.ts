// The format of a service file: how the real service differs from the sandbox, fact by fact.

import { type Static, Type } from "../schema/shapes.ts";

const Value = Type.Union([Type.String({ maxLength: 200 }), Type.Number(), Type.Boolean(), Type.Array(Type.String({ maxLength: 200 }))], {
  description: "What the service does, in the form of the fact's value in the list of assumptions",
});

const Observed = Type.Object(
  {
    value: Value,
    seen: Type.Optional(Type.Integer({ description: "How often a recording shows the value", minimum: 1 })),
    in: Type.Optional(Type.Array(Type.String(), { description: "Entries of the recording that show it, such as `shop.har#12`" })),
  },
  { description: "A value with its evidence", additionalProperties: false },
);

const Question = Type.Object(
  {
    fact: Type.String({ description: "The id of the fact" }),
    seen: Type.Array(Type.Object({ value: Value, count: Type.Integer({ minimum: 1 }) }), { description: "The values that were seen" }),
    why: Type.Optional(Type.String({ description: "Why the recording does not decide it" })),
  },
  { description: "A fact on which the observations disagree, or are too few; the sandbox ignores it", additionalProperties: false },
);

export const serviceFileSchema = Type.Object(
  {
    $schema: Type.Optional(Type.String({ description: "The address of this schema, for editors" })),
    facts: Type.Record(Type.Union([Value, Observed]), {
      description:
        "Values by the id of the fact, such as `payments.create.status`. `payments.create/error.invalid_state.status` holds for one operation. The list of assumptions has every id",
    }),
    questions: Type.Optional(Type.Array(Question, { description: "Left for a person to decide" })),
  },
  { title: "service.json", description: "How the real service differs from the sandbox", additionalProperties: false },
);

export type ServiceFile = Static<typeof serviceFileSchema>;

/** The value of an entry, with or without evidence. */
export const entryValue = (entry: ServiceFile["facts"][string]) =>
  typeof entry === "object" && !Array.isArray(entry) ? entry.value : entry;
