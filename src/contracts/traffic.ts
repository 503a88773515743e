// The contract of background traffic: its options and its state.

import { nullable, oneOf, type Static, Type, timeText } from "../schema/shapes.ts";

/** Options before validation. */
export interface TrafficOptions {
  merchant?: string | undefined;
  rate?: string | undefined;
  for?: string | undefined;
  mix?: unknown;
}

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
export type TrafficState = Omit<Static<typeof ShownTraffic>, "startedAt" | "nextAt"> & { startedAt: number; nextAt: number | null };
