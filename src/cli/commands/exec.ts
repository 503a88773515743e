// `exec`: runs another command with its own sandbox, and turns the problems of the run into an exit code.

import { exitCodes, usageError } from "../../kernel/errors.ts";
import { createSandbox } from "../../sandbox/create.ts";
import { completeOptions } from "../../sandbox/options.ts";
import { findProblems, findWarnings, type ObservedRun, observeRun, readConditions, readReports, writeReport } from "../ci/run-checks.ts";
import { command } from "../command.ts";
import { type LogFile, openLogFile } from "../output/log-file.ts";
import { note } from "../output/print.ts";
import { runChild, watchTree } from "../process/child.ts";
import { localUrl, merchantNamed, type RunningSandbox, sandboxAt, variablesOf } from "../remote/running-sandbox.ts";

const MOST_LINES = 5;

export const exec = command({
  summary: "run a command with its own sandbox, in memory on a free port by default",
  usage: "exec [--<option> ...] -- <command>",
  sandboxOptions: true,
  defaults: { port: "any free port", db: "in memory", memory: "yes, unless --db names a file" },
  rest: true,
  flags: {
    fixture: { value: "merchant", description: "give the command the API key of this merchant (default: the first one)" },
    "fail-on": {
      value: "what",
      multiple: true,
      description:
        "exit with 3 or 4 on: verdicts, inconclusive, 5xx (but not those of faults), ignored, score[=N], uncovered[=N], uncovered=NAME,NAME; each also fails a run without requests",
    },
    report: {
      value: "format=file",
      multiple: true,
      description: "write a report as json, junit, markdown, html or har; separate several with commas",
    },
    log: {
      value: "file",
      description: "write the sandbox's log here (default: a temporary file, kept only on failure)",
    },
  },
  async run({ options, flags, rest }) {
    if (!rest[0]) usageError("The command is missing: merchant-sandbox exec -- npm test.");
    const checks = { failOn: flags["fail-on"] ?? "", conditions: readConditions(flags["fail-on"]), reports: readReports(flags.report) };
    // --db implies a sandbox on disk.
    const complete = completeOptions(options, { port: 0, memory: options.db === undefined });
    const sandbox = await createSandbox(complete);
    try {
      const { key } = merchantNamed((await sandbox.merchants.list()).data, flags.fixture);
      const log = openLogFile(flags.log);
      await log.follow(sandbox);
      const run = observeRun(sandbox);
      const target = { url: localUrl(sandbox, complete.host), controlToken: sandbox.controlToken };
      return await runInside({ target, log, run, checks, command: rest, variables: variablesOf(target, key) });
    } finally {
      await sandbox.close();
    }
  },
});

interface Inside {
  target: { url: string; controlToken: string | undefined };
  log: LogFile;
  run: ObservedRun;
  checks: { failOn: string; conditions: ReturnType<typeof readConditions>; reports: ReturnType<typeof readReports> };
  command: string[];
  variables: Record<string, string>;
}

/** Runs the command. Checks the run after the command's exit, but before killing its remaining processes, whose requests must not count. */
async function runInside({ target, log, run, checks, command, variables }: Inside): Promise<number> {
  const tree = watchTree(() => child.process);
  const child = runChild(command, { ...process.env, ...variables, ...tree.variables });
  let code: number = exitCodes.usage;
  try {
    code = await child.ended;
    const judged = await conclude(code, run, checks, sandboxAt(target));
    if (code === exitCodes.ok) code = judged;
    return code;
  } finally {
    await tree.end();
    await log.close(code !== exitCodes.ok || log.defects() > 0);
    tellOfLog(log, code);
  }
}

/** The exit code of the checks. `ended` is the command's exit code, which takes precedence. Errors here are printed. */
async function conclude(
  ended: number,
  run: ObservedRun,
  { failOn, conditions, reports }: Inside["checks"],
  sandbox: RunningSandbox,
): Promise<number> {
  let code: number = exitCodes.ok;
  const reasons = ended === exitCodes.ok ? [] : [`The command exited with ${ended}.`];
  const failed = (error: Error): [] => {
    note(error.message);
    code ||= exitCodes.runtime;
    reasons.push(error.message);
    return [];
  };
  const problems = await findProblems(conditions, sandbox.control, run).catch(failed);
  const warnings = problems.length > 0 ? [] : await findWarnings(failOn, sandbox.control, run).catch(failed);
  for (const line of warnings) note(`Warning: ${line}`);
  for (const { exitCode, lines } of problems) {
    reasons.push(...lines.slice(0, MOST_LINES));
    for (const line of lines.slice(0, MOST_LINES)) note(line);
    if (lines.length > MOST_LINES) note(`… and ${lines.length - MOST_LINES} more`);
    code ||= exitCode;
  }
  const known = reasons.length;
  for (const report of reports) await writeReport(report, sandbox, { problems: reasons, failOn }).catch(failed);
  // A report that cannot be written fails the run. All reports are written again, to include that failure.
  if (reasons.length > known)
    for (const report of reports) await writeReport(report, sandbox, { problems: reasons, failOn }).catch(() => {});
  return code;
}

function tellOfLog(log: LogFile, code: number): void {
  const logError = log.error();
  if (logError !== undefined) note(`The log ${log.path} is incomplete: ${logError}.`);
  if (log.defects() > 0) note(`The sandbox had an internal error; see its log ${log.path}.`);
  else if (code !== exitCodes.ok && logError === undefined) note(`Exit code ${code}. The log of the sandbox is ${log.path}.`);
}
