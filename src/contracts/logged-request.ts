// A logged request, as reports and the control API show it.

import { nullable, nullableText, type Static, Type, timeText } from "../schema/shapes.ts";
import { RequestMessage } from "./live-messages.ts";

const request = { ...RequestMessage.properties, at: timeText("Sandbox time of arrival") };

/** A request in a report. Omits the API key, because reports are shared. */
export const ReportedRequest = Type.Object({
  ...request,
  status: nullable(Type.Integer({ description: "Null if no response was sent, or a fault lost it" })),
});

export const LoggedRequest = Type.Object(
  {
    ...request,
    key: nullableText("The last characters of the API key"),
    trace: nullable(
      Type.String({ description: "The trace that its `traceparent` header names: 32 hex digits; null without one" }),
    ),
  },
  { title: "logged_request" },
);

export type ReportedRequest = Static<typeof ReportedRequest>;
export type LoggedRequest = Static<typeof LoggedRequest>;
