// The contract of background traffic: its options and its state.

import { nullable, oneOf, type Static, Type, text, timeText } from "../schema/shapes.ts";

export const MIX =
  'Weights of the kinds of record, such as {"payment": 3, "booking": 1} (default: ' +
  "a mix of the kinds that the merchant has)";

export const TrafficOptions = Type.Object({
  merchant: Type.Optional(text("The merchant that gets the traffic (default: the first one)")),
  rate: Type.Optional(
    text(
      "Actions per unit of time, from 1/d to 100/s (default: 2/s); a merchant without an occasion for one has fewer",
    ),
  ),
  mix: Type.Optional(Type.Unknown({ description: MIX })),
  for: Type.Optional(text("How long it runs, such as 1m (default: until it is stopped)")),
});

export type TrafficOptions = Static<typeof TrafficOptions>;

const counts = (description: string) => Type.Record(Type.Number(), { description });

/** The traffic of a merchant as the control API shows it. */
export const ShownTraffic = Type.Object(
  {
    merchant: Type.String({ description: "The merchant whose traffic it is" }),
    rate: Type.String(),
    for: nullable(Type.String({ description: "How long it runs; null if until it is stopped" })),
    mix: counts("The weight of each kind of record"),
    status: oneOf(
      ["running", "done", "stopped", "failed"],
      "`done` when its time is over, `failed` after an internal error of the sandbox",
    ),
    happened: Type.Integer({ description: "How many actions were performed" }),
    byKind: counts("The same by kind of record"),
    startedAt: timeText("Sandbox time"),
    nextAt: nullable(timeText("Sandbox time of the next action; null if there is none")),
  },
  { title: "traffic" },
);

/** As `ShownTraffic`, with times in sandbox milliseconds. */
export type TrafficState = Omit<Static<typeof ShownTraffic>, "startedAt" | "nextAt"> & {
  startedAt: number;
  nextAt: number | null;
};
