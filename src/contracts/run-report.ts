// The report of a run as data. The control API returns it, and all other formats are made from it.

import { nullable, nullableText, oneOf, type Static, type TSchema, Type } from "../schema/shapes.ts";
import { ReportedRequest } from "./logged-request.ts";
import { AddedSandbox, ShownVerdict, VERDICTS } from "./verdict.ts";

export const REPORT_FORMATS = ["json", "junit", "markdown", "html", "har"] as const;

export type ReportFormat = (typeof REPORT_FORMATS)[number];

const text = Type.String();
const integer = Type.Integer();
const texts = Type.Array(Type.String());
const maybeText = nullable(Type.String());
const counts = (description: string) => Type.Record(Type.Integer(), { description });
const verdict = oneOf(VERDICTS, "");

/** Result of `exec`. Empty in other commands. */
const end = {
  problems: Type.Array(Type.String(), {
    description: "Why the run failed besides its verdicts, such as a condition of `exec --fail-on`",
  }),
  failOn: Type.Union([texts, Type.Null()], {
    description:
      "The conditions of `exec --fail-on`; null outside of `exec`, where each failed verdict fails the report",
  }),
};

const Coverage = Type.Object({
  ...{ operation: text, area: text, method: text, path: text, calls: integer },
  statuses: Type.Array(Type.Object({ status: nullable(Type.Integer()), calls: integer }), {
    description:
      "The count of each declared status, and of every other status that was returned; " +
      "null counts the calls without a response",
  }),
  events: Type.Array(Type.Object({ type: text, count: integer }), {
    description: "The count of each declared event, whatever caused it",
  }),
});

const ReportedScenario = Type.Object({
  ...{ name: text, title: text, merchant: maybeText, score: integer, points: integer, message: text, verdict },
  expectations: Type.Array(Type.Object({ rule: text, points: integer, verdict, score: integer })),
});

const Probe = Type.Object({ probe: text, verdict, sent: text, did: text, should: text, why: text });

const ReceiverCheck = Type.Object({
  kind: oneOf(["audit", "effects"], "An audit, or an expectation of effects"),
  subject: Type.String({ description: "The URL that was audited, or the events whose effects were counted" }),
  ...{ merchant: maybeText, verdict, message: text },
  probes: Type.Array(Probe, { description: "The probes of an audit" }),
});

const ReportedAttempt = Type.Object({
  ...{ id: text, at: text, merchant: text, event: text, type: text, endpoint: text, url: text, trigger: text },
  ...{
    attempt: integer,
    maxAttempts: integer,
    status: text,
    responseStatus: nullable(Type.Integer()),
    error: maybeText,
  },
  request: nullableText("The request that caused the event"),
});

const totals = Type.Object({
  operations: Type.Object({ called: integer, total: integer }),
  events: Type.Object(
    { emitted: integer, delivered: integer, total: integer },
    { description: "Counts of event types" },
  ),
  requests: integer,
  statuses: counts("Requests by class: 2xx, 4xx, 5xx"),
  attempts: integer,
  deliveries: counts("Deliveries by final status, each with all its attempts"),
  notAccepted: Type.Integer({
    description: "Events that an endpoint did not accept: their last attempt failed, and no fault rule had changed it",
  }),
  verdicts: Type.Object({ pass: integer, fail: integer, inconclusive: integer }),
});

const list = <S extends TSchema>(item: S, description: string) => Type.Array(item, { description });

export const RunReport = Type.Object(
  {
    ...end,
    failed: Type.Boolean({ description: "In `exec`, whether it exits with another code than 0" }),
    sandbox: Type.Object({ version: text, url: text, clock: text, now: text }),
    added: list(
      AddedSandbox,
      "Sandboxes that tests created for themselves. Of their data, the report has only the verdicts",
    ),
    totals,
    unchecked: Type.Array(Type.String(), { description: "What nothing in the run decides, although it may be wrong" }),
    coverage: Type.Array(Coverage),
    events: list(
      Type.Object({ type: text, emitted: integer, delivered: integer }),
      "Every type of event that the service can send",
    ),
    scenarios: list(
      ReportedScenario,
      "The armed scenarios; in `exec`, also those that were decided before they were disarmed",
    ),
    checks: list(ReceiverCheck, "What audits and counts of effects decided about receivers, failed ones first"),
    verdicts: list(ShownVerdict, "Failed ones first"),
    requests: list(ReportedRequest, "Oldest first; of a long run, only the newest"),
    deliveries: Type.Array(ReportedAttempt),
    omitted: Type.Object(
      { requests: integer, attempts: integer, verdicts: integer },
      { description: "The number of older entries that the report omits" },
    ),
  },
  { title: "run_report" },
);

/** HAR 1.2. The format defines the fields of the entries. */
export const HarLog = Type.Object(
  {
    log: Type.Object(
      {
        version: text,
        creator: Type.Object({ name: text, version: text }),
        pages: Type.Array(Type.Record(Type.Unknown())),
        entries: Type.Array(Type.Record(Type.Unknown())),
        comment: Type.Optional(Type.String({ description: "Why the run failed" })),
      },
      { description: "The traffic as HAR 1.2" },
    ),
  },
  { title: "har_log" },
);

export type RunReport = Static<typeof RunReport>;
export type HarLog = Static<typeof HarLog>;
export type RunEnd = Pick<RunReport, keyof typeof end>;
export type Coverage = Static<typeof Coverage>;
export type ReportedAttempt = Static<typeof ReportedAttempt>;
export type ReceiverCheck = Static<typeof ReceiverCheck>;
export type ReportedScenario = Static<typeof ReportedScenario>;
export type ReportedVerdict = Static<typeof ShownVerdict>;
