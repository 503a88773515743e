// Fuzzes arguments and environment variables. A command works, or fails with one sentence and a documented exit code.

import fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import { parseArguments } from "../../src/cli/arguments.ts";
import { everyCommand } from "../../src/cli/commands/index.ts";
import { readSettings } from "../../src/cli/settings.ts";
import { exitCodes, SandboxError } from "../../src/kernel/errors.ts";
import { createSandbox } from "../../src/sandbox/create.ts";
import { flagOf, type OptionName, optionDefinitions, variableOf } from "../../src/sandbox/options.ts";
import { anyText, runs } from "../support/fuzzing.ts";
import { type Bench, NOON, share } from "../support/sandbox.ts";

const commands = await everyCommand();
const optionNames = Object.keys(optionDefinitions) as OptionName[];

const KNOWN_WORDS = [
  ...["ls", "add", "rm", "clear", "advance", "set", "now", "real", "freeze", "on", "off", "none"],
  ...[
    "429",
    "status=503",
    "latency",
    "payments.list",
    "payment.succeeded",
    "brownout",
    "mer_lodge",
    "lodge",
    "evt_1",
    "whd_1",
  ],
  ...["5s", "-5s", "1h30m", "2/s", "--", "-", "--json", "--help"],
];
const ODD_TEXTS = [
  ...[
    "",
    " ",
    "0",
    "-1",
    "1e9",
    "9".repeat(400),
    "9007199254740993",
    "NaN",
    "null",
    "{}",
    '{"a":',
    "=",
    ",",
    ";;",
    "a=b=c",
    "all=none",
  ],
  ...[
    "../../etc/passwd",
    "/dev/null",
    "http://[::1",
    "ftp://x",
    "10/10s",
    "2026-02-30",
    "sk_live_x",
    "__proto__",
    "constructor",
  ],
  ...[
    "\u0000",
    "\u001b[2J",
    "ünïcode ✓",
    "x".repeat(5_000),
    "--__proto__",
    "--constructor=1",
    "--no-json",
    "-x",
    "---",
  ],
];

const argument = fc.oneof(fc.constantFrom(...KNOWN_WORDS), fc.constantFrom(...ODD_TEXTS), anyText({ maxLength: 10 }));

const wordsFor = (flags: readonly string[]) =>
  fc.array(
    fc.oneof(
      argument,
      fc.tuple(fc.constantFrom(...flags), argument).map(([flag, text]) => [flag, text]),
      fc.tuple(fc.constantFrom(...flags), argument).map(([flag, text]) => `${flag}=${text}`),
    ),
    { maxLength: 6 },
  );

/** Expects an error with a documented exit code, and with a message that reveals no internals. */
function expectRefusal(error: unknown, label: string): void {
  expect(error, `${label}: ${(error as Error)?.stack}`).toBeInstanceOf(SandboxError);
  const { message, exitCode } = error as SandboxError;
  expect(Object.values(exitCodes), label).toContain(exitCode);
  expect(message, label).toMatch(/\S/);
  expect(message, label).not.toMatch(/\n {4}at |\[object|undefined/);
}

let bench: Bench;
const { write } = process.stdout;
beforeAll(async () => {
  bench = await share({ rateLimit: "none" });
  process.env.MERCHANT_SANDBOX_URL = bench.url;
  process.stdout.write = () => true;
});
afterAll(async () => {
  process.stdout.write = write;
  delete process.env.MERCHANT_SANDBOX_URL;
  await bench.close();
});

test("options start a sandbox, or are rejected with a documented exit code", async () => {
  // These options affect things outside the test, such as files and addresses.
  const outside = ["db", "host", "port", "memory", "webhookTimeout"];
  const flags = optionNames.filter((name) => !outside.includes(name)).map(flagOf);
  const variables = fc.dictionary(
    fc.constantFrom(...optionNames.filter((name) => !outside.includes(name)).map(variableOf)),
    argument,
    {
      maxKeys: 2,
    },
  );
  let started = 0;
  const property = fc.asyncProperty(wordsFor(flags), variables, async (words, environment) => {
    const label = JSON.stringify([words, environment]).slice(0, 1_000);
    try {
      const { optionFlags } = parseArguments(words.flat(), { name: "start", sandboxOptions: optionNames, flags: {} });
      const { options } = await readSettings(optionFlags, optionNames, environment);
      const sandbox = await createSandbox({ clock: NOON, ...options, memory: true, port: 0 });
      started++;
      await sandbox.close();
    } catch (error) {
      expectRefusal(error, label);
    }
  });
  const { examples: _, ...how } = runs(100);
  await fc.assert(property, how as fc.Parameters<[(string | string[])[], Record<string, string>]>);
  expect(started).toBeGreaterThan(2);
});

/** Commands that neither wait nor stop anything. They use the sandbox of MERCHANT_SANDBOX_URL. */
const SAFE = ["env", "status", "trigger", "deliveries", "replay", "reset", "clock", "fault", "scenario"];

/** Regression tests: a token that no header can contain, and properties of Object.prototype as names. */
const CORPUS: { name: string; words: (string | string[])[] }[] = [
  { name: "status", words: [["--control-token", "✓"]] },
  { name: "scenario", words: ["__proto__"] },
  { name: "fault", words: ["constructor"] },
];

test("a command for a running sandbox works, or fails with one sentence", async () => {
  const call = fc.constantFrom(...SAFE).chain((name) => {
    const flags = Object.keys(commands[name]?.flags ?? {}).filter(
      (flag) => !["url", "follow", "watch", "help"].includes(flag),
    );
    return fc.record({ name: fc.constant(name), words: wordsFor([...flags.map((flag) => `--${flag}`), "--nonsense"]) });
  });
  let done = 0;
  const property = fc.asyncProperty(call, async ({ name, words }) => {
    const label = JSON.stringify([name, words]).slice(0, 1_000);
    try {
      const code = await commands[name]?.run(words.flat());
      expect(Object.values(exitCodes), label).toContain(code);
      done++;
    } catch (error) {
      expectRefusal(error, label);
    }
    expect(bench.defects.splice(0), label).toEqual([]);
  });
  await fc.assert(property, runs(200, CORPUS));
  expect(done).toBeGreaterThan(10);
  expect((await bench.call("GET", "/_sandbox", { key: null })).status).toBe(200);
});
