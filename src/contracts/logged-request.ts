// A request of the log as it is shown: in lists, in reports and on the live stream.

import { nullable, type Static, type TObject, type TUnsafe, Type, timeText } from "../schema/shapes.ts";
import type { RequestMessage } from "./live-messages.ts";

const nullableText = nullable(Type.String());
const explained = (description: string) => Type.Union([Type.String(), Type.Null()], { description });

const fields = {
  id: Type.String(),
  at: timeText("Sandbox time of arrival"),
  method: Type.String(),
  path: Type.String(),
  query: Type.String(),
  operation: nullableText,
  merchant: nullableText,
  status: Type.Integer(),
  durationMs: Type.Number({ description: "Real milliseconds from arrival to response" }),
  idempotencyKey: nullableText,
  replayOf: explained("The request whose stored response was replayed"),
  fault: explained("The fault rules that affected it, separated by commas"),
};

/** What only the control API shows. */
const details = {
  key: explained("The last characters of the API key"),
};

export const LoggedRequest = Type.Object({ ...fields, ...details }, { title: "logged_request" });
export type LoggedRequest = ReportedRequest & Static<TObject<typeof details>>;

/** For reports, which others read. */
export const ReportedRequest: TUnsafe<ReportedRequest> = Type.Object(fields);
export type ReportedRequest = Omit<RequestMessage, "at"> & { at: string };
