// A trace: the steps of one action, as the control API shows them.

import { nullable, nullableText, oneOf, type Static, Type, timeText } from "../schema/shapes.ts";

export const TraceStep = Type.Object(
  {
    kind: oneOf(["request", "event", "delivery"], "`delivery` is one attempt"),
    id: Type.String(),
    cause: nullableText("The id of the step that it followed from; null for a first one"),
    depth: Type.Integer({ description: "The number of steps above it" }),
    at: timeText("Sandbox time"),
    merchant: nullable(Type.String()),
    text: Type.String({ description: "The call, the type of the event, or the attempt and its URL" }),
    result: nullableText("The status and what it says, or the states of the deliveries"),
    attributedBy: nullable(
      oneOf(
        ["trace", "time"],
        "How the sandbox knows that a receiver made this call: `trace` from its `traceparent`; `time` because it " +
          "arrived during the delivery or soon after, as the judge assumes; null for every other step",
      ),
    ),
  },
  { title: "trace_step" },
);

export type TraceStep = Static<typeof TraceStep>;

export const TimelineStep = Type.Object(
  {
    kind: oneOf(
      ["request", "event", "delivery", "clock"],
      "`delivery` is one attempt; `clock` the event of a change that a date of the record brought",
    ),
    id: Type.String({ description: "Id of the request, the attempt or the event" }),
    at: timeText("Sandbox time"),
    text: Type.String({ description: "The call, the type of the event, or the attempt and its URL" }),
    result: nullableText("The status and what it says, or the states of the deliveries"),
    failed: Type.Boolean({ description: "Whether a request or an attempt failed" }),
  },
  { title: "timeline_step" },
);

export type TimelineStep = Static<typeof TimelineStep>;

export const Trace = Type.Object(
  {
    trace: nullableText("The trace id; null without a `traceparent`"),
    steps: Type.Array(TraceStep),
    has_more: Type.Boolean({ description: "Whether further steps were left out: 200 are shown" }),
  },
  { title: "trace" },
);
