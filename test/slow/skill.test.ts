// The page for coding agents, and tasks that need only the commands of that page.

import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { isHosted, wordsOf } from "../support/hosted-commands.ts";
import { ANY_PORT, folder, launchCommand, oneWordProgram, run } from "../support/program.ts";
import { call, open } from "../support/sandbox.ts";
import { startReceiver } from "../support/webhooks.ts";

test("skill prints a short page with every placeholder filled; a running sandbox serves the same page", async () => {
  const { code, out } = await run(["skill"]);
  expect([code, out.length <= 250]).toEqual([0, true]);
  const page = out.join("\n");
  expect(page).not.toMatch(/\{\{|undefined/);
  for (const part of ["GET /payments (payments.list)", "lost-response", "retry_after.honoured", "7 unsupported Node"])
    expect(page).toContain(part);
  const { url } = await open();
  const { text, headers } = await call(url, "GET", "/llms.txt", { key: null });
  expect([text.trimEnd(), headers["content-type"]]).toEqual([page.trimEnd(), "text/plain; charset=utf-8"]);
});

test("skill --write creates a skill file, or writes only its section of an existing file", async () => {
  const cwd = folder();
  const skill = join(cwd, ".claude/skills/merchant-sandbox/SKILL.md");
  expect((await run(["skill", "--write", skill], {}, cwd)).out).toEqual([`Wrote ${skill}.`]);
  expect(readFileSync(skill, "utf8")).toMatch(
    /^---\nname: merchant-sandbox\ndescription: .+\n---\n\n# merchant-sandbox/,
  );
  const file = join(cwd, "AGENTS.md");
  writeFileSync(file, "# Rules\n\nBe kind.\n");
  await run(["skill", "--write", "AGENTS.md"], {}, cwd);
  const once = readFileSync(file, "utf8");
  expect(once).toMatch(/^# Rules\n\nBe kind\.\n\n<!-- merchant-sandbox/);
  writeFileSync(file, `${once}\n# More rules\n`);
  await run(["skill", "--write", "AGENTS.md"], {}, cwd);
  expect(readFileSync(file, "utf8")).toBe(`${once}\n# More rules\n`);
  const broken = once.replace("<!-- /merchant-sandbox -->\n", "# More rules\n");
  writeFileSync(file, broken);
  const { code, error } = await run(["skill", "--write", "AGENTS.md"], {}, cwd);
  expect([code, error]).toEqual([
    2,
    expect.stringContaining("AGENTS.md:5: the section begins here, and its last line"),
  ]);
  expect(readFileSync(file, "utf8")).toBe(broken);
  const below = await run(["skill", "--write", "AGENTS.md/SKILL.md"], {}, cwd);
  expect(below).toMatchObject({ code: 2, error: expect.stringContaining("Cannot write AGENTS.md/SKILL.md (E") });
});

interface Step {
  command: string;
  code: number;
  out: string;
  error: string;
}

/** A line that is a command of the program and needs no shell. */
const ONE_COMMAND = /^npx merchant-sandbox [^|;&$<>()`]*$/;

/** A shell in a folder. In the shell, the commands of the page find the program and a separate sandbox. */
async function openShell() {
  const cwd = folder();
  const program = oneWordProgram();
  const env = { ...ANY_PORT, PATH: `${process.env.PATH}` };
  const steps: Step[] = [];
  const runLine = (line: string) => {
    const words = ONE_COMMAND.test(line) ? wordsOf(line) : [];
    return isHosted(words, env)
      ? run(words, env, cwd)
      : launchCommand("sh", ["-c", line.replaceAll("npx merchant-sandbox", program)], env, cwd).ended;
  };
  /** Runs commands one after another, without a terminal. A failed command does not stop the next ones. */
  const shell = async (...commands: string[]): Promise<Step[]> => {
    for (const command of commands) {
      const { code, out, error } = await runLine(command);
      steps.push({ command, code: code ?? -1, out: out.join("\n"), error });
    }
    return steps.slice(-commands.length);
  };
  return { cwd, shell, steps };
}

const START = "npx merchant-sandbox start --detach --memory --port 0 --clock 2026-01-05T12:00:00Z --json";
const GATE = "npx merchant-sandbox exec --scenario lost-response --fail-on verdicts --";
const STOP = "npx merchant-sandbox stop --json";
const CURL = 'eval "$(npx merchant-sandbox env)"; curl -s -H "Authorization: Bearer $MERCHANT_API_KEY"';
const BODY = '{"name":"Weekend","adjustmentType":"fixed","adjustmentValue":500}';
const RULE = `-H "Content-Type: application/json" -d '${BODY}'`;

const figures: { task: string; commands: number; bytes: number }[] = [];
afterAll(() => {
  if (process.env.TASKS === undefined) return;
  for (const { task, commands, bytes } of figures)
    process.stderr.write(`${task}: ${commands} commands, ${bytes} bytes\n`);
});

/** A task with its steps. The test starts a sandbox before and stops it after. */
function task(name: string, solve: (shell: (...commands: string[]) => Promise<Step[]>, cwd: string) => Promise<void>) {
  test(name, async () => {
    const { cwd, shell, steps } = await openShell();
    await shell(START);
    try {
      await solve(shell, cwd);
    } finally {
      await shell(STOP);
    }
    const bytes = steps.reduce((sum, { out, error }) => sum + out.length + error.length, 0);
    figures.push({ task: name, commands: steps.length, bytes });
    expect(steps.at(0)?.code).toBe(0);
    expect(bytes).toBeLessThan(20_000);
  });
}

const json = ({ out }: Step) => JSON.parse(out);
const lines = ({ out }: Step) => out.split("\n").map((line) => JSON.parse(line));

describe("tasks of an agent", () => {
  task("start a sandbox and call it", async (shell) => {
    const [status, answer] = (await shell(
      "npx merchant-sandbox status --json",
      `${CURL} "$MERCHANT_BASE_URL/payments?limit=1"`,
    )) as [Step, Step];
    expect(json(status)).toMatchObject({ ready: true });
    expect(json(answer)).toMatchObject({ object: "list", data: [{ object: "payment" }] });
  });

  task("find out why a webhook failed", async (shell) => {
    const receiver = await startReceiver();
    receiver.always({ status: 500, body: "database is down" });
    const { url } = receiver;
    const body = `-H "Content-Type: application/json" -d '{"url":"${url}","events":["*"]}'`;
    const [, , , deliveries] = (await shell(
      `${CURL} "$MERCHANT_BASE_URL/webhooks" ${body}`,
      "npx merchant-sandbox trigger payment.succeeded --json",
      "npx merchant-sandbox wait --settled --json",
      "npx merchant-sandbox deliveries --json",
    )) as [Step, Step, Step, Step];
    const [{ id }] = lines(deliveries);
    const [detail] = (await shell(`npx merchant-sandbox deliveries ${id} --json`)) as [Step];
    expect(json(detail)).toMatchObject({ responseStatus: 500 });
    expect(detail.out).toContain("database is down");
    await receiver.close();
  });

  task("survive a lost response", async (shell) => {
    const post = `${CURL} -H "Idempotency-Key: rule-1" "$MERCHANT_BASE_URL/hospitality/pricing-rules" ${RULE}`;
    const [, lost, again, gate] = (await shell(
      "npx merchant-sandbox fault add lost-response pricing_rules.create",
      post,
      post,
      "npx merchant-sandbox verdicts --fail",
    )) as [Step, Step, Step, Step];
    expect([lost.code === 0, json(again).object, gate.code]).toEqual([false, "pricing_rule", 0]);
  });

  task("see the verdict on a retry without an Idempotency-Key", async (shell) => {
    const post = `${CURL} "$MERCHANT_BASE_URL/hospitality/pricing-rules" ${RULE}`;
    const [, , , failed] = (await shell(
      "npx merchant-sandbox fault add lost-response pricing_rules.create",
      post,
      post,
      "npx merchant-sandbox verdicts --fail --json",
    )) as [Step, Step, Step, Step];
    expect(failed.code).toBe(3);
    expect(lines(failed)).toContainEqual(expect.objectContaining({ rule: "effect.single", hint: expect.any(String) }));
  });

  task("print the type of one request body", async (shell) => {
    const [types, wrong] = (await shell(
      "npx merchant-sandbox types pricing_rules.create",
      "npx merchant-sandbox types pricing_rule.create",
    )) as [Step, Step];
    expect(types.out.match(/^export .*/gm)).toEqual([
      "export interface PricingRulesCreateBody {",
      "export interface PricingRule {",
    ]);
    expect([wrong.code, wrong.error]).toEqual([2, expect.stringContaining("Did you mean pricing_rules.create?")]);
  });

  task("create a record for a test case", async (shell) => {
    const [made, shown] = (await shell(
      "npx merchant-sandbox make payment --status failed --amount 12.50 --json",
      "npx merchant-sandbox show payments --status failed --limit 1 --json",
    )) as [Step, Step];
    expect(json(shown)).toMatchObject({ id: json(made).id, amount: 1_250, status: "failed" });
  });

  task("advance the clock by a week", async (shell) => {
    const [advanced] = (await shell("npx merchant-sandbox clock advance 7d")) as [Step];
    expect(advanced.out).toMatch(/payout/);
    expect(advanced.out).toMatch(/2026-01-12T12:00:00/);
  });

  task("save records as a fixture file, and start from it", async (shell, cwd) => {
    const [, , , again] = (await shell(
      "npx merchant-sandbox make customer --name Ada --json",
      "npx merchant-sandbox fixture save blank mine.json",
      STOP,
      `${START} --fixtures mine.json`,
    )) as [Step, Step, Step, Step];
    expect([existsSync(join(cwd, "mine.json")), json(again).merchants.length]).toEqual([true, 1]);
  });

  task("check expectations, and see the closest match of a failed one", async (shell) => {
    const [, met, missed] = (await shell(
      `${CURL} "$MERCHANT_BASE_URL/payments?limit=1"`,
      "npx merchant-sandbox verify requests:payments.list=1 --json",
      `npx merchant-sandbox verify '{"requests":{"match":{"operation":"payments.list","status":429}}}' --json`,
    )) as [Step, Step, Step];
    expect([met.code, missed.code]).toEqual([0, 3]);
    expect(json(missed).results[0].closest[0].differs[0]).toMatchObject({ expected: 429, received: 200 });
  });

  task("gate a test run on verdicts", async (shell) => {
    const [green, idle] = (await shell(`${GATE} sh -c 'curl -s $MERCHANT_BASE_URL/payments'`, `${GATE} true`)) as [
      Step,
      Step,
    ];
    expect([green.code, idle.code]).toEqual([0, 4]);
  });

  task("correct a command by the hint of its error", async (shell) => {
    const [wrong] = (await shell("npx merchant-sandbox trigger payment.suceeded --json")) as [Step];
    const { error, hint, exitCode } = JSON.parse(wrong.error.trimEnd().split("\n").at(-1) ?? "");
    expect([error, exitCode]).toEqual(["usage", 2]);
    const [, type = ""] = /Did you mean (\S+)\?/.exec(hint) ?? [];
    const [right] = (await shell(`npx merchant-sandbox trigger ${type} --json`)) as [Step];
    expect(right.code).toBe(0);
  });
});
