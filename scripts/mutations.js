// Puts one defect after another into a copy of the checkout, and runs the tests that should find the defect. Fails if a
// defect is not found. ONLY=clock,store tries only the defects of these parts.

import { spawnSync } from "node:child_process";
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";

/** `find` occurs once in the file. */
const mutations = [
  {
    part: "areas",
    defect: "a declined booking can be declined again",
    file: "src/areas/hospitality.ts",
    find: 'declined: { to: [], event: "booking.declined"',
    replace: 'declined: { to: ["declined"], event: "booking.declined"',
    tests: ["test/api/states.test.ts", "test/api/idempotency.test.ts"],
  },
  {
    part: "http pipeline",
    defect: "a body is validated before the stored reply to its Idempotency-Key is looked up",
    file: "src/http/pipeline.ts",
    find: "    readIdempotencyKey, //                               400\n",
    replace: "    validate(bodies),\n    readIdempotencyKey, //                               400\n",
    tests: ["test/api/http.test.ts", "test/api/idempotency.test.ts"],
  },
  {
    part: "guard",
    defect: "any Host is allowed",
    file: "src/http/guard.ts",
    find: "authorities().includes(authority)",
    replace: "authority.length > 0",
    tests: ["test/api/security.test.ts", "test/api/http.test.ts"],
  },
  {
    part: "idempotency",
    defect: "a key replays its reply for another request",
    file: "src/http/idempotency.ts",
    find: "stored.fingerprint !== context.fingerprint",
    replace: "stored.fingerprint === undefined",
    tests: ["test/api/idempotency.test.ts"],
  },
  {
    part: "rate limit",
    defect: "one request too many is allowed",
    file: "src/http/rate-limit-window.ts",
    find: "if (used >= limit) return false;",
    replace: "if (used > limit) return false;",
    tests: ["test/api/rate-limits.test.ts"],
  },
  {
    part: "webhook retries",
    defect: "Retry-After delays a retry without bound",
    file: "src/webhooks/retry-schedule.ts",
    find: 'Math.min(readRetryAfter(header ?? "", now)?.milliseconds ?? 0, MAX_RETRY_AFTER)',
    replace: 'readRetryAfter(header ?? "", now)?.milliseconds ?? 0',
    tests: ["test/webhooks/delivery.test.ts"],
  },
  {
    part: "webhook signatures",
    defect: "every signature of the right length is accepted",
    file: "src/webhooks/signature.ts",
    find: "received.length === expected.length && timingSafeEqual(received, expected)",
    replace: "received.length === expected.length || timingSafeEqual(received, expected)",
    tests: ["test/webhooks/signature.test.ts"],
  },
  {
    part: "webhook order",
    defect: "attempts due at the same time end in the order of the receiver's responses",
    file: "src/webhooks/endpoint-queues.ts",
    find: 'responds && clock.mode !== "frozen" ? MAX_SLOTS',
    replace: "responds ? MAX_SLOTS",
    tests: ["test/api/determinism.test.ts", "test/webhooks/delivery.test.ts"],
  },
  {
    part: "faults",
    defect: "a fault rule skips one match too few",
    file: "src/faults/trigger.ts",
    find: "skip: given.skip ?? 0",
    replace: "skip: Math.max(0, (given.skip ?? 0) - 1)",
    tests: ["test/faults/rules.test.ts"],
  },
  {
    part: "judge",
    defect: "a retry before the end of Retry-After gets the verdict pass",
    file: "src/judge/rules/retry-after.ts",
    find: "const isEarly = milliseconds - waited > tolerance",
    replace: "const isEarly = milliseconds - waited > tolerance + milliseconds / 2",
    tests: ["test/judge/behaviours.test.ts", "test/judge/judge.test.ts"],
  },
  {
    part: "judge",
    defect: "a receiver that acts twice on a repeated delivery gets the verdict pass",
    file: "src/judge/rules/webhook.ts",
    find: 'verdict: second ? "fail" : "pass"',
    replace: 'verdict: second ? "pass" : "pass"',
    tests: ["test/judge/receivers.test.ts", "test/judge/judge.test.ts"],
  },
  {
    part: "store",
    defect: "a full last page says that more records follow",
    file: "src/store/records/record-pages.ts",
    find: "has_more: rows.length > limit",
    replace: "has_more: rows.length >= limit",
    tests: ["test/api/lists.test.ts"],
  },
  {
    part: "clock",
    defect: "an advance sets the clock to its end before work that is due earlier is done",
    file: "src/kernel/clock.ts",
    find: "if (due > time.now()) time.moveTo(due);",
    replace: "if (due > time.now()) time.moveTo(until);",
    tests: ["test/kernel/clock.test.ts", "test/webhooks/delivery.test.ts"],
  },
  {
    part: "life",
    defect: "a record changes at its old due time although changed settings have postponed the change",
    file: "src/life/life.ts",
    find: "if (!next || next.at > due.due) {",
    replace: "if (!next) {",
    tests: ["test/life/life.test.ts"],
  },
  {
    part: "masking",
    defect: "a quote after an escaped backslash does not end a string",
    file: "src/kernel/secrets.ts",
    find: "return (index - first) % 2 === 1;",
    replace: "return index - first > 0;",
    tests: ["test/kernel/mask.test.ts", "test/slow/masking-properties.test.ts"],
  },
  {
    part: "verify",
    defect: "`never` expectations pass without waiting",
    file: "src/verify/check-requests.ts",
    find: "if (elapsed < span) return",
    replace: "if (elapsed < 0) return",
    tests: ["test/control/verify.test.ts"],
  },
  {
    part: "report",
    defect: "a scenario score that a run tolerates is reported as a failure in JUnit",
    file: "src/report/junit.ts",
    find: "if (!countsAsFailure(run, condition)) return",
    replace: 'if (!countsAsFailure(run, condition) && condition !== "score") return',
    tests: ["test/control/report.test.ts"],
  },
  {
    part: "lessons",
    defect: "a step is completed before its check holds",
    file: "src/lessons/steps.ts",
    find: 'if (verdict !== "pass") {',
    replace: 'if (verdict === "inconclusive") {',
    tests: ["test/ui/lesson.test.ts", "test/slow/lessons.test.ts"],
  },
  {
    part: "cli",
    defect: "a flag that needs a value is accepted without one",
    file: "src/cli/arguments.ts",
    find: "if (definition.value !== undefined && token.value === undefined)",
    replace: "if (definition.value === undefined && token.value === undefined && flag === command)",
    tests: ["test/slow/cli.test.ts"],
  },
  {
    part: "dashboard",
    defect: "a full list drops its newest rows",
    file: "ui/state/list.ts",
    find: "rows: rows.slice(-MAX_ROWS), total, newest",
    replace: "rows: rows.slice(0, MAX_ROWS), total, newest",
    tests: ["test/slow/list-properties.test.ts", "test/ui/list.test.ts"],
  },
  {
    part: "compare",
    defect: "calls of another host are compared",
    file: "src/compare/find-base.ts",
    find: "if (url.origin !== origin || !url.pathname",
    replace: "if (!url.pathname",
    tests: ["test/compare/compare.test.ts", "test/compare/command.test.ts"],
  },
  {
    part: "schema",
    defect: "a missing field is accepted",
    file: "src/schema/validator.ts",
    find: "if (!(name in value)) yield",
    replace: "if (name in value && value[name] === undefined) yield",
    tests: ["test/kernel/validator.test.ts", "test/api/contract.test.ts"],
  },
];

const parts = process.env.ONLY?.split(",");
const chosen = parts ? mutations.filter(({ part }) => parts.includes(part)) : mutations;
const copy = mkdtempSync(join(tmpdir(), "mutations-"));
const run = (command, args) =>
  spawnSync(command, args, { cwd: copy, encoding: "utf8", timeout: 600_000, killSignal: "SIGKILL" });

/** The title of the first test that failed; undefined if all passed. */
function runTests(tests) {
  const report = join(copy, "report.json");
  rmSync(report, { force: true });
  const { status, stderr } = run(process.execPath, [
    ...["node_modules/vitest/vitest.mjs", "run", ...tests.filter((test) => known.has(test))],
    ...["--bail", "1", "--reporter", "json", "--outputFile", report],
  ]);
  if (status === 0) return undefined;
  const { testResults } = JSON.parse(readFileSync(report, "utf8"));
  const failed = testResults.flatMap(({ name, assertionResults }) =>
    assertionResults
      .filter((one) => one.status === "failed")
      .map(({ fullName }) => `${name.split("/test/")[1]}: ${fullName}`),
  );
  return failed[0] ?? testResults.find(({ status }) => status === "failed")?.message ?? stderr.slice(-500);
}

const files = spawnSync("git", ["ls-files"], { encoding: "utf8" }).stdout.trim().split("\n");
const known = new Set(files);
const survivors = [];
try {
  for (const file of files) cpSync(file, join(copy, file), { verbatimSymlinks: true });
  symlinkSync(join(process.cwd(), "node_modules"), join(copy, "node_modules"));
  const build = run(process.execPath, ["scripts/build.js"]);
  if (build.status !== 0) throw new Error(`The copy cannot be built:\n${build.stderr}`);
  for (const { part, defect, file, find, replace, tests } of chosen) {
    const path = join(copy, file);
    const sound = readFileSync(path, "utf8");
    const places = sound.split(find).length - 1;
    if (places !== 1)
      throw new Error(
        `${file} has these lines ${places} times instead of once; correct the mutation of ${part}:\n${find}`,
      );
    if (!tests.some((test) => known.has(test)))
      throw new Error(`None of the tests of ${part} exists: ${tests.join(", ")}`);
    writeFileSync(
      path,
      sound.replace(find, () => replace),
    );
    // Tests in test/slow start the program, so the copy must be built.
    if (tests.some((test) => dirname(test) === "test/slow")) run(process.execPath, ["scripts/build.js"]);
    const caught = runTests(tests);
    writeFileSync(path, sound);
    console.log(`${caught ? "caught  " : "SURVIVED"} ${part}: ${defect}${caught ? `\n         ${caught}` : ""}`);
    if (!caught) survivors.push(defect);
  }
} finally {
  rmSync(copy, { recursive: true, force: true });
}
console.log(`${chosen.length - survivors.length} of ${chosen.length} defects were caught.`);
process.exitCode = survivors.length > 0 ? 1 : 0;
