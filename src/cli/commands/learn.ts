// `learn`: the interactive lessons, in a sandbox of their own.

import { usageError } from "../../kernel/errors.ts";
import { plural } from "../../kernel/text.ts";
import { createSandbox, openSandbox, type Sandbox } from "../../sandbox/create.ts";
import { completeOptions, type GivenOptions } from "../../sandbox/options.ts";
import { command } from "../command.ts";
import { openLessonSession } from "../lessons/lesson-session.ts";
import { note, print } from "../output/print.ts";
import { show, uiFlags } from "../output/show-sandbox.ts";
import { endpointsToConfirm } from "../settings.ts";

export const learn = command({
  summary: "work through the interactive lessons",
  usage: "learn [lesson]",
  sandboxOptions: true,
  defaults: { db: "in memory", memory: "yes, unless --db names a file" },
  flags: {
    list: { description: "list the lessons" },
    step: { value: "n", description: "start at this step, with the results of the steps before it" },
    "hint-after": {
      value: "duration",
      description: "show a hint after this time at a step, and 8s after a fix that does not work; 0s turns both off",
      defaultText: "90s",
    },
    ...uiFlags,
  },
  async run({ flags, options, sources, positionals: [lesson] }) {
    if (flags.list !== undefined) return list(options);
    const start = { lesson, step: stepNumber(flags.step), hintAfter: flags["hint-after"] };
    const complete = completeOptions(withoutAssumptions(options), { memory: options.db === undefined });
    const sandbox = await openSandbox(complete, { toConfirm: endpointsToConfirm({ options, sources }) }).catch(
      async (error) => {
        // If the name of the lesson is also wrong, its error is thrown instead.
        if (lesson !== undefined) await readLessons(options, ({ lessons }) => lessons.get({ name: lesson }));
        throw error;
      },
    );
    try {
      return await show(openLessonSession(sandbox, complete.host, start), flags);
    } finally {
      await sandbox.close();
    }
  },
});

/** The texts and checks of the package's lessons are written for the default of each assumption. */
function withoutAssumptions({ assumptions = {}, ...others }: GivenOptions): GivenOptions {
  const ids = Object.keys(assumptions);
  if (others.lessons !== undefined) return { assumptions, ...others };
  if (ids.length > 0)
    note(
      `The built-in lessons use the defaults of ${ids.join(", ")}, which they describe. ` +
        "Your own lessons (--lessons) use the values that you set.",
    );
  return others;
}

function stepNumber(step: string | undefined): number | undefined {
  if (step === undefined) return undefined;
  if (/^[1-9]\d?$/.test(step)) return Number(step);
  usageError(`--step takes the number of a step; received "${step}".`);
}

async function list(options: GivenOptions): Promise<undefined> {
  const { data } = await readLessons(options, (sandbox) => sandbox.lessons.list());
  for (const { number, name, title, steps } of data)
    print(`${number} ${name.padEnd(16)} ${title} (${plural(steps.length, "step")})`);
}

/** Reads the lessons through a temporary sandbox on a free port. */
async function readLessons<Read>({ lessons }: GivenOptions, read: (sandbox: Sandbox) => Promise<Read>): Promise<Read> {
  const sandbox = await createSandbox({ ...(lessons !== undefined && { lessons }) });
  return read(sandbox).finally(() => sandbox.close());
}
