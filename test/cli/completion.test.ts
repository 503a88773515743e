// The words that shell completion offers, taken from the declarations of the commands.

import { expect, test } from "vitest";
import { commands, everyCommand } from "../../src/cli/commands/index.ts";
import { candidatesFor } from "../../src/cli/completion-words.ts";
import { runCommand } from "../support/program.ts";

const offered = async (line: string) => candidatesFor(line.split(" "), await everyCommand()).map(([word]) => word);

test.each([
  ["cl", ["clock"]],
  ["clock ad", ["advance"]],
  ["help clo", ["clock"]],
  ["fault add lost", ["lost-response"]],
  ["fault add lost-response payments.", ["payments.list"]],
  ["fault add lost-response payments.list payouts.", ["payouts.list"]],
  ["fault add duplicate payout.pa", ["payout.paid"]],
  ["fault add lost-response --per k", ["key"]],
  ["fault add lost-response --per=k", ["--per=key"]],
  ["make payment --refunded-amount", ["--refunded-amount", "--refunded-amount-minor"]],
  ["make pay", ["payment", "payout", "payroll"]],
  ["move booking bkg_pending conf", ["confirmed"]],
  ["make booking --status conf", ["confirmed"]],
  ["show bookings --status=conf", ["--status=confirmed"]],
  ["trigger payout.pa", ["payout.paid"]],
  ["requests --operation payouts", ["payouts.list"]],
  ["scenario start lost", ["lost-response"]],
  ["make payment --merchant lo", ["lodge"]],
  ["env --format js", ["json"]],
  ["start --life of", ["off"]],
  ["--rate", ["--rate-limit"]],
  ["exec --memory --see", ["--seed"]],
  ["exec -- npm te", []],
  ["start --db ", []],
  ["completion z", ["zsh"]],
])("after %s, completion offers %j", async (line, expected) => {
  const words = await offered(line);
  expect(expected.filter((word) => !words.includes(word))).toEqual([]);
  if (expected.length === 0) expect(words).toEqual([]);
});

test("completion offers the commands as the first word", async () => {
  expect(await offered("")).toEqual([...Object.keys(commands), "help"]);
});

test("completion adds a flag's description if the shell can show descriptions", async () => {
  const last = ["--", "start", "--mem"];
  const text = "keep all data in memory instead of a file";
  expect((await runCommand(undefined, "completion", "bash", ...last)).out).toEqual(["--memory"]);
  expect((await runCommand(undefined, "completion", "zsh", ...last)).out).toEqual([`--memory:${text}`]);
  expect((await runCommand(undefined, "completion", "fish", ...last)).out).toEqual([`--memory\t${text}`]);
});
