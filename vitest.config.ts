// The lanes of tests. `quick` tests run in the process of the runner on a frozen clock. `mounted` runs the API tests of
// `quick` again, through an Express app. `slow` tests start the built program, wait real seconds, or try many inputs.
// `tools` tests need third-party tools, which `npm run check:tools` installs.

import { availableParallelism, tmpdir, userInfo } from "node:os";
import { basename, join } from "node:path";
import { defineConfig } from "vitest/config";
import { BaseSequencer, type TestSpecification } from "vitest/node";
import { LineReporter } from "./scripts/line-reporter.ts";

const SLOW = "test/slow/**";
const TOOLS = "test/tools/**";

/**
 * The files that take longest, the longest first. `contributing` takes long only with RECIPES=1. A long file that
 * starts late would run alone at the end.
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
 * Starts the longest files first, then the rest of the slow lane, and then the quick lane. Its short files keep every
 * worker busy until the end.
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
  // Compiles JSX as the build does, without the checks of React's development build, so frames take less time.
  oxc: { jsx: { development: false } },
  test: {
    // Keeps the tests out of this user's own state folder.
    env: { NODE_ENV: "test", XDG_STATE_HOME: join(tmpdir(), `merchant-sandbox-tests-${userInfo().uid}`) },
    reporters: [new LineReporter()],
    // Without this setting, vitest imports every style sheet as an empty text, even with ?raw.
    css: { include: [/\.css\?raw$/] },
    setupFiles: ["test/support/setup.ts"],
    // Tests take several times as long on a machine that does other work.
    testTimeout: 180_000,
    hookTimeout: 180_000,
    // On a busy machine, a polled condition can take longer than the default of one second.
    expect: { poll: { timeout: 30_000 } },
    sequence: { sequencer: LongestFirst },
    // Tests create many short-lived objects. A larger young generation is collected less often, which saves a tenth.
    execArgv: ["--max-semi-space-size=64"],
    // Caches transformed modules, by their text, for all lanes and for later runs.
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
          // The files of one worker share the loaded modules. Loading them again for each file would take longer than
          // most tests.
          isolate: false,
        },
      },
      {
        extends: true,
        // Runs the API tests again, with sandboxes that are mounted in an Express app.
        test: {
          name: "mounted",
          include: ["test/api/*.test.ts"],
          // These files test records and their order, which do not depend on the app.
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
          // Only `npm run soak` runs this file, and sets its duration.
          exclude: process.env.SOAK_SECONDS === undefined ? ["test/slow/soak.test.ts"] : [],
        },
      },
      ...(process.env.TOOLS_FOLDER === undefined
        ? []
        : [{ extends: true as const, test: { name: "tools", include: [`${TOOLS}/*.test.ts`] } }]),
    ],
  },
});
