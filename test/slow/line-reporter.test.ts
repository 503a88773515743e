// `npm test` prints its counts as the last line, even after a failure message that is larger than the buffer of a pipe.

import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { openShell, root } from "../support/page.ts";

test("the counts are the last line after a long failure in a pipe", async () => {
  const { cwd, run } = openShell();
  writeFileSync(
    join(cwd, "vitest.config.ts"),
    `import { LineReporter } from "${root}/scripts/line-reporter.ts";\nexport default { test: { reporters: [new LineReporter()], globals: true } };`,
  );
  writeFileSync(join(cwd, "long.test.js"), 'test("long", () => { throw new Error("x".repeat(800_000)); });');
  const vitest = `"${process.execPath}" "${join(root, "node_modules/vitest/vitest.mjs")}"`;
  const { out } = await run(`${vitest} run 2>&1 | cat`);
  expect(out.trimEnd().split("\n").at(-1)).toMatch(/^0 passed, 1 failed, 0 skipped, 1 files, \d+ s$/);
});
