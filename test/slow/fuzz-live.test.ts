// Fuzzes messages of the live stream. Plain lines and the dashboard show the known parts of every message, and nothing
// throws.

import fc from "fast-check";
import { afterAll, expect, test } from "vitest";
import type { SandboxOverviewReply } from "../../generated/control-api.ts";
import { eventLine, eventObject } from "../../src/cli/output/event-lines.ts";
import { readLiveMessage } from "../../src/client/read-live-message.ts";
import { NO_COUNTS } from "../../src/contracts/live-messages.ts";
import { applyMessage } from "../../ui/panes/apply-message.ts";
import { panes } from "../../ui/panes/index.ts";
import { handleKey } from "../../ui/panes/keys/key-bindings.ts";
import type { UiState } from "../../ui/state/state.ts";
import { createFrameRenderer } from "../../ui/terminal/frame.tsx";
import { changed, edit, edited, JSON_TOKENS, runs, someChanges } from "../support/fuzzing.ts";
import { firing } from "../support/judge-inputs.ts";
import { attempt, emptyDashboard, INDEX, request, verdict } from "../support/live-rows.ts";
import { attempted } from "../support/sandbox.ts";

const learner = {
  ...{
    id: "mer_1",
    name: "Ada",
    lesson: "paging",
    title: "Paging",
    step: 1,
    stepTitle: "Read",
    steps: 2,
    completed: 0,
  },
  ...{
    hints: 0,
    hint: null,
    since: 1_767_614_400_000,
    elapsed: 0,
    next: null,
    version: 1,
    finishedSteps: [{ lesson: "paging", step: 1, how: "skipped", hints: 0, at: 1 }],
  },
};
const items = [
  { kind: "request", request: request(1) },
  { kind: "attempt", attempt: attempt(1) },
  { kind: "verdict", verdict: verdict(1) },
  {
    kind: "fault",
    fault: firing({ action: "status", form: "503", outcome: "refused", merchant: null, requestId: "req_1" }),
  },
  { kind: "clock", clock: INDEX.clock },
  { kind: "lesson", lesson: { news: "joined", learner } },
  { kind: "reset", merchant: null },
].map((item, index) => ({ seq: index + 1, nth: 1, ...item }));
const made = { ...NO_COUNTS, requests: 1 };
const MESSAGES: object[] = [
  { type: "snapshot", run: "run_2", seq: 0, made, sandbox: INDEX },
  { type: "batch", items },
  { type: "digest", seq: items.length, made, completeFor: {}, items },
  { type: "gap", from: 1, to: 3 },
];

/** A snapshot message whose sandbox has these changed fields. */
const snapshotWith = (fields: object) =>
  JSON.stringify({ type: "snapshot", run: "run_2", seq: 0, made, sandbox: { ...INDEX, ...fields } });

/** Regression tests: a wrong and a missing list. The first line once failed to render, which stopped all rendering. */
const WRONG_LISTS = [[snapshotWith({ scenarios: {} })], [snapshotWith({ heldEndpoints: undefined })]];

const TOKENS = [...JSON_TOKENS, '"kind":"newer",'];
const message = fc
  .record({
    message: fc.constantFrom(...MESSAGES),
    edits: fc.array(edit, { minLength: 1, maxLength: 4 }),
    changes: someChanges(TOKENS, 2, 5),
  })
  .map(({ message: known, edits, changes }) =>
    changed(Buffer.from(JSON.stringify(edited(known, edits)) ?? "null"), changes).toString("utf8"),
  );

const frames = createFrameRenderer();
afterAll(() => frames.close());

/** Renders every pane, and the details of its newest row. */
function expectDrawn(state: UiState): void {
  for (const { name } of panes) {
    const shown = { ...state, pane: name };
    expect(frames.render(shown)).toHaveLength(state.size.rows);
    frames.render(handleKey(handleKey(shown, "G").state, "enter").state);
  }
}

test("the known parts of a changed message are shown, and the unknown parts are counted", () => {
  const seen = { known: 0, unknown: 0 };
  const property = fc.property(fc.array(message, { minLength: 1, maxLength: 4 }), (messages) => {
    let state = emptyDashboard(100, 30);
    for (const json of messages) {
      attempted("A foreign live stream");
      const { message: read, unknown } = readLiveMessage<SandboxOverviewReply>(json);
      seen[unknown > 0 ? "unknown" : "known"]++;
      if (!read) continue;
      state = applyMessage(state, read);
      if (read.type === "batch" || read.type === "digest")
        for (const item of read.items) {
          expect(eventLine(item)).not.toContain("\n");
          JSON.stringify(eventObject(item));
        }
    }
    expectDrawn(state);
  });
  fc.assert(property, runs(10, WRONG_LISTS));
  expect(Math.min(seen.known, seen.unknown)).toBeGreaterThan(1);
});
