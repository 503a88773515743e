// The judge uses the outcome that a fault action declares, not the action's name, so it judges a new action correctly.

import { expect, test } from "vitest";
import type { CallOutcome, DeliveryOutcome } from "../../src/contracts/fault.ts";
import { type Action, onCalls, onDeliveries } from "../../src/faults/action.ts";
import { apiActions } from "../../src/faults/api-actions.ts";
import { firing, NOON, newJudge, recordedAttempt, writeEntry } from "../support/judge-inputs.ts";

const common = { type: "invented", description: "Does something new.", example: "invented", fields: {} } as const;

const callAction = (outcome: CallOutcome): Action =>
  onCalls({ ...common, phase: "before", outcome, prepare: () => ({ kind: "disconnect", as: "reset" }) });

const deliveryAction = (outcome: DeliveryOutcome): Action =>
  onDeliveries({ ...common, phase: "content", outcome, prepare: () => ({ kind: "signature", as: "missing" }) });

test.each([
  ["normal", [], []],
  ["refused", [], []],
  ["disconnected", ["pass"], []],
  ["response_lost", ["pass"], ["fail"]],
] as const)("a lost write that is retried is judged by the outcome of its fault: %s", (outcome, happened, single) => {
  const judge = newJudge();
  const { type: action, outcome: declared } = callAction(outcome);
  const first = writeEntry(0, 0, "k", { responseHeaders: {} });
  judge.fired(firing({ requestId: first.id, action, outcome: declared({}) }));
  judge.request(first);
  judge.request(writeEntry(300, 200, "k"));
  const found = (rule: string) => judge.verdicts({ rule }).map(({ verdict }) => verdict);
  expect([found("retry.happened"), found("effect.single")]).toEqual([happened, single]);
});

test.each([
  ["genuine", 200, ["webhook.genuine_taken pass", "webhook.ack_fast pass"]],
  ["genuine", 401, ["webhook.genuine_taken fail", "webhook.ack_fast pass"]],
  ["altered", 200, []],
  ["altered", 401, []],
  ["forged", 200, ["webhook.forgery_rejected fail"]],
  ["forged", 401, ["webhook.forgery_rejected pass"]],
  ["previous_secret", 200, ["webhook.genuine_taken pass", "webhook.ack_fast pass"]],
] as const)(
  "a delivery is judged by its fault's outcome and its response: %s, %i",
  (outcome, responseStatus, expected) => {
    const judge = newJudge();
    const { type: action, outcome: declared } = deliveryAction(outcome);
    judge.fired(firing({ target: "delivery", attemptId: "whd_1", action, outcome: declared({}), rotatedAt: NOON }));
    judge.attempt(recordedAttempt({ responseStatus, status: responseStatus === 200 ? "succeeded" : "failed" }));
    expect(judge.verdicts().map(({ rule, verdict }) => `${rule} ${verdict}`)).toEqual(expected);
  },
);

/**
 * The actions that change the response and leave it valid, so that the client has nothing to retry. Their outcome is
 * not `response_lost`.
 */
const isValidResponse = ({ type }: Action, { as }: { as?: string }) => type === "evolve" || as === "patch";

test("exactly the actions that break a response after the operation have the outcome response_lost", () => {
  const formsOf = ({ schema }: Action) => (schema.properties.as as { enum?: string[] } | undefined)?.enum ?? [];
  for (const action of apiActions as readonly Action[])
    for (const fields of [{}, ...formsOf(action).map((as) => ({ as }))])
      expect(
        [action.type, fields, action.outcome(fields) === "response_lost"],
        "An action of phase `after` or `body` has the outcome response_lost, unless isValidResponse names it.",
      ).toEqual([
        action.type,
        fields,
        (action.phase === "after" || action.phase === "body") && !isValidResponse(action, fields),
      ]);
});
