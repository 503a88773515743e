// Changes that the sandbox clock causes, as the control API shows them.

import { nullable, nullableText, type Static, Type, timeText } from "../schema/shapes.ts";

/** A record's arrival in a state, or a consequence for another record. */
export const LifeChange = Type.Object(
  {
    at: timeText("Sandbox time"),
    merchant: Type.String(),
    kind: Type.String({ description: "Kind of record, such as `payout`" }),
    id: Type.String({ description: "The record" }),
    from: nullable(
      Type.String({ description: "Its state before; null for a new record, and for a consequence of another change" }),
    ),
    to: nullableText("Its state after; null for a record without states"),
    event: nullableText("Type of the event; null if the change has none"),
    amount: nullable(Type.Integer({ description: "In the currency's smallest unit; for a payroll, the net total" })),
    currency: nullable(Type.String()),
  },
  { title: "life_change" },
);

export type LifeChange = Static<typeof LifeChange>;
