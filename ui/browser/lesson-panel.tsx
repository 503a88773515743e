// The lesson beside the panes: the current step, its commands with copy buttons, hints, and what to do next.

import type { LessonBlock } from "../../generated/control-api.ts";
import { controlCalls } from "../../src/client/control-call.ts";
import { withLearnerReply } from "../panes/controls/lessons.ts";
import { besideLessonKeys } from "../panes/keys/key-bindings.ts";
import { currentLesson, shownStep, stepEnd } from "../state/learning.ts";
import { apiKeysOf } from "../state/state.ts";
import { copyText, makeCall } from "../state/updates.ts";
import type { DashboardProps } from "./browser-dashboard.ts";
import { Definitions, Head, KeyButtons, WithCode } from "./shared-parts.tsx";

export function LessonPanel({ dashboard }: DashboardProps) {
  const { state } = dashboard;
  const lesson = currentLesson(state);
  const learner = state.learning?.learner;
  const step = shownStep(state);
  return (
    <section class="lesson" tabIndex={0} aria-label="Lesson">
      <Head title={lesson?.title ?? learner?.title ?? "Lesson"} note={learner?.name ?? ""} />
      {lesson && learner && (
        <ol class="marks" aria-label="Steps">
          {lesson.steps.map(({ number, title }) => {
            const how = stepEnd(learner, number);
            const isCurrent = number === learner.step;
            const colour = how === "completed" ? "green" : "soft";
            return (
              <li
                key={number}
                class={`chip ${isCurrent ? "current" : colour}`}
                title={title}
                aria-current={isCurrent ? "step" : undefined}
              >
                {how === "completed" ? "✓" : number}
              </li>
            );
          })}
        </ol>
      )}
      {!lesson && <p class="hint">{learner?.lesson === null ? "No lesson has begun yet." : "Loading the lesson …"}</p>}
      <Access dashboard={dashboard} />
      <div aria-live="polite">
        {lesson && step && (
          <>
            <h3>
              {step.number}. {step.title}
            </h3>
            {step.number !== learner?.step && <p class="green">This step is done.</p>}
            {step.number === 1 && <Prose text={lesson.about} />}
            {step.blocks.map((block, index) => (
              <Block key={`${lesson.name} ${step.number} ${index}`} dashboard={dashboard} block={block} />
            ))}
            {step.number === learner?.step && learner.hint !== null && (
              <div class="lesson-hint">
                <Prose text={learner.hint} />
              </div>
            )}
          </>
        )}
        {lesson && !step && <Completed dashboard={dashboard} />}
      </div>
      <KeyButtons
        dashboard={dashboard}
        keys={besideLessonKeys(state).filter(({ isEnabled }) => isEnabled?.(state) ?? true)}
        primary="n"
      />
    </section>
  );
}

function Access({ dashboard }: DashboardProps) {
  const { sandbox, learning } = dashboard.state;
  const [key] = apiKeysOf(dashboard.state, learning?.id ?? null);
  if (!sandbox || key === undefined) return null;
  const withCopy = (name: string, text: string) => ({
    name,
    text: (
      <span class="command">
        <code>{text}</code> <Copy dashboard={dashboard} text={text} what={`the ${name}`} />
      </span>
    ),
  });
  return <Definitions rows={[withCopy("API key", key), withCopy("base URL", sandbox.baseUrl)]} />;
}

const Copy = ({ dashboard, text, what }: DashboardProps & { text: string; what: string }) => (
  <button
    type="button"
    aria-label={`Copy ${what}`}
    onClick={() => dashboard.change((state) => copyText(state, text, what))}
  >
    Copy
  </button>
);

function Block({ dashboard, block: { kind, text } }: DashboardProps & { block: LessonBlock }) {
  if (kind === "prose") return <Prose text={text} />;
  if (kind !== "sh") return <pre>{text}</pre>;
  return (
    <div class="command">
      <pre tabIndex={0}>{text}</pre>
      <Copy dashboard={dashboard} text={text} what="the command" />
    </div>
  );
}

/** The Markdown that lessons use: paragraphs, list items, and code between backticks. */
const Prose = ({ text }: { text: string }) => (
  <>
    {text.split(/\n{2,}|\n(?=[-*] )/).map((paragraph) => (
      <p key={paragraph}>
        <WithCode text={paragraph} />
      </p>
    ))}
  </>
);

function Completed({ dashboard }: DashboardProps) {
  const { id, learner } = dashboard.state.learning ?? {};
  const next = learner?.next ?? null;
  const begin = () =>
    dashboard.change((state) =>
      makeCall(state, controlCalls.learners.begin({ id: id ?? "", name: next ?? "" }), (begun) => ({
        message: `Started "${begun.title}"`,
        updateState: (later) => withLearnerReply(later, begun),
      })),
    );
  return (
    <>
      <p>
        Lesson complete: {learner?.completed} of {learner?.steps} steps.
      </p>
      {next === null ? (
        <p>This was the last lesson.</p>
      ) : (
        <button type="button" class="primary" onClick={begin}>
          Start the next lesson: {next}
        </button>
      )}
    </>
  );
}
