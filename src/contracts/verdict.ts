// The contract of the judge: its rules and verdicts as the control API shows them, and how they are queried.

import { nullable, nullableText, oneOf, type Static, Type, text, timeNumber, timeText } from "../schema/shapes.ts";

export const VERDICTS = ["pass", "fail", "inconclusive"] as const;
export type Verdict = (typeof VERDICTS)[number];
/** The order in which reports list verdicts. */
export const VERDICT_RANK: Record<Verdict, number> = { fail: 0, inconclusive: 1, pass: 2 };

/** The rule that a count of effects decides. */
export const ACTS_ONCE = "webhook.single_effect";

/** The evidence of a verdict: effects and keys in the database, the order of calls on connections, or times. */
export const CONFIRMATIONS = ["database", "connections", "time"] as const;
export type Confirmation = (typeof CONFIRMATIONS)[number];

const severity = () => oneOf(["error", "warning"], "How bad a failure is");

export const JudgedRule = Type.Object({
  id: Type.String(),
  severity: severity(),
  demands: Type.String({ description: "What a client or a receiver must do" }),
  hint: Type.String({ description: "How to fix a failure" }),
});

export type JudgedRule = Readonly<Static<typeof JudgedRule>>;

const VerdictCall = Type.Object({
  request: Type.String(),
  connection: Type.Integer({ description: "Connections are numbered in the order in which the sandbox accepted them" }),
  milliseconds: Type.Number({ description: "Real time from the arrival of the first call" }),
});

/** A call that shows a verdict. */
export type VerdictCall = Static<typeof VerdictCall>;

/** A verdict as the control API shows it. */
export const ShownVerdict = Type.Object(
  {
    id: nullableText("Null if the verdict is not final: it would be the verdict if no more requests came"),
    rule: Type.String(),
    severity: severity(),
    verdict: oneOf(VERDICTS, "`inconclusive` if nothing that happened decides it"),
    at: timeText("Sandbox time of the request or attempt that it is about"),
    merchant: nullableText("The merchant whose key was sent"),
    operation: nullableText("The operation that was called"),
    message: Type.String({ description: "What happened" }),
    hint: Type.String({ description: "How to fix it" }),
    requests: Type.Array(Type.String(), { description: "The requests that show it" }),
    attempts: Type.Array(Type.String(), { description: "The delivery attempts that show it" }),
    calls: Type.Array(VerdictCall, { description: "The requests with their connections and times" }),
    confirmedBy: nullable(
      oneOf(
        CONFIRMATIONS,
        "What confirms the verdict: `database`, effects and keys of the requests and attempts in the log; " +
          "`connections`, the order of calls on connections; `time`, measured times. Null if it is inconclusive",
      ),
    ),
    milliseconds: Type.Record(Type.Number(), {
      description:
        "What was measured: a wait in real time or in sandbox time, whichever is longer; all else in real time",
    }),
    fault: nullableText("The fault rule that caused it"),
  },
  { title: "verdict" },
);

/** A verdict inside the sandbox and on the live stream. */
export const VerdictMessage = Type.Object(
  { ...ShownVerdict.properties, at: timeNumber() },
  { title: "verdict_message" },
);

export type VerdictMessage = Static<typeof VerdictMessage>;

export interface VerdictFilter {
  /** A rule id, or a pattern such as `retry_after.*`. */
  rule?: string | undefined;
  verdict?: Verdict | undefined;
  merchant?: string | undefined;
  /** Only verdicts at or after this time, in sandbox milliseconds. */
  since?: number | undefined;
  /** Include failed and inconclusive verdicts that a reset erased. */
  erased?: boolean | undefined;
}

export const RulePattern = text("Id of a rule of the judge, or a pattern such as retry_after.*", { minLength: 1 });

/** A sandbox that a test created for itself, whose verdicts are added to these when it closes. */
export const AddedSandbox = Type.Object(
  {
    sandbox: Type.String({ description: "Its URL" }),
    requests: nullable(Type.Integer({ minimum: 0, description: "How many requests it had; null until it is closed" })),
  },
  { title: "added_sandbox" },
);

export type AddedSandbox = Static<typeof AddedSandbox>;

export type ExplainedVerdict = Pick<
  VerdictMessage,
  "rule" | "operation" | "verdict" | "message" | "hint" | "calls" | "attempts" | "confirmedBy"
>;
