// The output of `npm test`: one line for each file, the failures, the skipped tests with their reasons, and one line
// with the counts and the time.

import { stripVTControlCharacters } from "node:util";
import type { TestCase, TestModule, Vitest } from "vitest/node";
import { DefaultReporter } from "vitest/node";

export class LineReporter extends DefaultReporter {
  constructor() {
    // The output of a test is shown only if the test fails.
    super({ isTTY: false, summary: false, silent: "passed-only" });
  }

  override onInit(vitest: Vitest): void {
    this.ctx = vitest;
    // Vitest also writes colours into files and pipes.
    if (process.stdout.isTTY || "FORCE_COLOR" in process.env) return;
    for (const method of ["log", "error"] as const) {
      const print = vitest.logger[method].bind(vitest.logger);
      vitest.logger[method] = (...texts: unknown[]) =>
        print(...texts.map((text) => stripVTControlCharacters(String(text))));
    }
  }

  /** A test has a line below its file only if the test failed, or was skipped for a reason. */
  override printTestCase(_state: unknown, test: TestCase): void {
    const result = test.result();
    if (result.state === "failed") this.log(`   × ${test.fullName}`);
    if (result.state === "skipped" && result.note !== undefined) this.log(`   ↓ ${test.fullName}: ${result.note}`);
  }

  /** Vitest's own summary is left out, because the counts are the last line. */
  override reportTestSummary(): void {}

  /**
   * Prints the failures, and then the counts. Failures go to stderr. A long failure may still be on its way through a
   * pipe, so the counts wait for it.
   */
  override async onTestRunEnd(
    ...[modules, errors, reason]: Parameters<DefaultReporter["onTestRunEnd"]>
  ): Promise<void> {
    super.onTestRunEnd(modules, errors, reason);
    for (const stream of [process.stdout, process.stderr]) await written(stream);
    this.printSkipped(modules);
    this.printCounts(modules, errors);
    await written(process.stdout);
  }

  /** Prints the skipped tests by reason. */
  private printSkipped(modules: readonly TestModule[]): void {
    // With -t, all other tests are skipped on purpose.
    if (this.ctx.config.testNamePattern) return;
    const byReason = new Map<string, TestCase[]>();
    for (const test of modules.flatMap((module) => [...module.children.allTests("skipped")])) {
      const reason = reasonOf(test);
      byReason.set(reason, [...(byReason.get(reason) ?? []), test]);
    }
    for (const [reason, tests] of byReason) {
      const files = [...new Set(tests.map((test) => test.module.relativeModuleId))];
      this.log(`Skipped: ${tests.length} in ${files.join(", ")}. ${reason}`);
    }
  }

  private printCounts(modules: readonly TestModule[], errors: readonly unknown[]): void {
    const tests = modules.flatMap((module) => [...module.children.allTests()]);
    const count = (state: string) => tests.filter((test) => test.result().state === state).length;
    // A file that cannot be loaded has no tests, and an error outside the tests has no file.
    const failed = count("failed") + modules.filter(isUnloaded).length + errors.length;
    const seconds = Math.round((this.end - this.start) / 1_000);
    this.log(
      `${count("passed")} passed, ${failed} failed, ${count("skipped")} skipped, ${modules.length} files, ${seconds} s`,
    );
  }
}

/** Why a test was skipped. Its title says what it needs, or the test skipped itself with a note. */
function reasonOf(test: TestCase): string {
  const [, need] = /\(needs ([^)]+)\)/.exec(test.fullName) ?? [];
  if (need !== undefined) return `They need ${need}`;
  const result = test.result();
  if (result.state === "skipped" && result.note !== undefined) return `Reason: ${result.note}`;
  if (test.options.mode !== "skip") return "Reason: their setup failed";
  return "No reason given: end their titles with needs() of test/support/needs.ts";
}

/** Resolves when a stream has written everything that it was given. */
const written = (stream: NodeJS.WriteStream) => new Promise((resolve) => stream.write("", resolve));

const isUnloaded = (module: TestModule) =>
  module.state() === "failed" && ![...module.children.allTests("failed")].length;
