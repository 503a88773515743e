// A request of the log as it is shown: in lists, in reports and on the live stream.

import { nullable, type TUnsafe, Type, timeText } from "../schema/shapes.ts";
import type { RequestMessage } from "./live-messages.ts";

const nullableText = nullable(Type.String());
const explained = (description: string) => Type.Union([Type.String(), Type.Null()], { description });

const { key, ...fields } = {
  id: Type.String(),
  at: timeText("Sandbox time of arrival"),
  method: Type.String(),
  path: Type.String(),
  query: Type.String(),
  operation: nullableText,
  merchant: nullableText,
  status: Type.Integer(),
  durationMs: Type.Number({ description: "Real milliseconds from arrival to response" }),
  key: explained("The last characters of the API key"),
  idempotencyKey: nullableText,
  replayOf: explained("The request whose stored response was replayed"),
  fault: explained("The fault rules that affected it, separated by commas"),
};

export const LoggedRequest = Type.Object({ ...fields, key }, { title: "logged_request" });
export type LoggedRequest = ReportedRequest & { key: string | null };

/** Without the key, for reports that others read. */
export const ReportedRequest: TUnsafe<ReportedRequest> = Type.Object(fields);
export type ReportedRequest = Omit<RequestMessage, "at"> & { at: string };
