// Lanes of tests: `quick` runs in this process on a frozen clock; `mounted` runs its tests of the API once more, through
// an Express app; `slow` starts the built program, waits real seconds, or tries many inputs; `tools` needs third-party
// tools, which `npm run check:tools` installs.

import { availableParallelism, tmpdir, userInfo } from "node:os";
import { basename, join } from "node:path";
import { defineConfig } from "vitest/config";
import { BaseSequencer, type TestSpecification } from "vitest/node";
import { LineReporter } from "./scripts/line-reporter.ts";

const SLOW = "test/slow/**";
const TOOLS = "test/tools/**";

/**
 * The files that take longest, the longest first; `contributing` only with RECIPES=1. A long file that starts late runs
 * alone at the end.
 */
const LONGEST = [
  ...[
    "contributing",
    "lessons",
    "page-commands",
    "browser-keys",
    "playwright",
    "dashboard-counts",
    "exec",
    "languages",
  ],
  ...["cloned-folder", "browser-dashboard", "exec-matrix", "folder", "joints", "learn", "dev", "page-examples"],
  ...["hostile-server", "crash", "detach", "receivers", "ui-choice", "recipes", "surviving-page", "browser-tasks"],
];

/**
 * Starts the longest files first, then the slow lane: the short files of the quick lane then keep every worker busy
 * until the end.
 */
class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rank = ({ project, moduleId }: TestSpecification) => {
      if (project.name !== "slow") return LONGEST.length + 1;
      const place = LONGEST.indexOf(basename(moduleId, ".test.ts"));
      return place === -1 ? LONGEST.length : place;
    };
    return (await super.sort(files)).sort((one, other) => rank(one) - rank(other));
  }
}

export default defineConfig({
  // JSX as in the build, without the checks of React's development build: frames take less time.
  oxc: { jsx: { development: false } },
  test: {
    // This user's own state folder stays as it is.
    env: { NODE_ENV: "test", XDG_STATE_HOME: join(tmpdir(), `merchant-sandbox-tests-${userInfo().uid}`) },
    reporters: [new LineReporter()],
    // Without this, vitest imports every style sheet as an empty text, also with ?raw.
    css: { include: [/\.css\?raw$/] },
    setupFiles: ["test/support/setup.ts"],
    // A machine that does other work at the same time takes several times as long.
    testTimeout: 180_000,
    hookTimeout: 180_000,
    // The default of one second is shorter than a busy machine needs for what these tests poll.
    expect: { poll: { timeout: 30_000 } },
    sequence: { sequencer: LongestFirst },
    // Tests make much that lives shortly: a larger young generation is collected less often, which saves a tenth.
    execArgv: ["--max-semi-space-size=64"],
    // Transforms a module once for all lanes, and for the next run too. A cached module is found by its text.
    experimental: { fsModuleCache: true },
    // Slow tests often wait, so a small machine has room for more workers than it has cores.
    maxWorkers: Math.max(5, availableParallelism()),
    projects: [
      {
        extends: true,
        test: {
          name: "quick",
          // Loads the production build of React, as the package does.
          env: { NODE_ENV: "production" },
          include: ["test/**/*.test.ts"],
          exclude: [SLOW, TOOLS, "test/sample-shop/**"],
          // Files of one worker share the loaded modules: loading them again for each file takes longer than most
          // tests.
          isolate: false,
        },
      },
      {
        extends: true,
        // The contract of the API once more, through a sandbox that is mounted in an Express app.
        test: {
          name: "mounted",
          include: ["test/api/*.test.ts"],
          // They test records and their order, which do not depend on the app.
          exclude: ["test/api/states.test.ts", "test/api/determinism.test.ts"],
          env: { MOUNTED: "express" },
          isolate: false,
        },
      },
      {
        extends: true,
        test: {
          name: "slow",
          isolate: false,
          include: [`${SLOW}/*.test.ts`],
          // `npm run soak` sets how long it takes.
          exclude: process.env.SOAK_SECONDS === undefined ? ["test/slow/soak.test.ts"] : [],
        },
      },
      ...(process.env.TOOLS_FOLDER === undefined
        ? []
        : [{ extends: true as const, test: { name: "tools", include: [`${TOOLS}/*.test.ts`] } }]),
    ],
  },
});
