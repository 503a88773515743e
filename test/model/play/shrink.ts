// Makes a story that fails as short as it gets, and its steps as plain: whoever reads it shall see what matters.

import type { Findings } from "./stage.ts";
import type { Step, Story } from "./steps.ts";

/** What is found has been played: undefined when the story does not fail. */
type Play = (story: Story) => Promise<Findings | undefined>;

const MOST_TRIES = 600;

export interface Shrunk {
  story: Story;
  findings: Findings;
  tries: number;
}

export async function shrink(story: Story, findings: Findings, play: Play): Promise<Shrunk> {
  const best: Shrunk = { story, findings, tries: 0 };
  const holds = async (steps: Step[], options: Partial<Story> = {}): Promise<boolean> => {
    if (best.tries >= MOST_TRIES) return false;
    best.tries++;
    const candidate = { ...best.story, ...options, steps };
    const found = await play(candidate);
    if (!found) return false;
    // What comes after is no part of it.
    best.story = { ...candidate, steps: steps.slice(0, found.steps) };
    best.findings = found;
    return true;
  };
  await holds(story.steps.slice(0, findings.steps));
  for (let before = ""; before !== JSON.stringify(best.story); ) {
    before = JSON.stringify(best.story);
    await removeSteps(best, holds);
    await simplifySteps(best, holds);
    if (best.story.rateLimit !== "none") await holds(best.story.steps, { rateLimit: "none" });
    if (best.story.bodies !== "checked") await holds(best.story.steps, { bodies: "checked" });
  }
  return best;
}

type Holds = (steps: Step[]) => Promise<boolean>;

/** Leaves steps out: halves at first, single ones at last, the later ones before the earlier ones. */
async function removeSteps(best: Shrunk, holds: Holds): Promise<void> {
  for (let size = Math.ceil(best.story.steps.length / 2); size >= 1; size = size === 1 ? 0 : Math.ceil(size / 2))
    for (let end = best.story.steps.length; end > 0; end -= size) {
      const { steps } = best.story;
      await holds([...steps.slice(0, Math.max(0, end - size)), ...steps.slice(end)]);
    }
}

async function simplifySteps(best: Shrunk, holds: Holds): Promise<void> {
  for (let place = 0; place < best.story.steps.length; place++)
    for (const simpler of simplerThan(best.story.steps[place] as Step))
      await holds(best.story.steps.map((step, other) => (other === place ? simpler : step)));
}

/** The step with less in it, one thing at a time. */
function simplerThan(step: Step): Step[] {
  if (step.step === "fault") {
    // One that fires at every call needs no calls that it lets pass.
    const trigger = { times: 100 };
    const { operation = [], event = [], merchant } = step.match;
    const narrower = [...operation.map((one) => ({ operation: [one] })), ...event.map((one) => ({ event: [one] }))];
    return [
      ...(step.trigger.times < trigger.times ? [{ ...step, trigger }] : []),
      ...((merchant ?? 0) === 0 ? [] : [{ ...step, match: { ...step.match, merchant: 0 } }]),
      ...(narrower.length > 1 ? narrower.map((named) => ({ ...step, match: { ...step.match, ...named } })) : []),
    ];
  }
  if (step.step !== "call") return [];
  const plain = { nth: 0, whose: "own" as const };
  return [
    ...step.changes.map((_, place) => ({ ...step, changes: step.changes.filter((__, other) => other !== place) })),
    ...Object.keys(step.query).map((name) => ({ ...step, query: { ...step.query, [name]: undefined } })),
    ...(step.key === undefined ? [] : [{ ...step, key: undefined }]),
    ...(step.oddity === undefined ? [] : [{ ...step, oddity: undefined }]),
    ...("receiver" in step.address && step.address.receiver !== "ok" ? [{ ...step, address: { receiver: "ok" } }] : []),
    ...(step.who.nth === 0 ? [] : [{ ...step, who: { ...step.who, nth: 0 } }]),
    ...(step.picks.some(({ nth }) => nth > 0) ? [{ ...step, picks: [plain, plain] }] : []),
  ];
}
