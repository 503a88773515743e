// The contract of scenarios: fault rules with the expected verdicts, and the score of a run.

import { nullable, nullableText, oneOf, type Static, Type, timeText } from "../schema/shapes.ts";
import { ShownVerdict, VERDICTS, type VerdictMessage } from "./verdict.ts";

const expectation = {
  rule: Type.String({ description: "A rule of the judge, or a pattern for several" }),
  points: Type.Integer({ description: "How many points it is worth" }),
  optional: Type.Boolean({ description: "Counts only if a verdict decides it" }),
};

const ShownResult = Type.Object({
  ...expectation,
  verdict: oneOf(VERDICTS, "`pass` if a verdict passed and none failed"),
  score: Type.Integer({ description: "The points earned" }),
  message: Type.String({ description: "The reason of the verdict" }),
  pass: Type.Integer(),
  fail: Type.Integer(),
  inconclusive: Type.Integer(),
  verdicts: Type.Array(ShownVerdict, {
    description: "The verdicts that this scenario's faults led to: failures first, 20 at most",
  }),
});

/** A scenario as the control API shows it. */
export const ShownScenario = Type.Object(
  {
    name: Type.String(),
    title: Type.String({ description: "What fails, in one line" }),
    about: Type.String({ description: "What happens, and what a correct client does" }),
    armed: Type.Boolean(),
    merchant: nullableText("The merchant that it is armed for; null for all"),
    since: nullable(timeText("Sandbox time; null if it is not armed")),
    faults: Type.Array(Type.Record(Type.Unknown()), {
      description: "The fault rules with their counts; as written in its file if it is not armed",
    }),
    effects: nullable(
      Type.Object(
        {
          before: Type.Integer({ description: "How often the receiver had acted when the scenario was armed" }),
          now: nullable(Type.Integer({ description: "How often the receiver had acted when it was last counted" })),
          event: nullableText("The events on which the receiver acts; null if they were not named"),
        },
        { description: "The counts of the receiver's effects; null if they are not counted" },
      ),
    ),
    expectations: Type.Array(ShownResult),
    score: Type.Integer({ description: "The points earned" }),
    points: Type.Integer({ description: "The points available" }),
    verdict: nullable(
      oneOf(
        VERDICTS,
        "`inconclusive` while an expectation is undecided, or a fault has not fired; null if it is not armed",
      ),
    ),
    message: Type.String({ description: "The verdict in a sentence" }),
  },
  { title: "scenario" },
);

type ShownResult = Static<typeof ShownResult>;
type ShownScenario = Static<typeof ShownScenario>;

export type ScenarioExpectation = Pick<ShownResult, keyof typeof expectation>;

/** A result with the verdicts as the judge made them, before they are formatted for the control API. */
export type ScenarioResult = Omit<ShownResult, "verdicts"> & { verdicts: VerdictMessage[] };
export type ScenarioState = Omit<ShownScenario, "expectations"> & { expectations: ScenarioResult[] };
