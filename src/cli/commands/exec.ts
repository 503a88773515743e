// `exec`: runs another command with its own sandbox, and turns the problems of the run into an exit code.

import { createHash } from "node:crypto";
import { createWriteStream, lstatSync, mkdirSync, mkdtempSync, openSync, renameSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, dirname, join, resolve } from "node:path";
import { exitCodes, SandboxError, usageError } from "../../kernel/errors.ts";
import { PROGRAM } from "../../kernel/program-name.ts";
import { openSandbox, type Sandbox } from "../../sandbox/create.ts";
import { completeOptions } from "../../sandbox/options.ts";
import {
  findProblems,
  findWarnings,
  type ObservedRun,
  observeRun,
  readConditions,
  readReports,
  writeReport,
} from "../ci/run-checks.ts";
import { command } from "../command.ts";
import { eventLine } from "../output/event-lines.ts";
import { defectLine, heldNote, readyFacts, readyLine } from "../output/output.ts";
import { note } from "../output/print.ts";
import { isInPipeline } from "../output/show-sandbox.ts";
import { runChild, watchTree } from "../process/child.ts";
import { localUrl, merchantNamed, type RunningSandbox, sandboxAt, variablesOf } from "../remote/running-sandbox.ts";
import { endpointForSecret, forwardFlag, withForwardTo } from "../remote/webhook-target.ts";
import { endpointsToConfirm } from "../settings.ts";

const MOST_LINES = 5;

export const exec = command({
  summary: "run a command with its own sandbox, in memory on a free port by default",
  usage: "exec [--<option> ...] -- <command>",
  example: "exec --fail-on verdicts -- npm test",
  sandboxOptions: true,
  defaults: {
    port: "any free port",
    db: "in memory",
    isolation: "on",
    memory: "yes, unless --db names a file",
    trust: "yes if CI is set, because a CI job runs the folder's own code anyway",
  },
  rest: true,
  flags: {
    merchant: {
      value: "merchant",
      description: "give the command the API key of this merchant",
      defaultText: "the first one",
    },
    ...forwardFlag,
    "fail-on": {
      value: "what",
      multiple: true,
      description:
        "exit with 3 or 4 on: verdicts, inconclusive, 5xx (except from faults), ignored, score[=N], " +
        "uncovered[=N], uncovered=NAME,NAME; each also fails a run without requests",
    },
    report: {
      value: "format=file",
      multiple: true,
      description: "write a report as json, junit, markdown, html or har; separate several with commas",
    },
    log: {
      value: "file",
      description: "write the sandbox's log here",
      defaultText: "a temporary file, kept only on failure",
    },
  },
  async run({ flags, rest, ...given }) {
    if (!rest[0]) usageError(`The command is missing: ${PROGRAM} exec -- npm test.`);
    const checks = {
      failOn: flags["fail-on"] ?? "",
      conditions: readConditions(flags["fail-on"]),
      reports: readReports(flags.report),
    };
    const { options, sources } = withForwardTo(given, flags["forward-to"], flags.merchant);
    // --db implies a sandbox on disk.
    const complete = completeOptions(options, {
      port: 0,
      memory: options.db === undefined,
      isolation: "on",
      trust: isInPipeline(process.env),
    });
    const sandbox = await openSandbox(complete, { toConfirm: endpointsToConfirm({ options, sources }), isRun: true });
    try {
      await noteHeld(sandbox);
      const { id, key } = merchantNamed((await sandbox.merchants.list()).data, flags.merchant);
      const urls = complete.endpoints.map(({ url }) => url);
      const endpoint = await endpointForSecret(sandbox.endpoints, id, urls);
      const log = openLogFile(flags.log);
      await log.follow(sandbox);
      const run = observeRun(sandbox);
      const target = { url: localUrl(sandbox, complete.host), controlToken: sandbox.controlToken };
      return await runAndCheck({
        target,
        log,
        run,
        checks,
        command: rest,
        variables: variablesOf(target, key, endpoint?.secret),
      });
    } finally {
      await sandbox.close();
    }
  },
});

/** Prints which deliveries the sandbox holds, because tests that wait for them would time out. */
async function noteHeld(sandbox: Sandbox): Promise<void> {
  const held = heldNote(await readyFacts(sandbox));
  if (held !== undefined) note(held);
}

interface ExecRun {
  target: { url: string; controlToken: string | undefined };
  log: LogFile;
  run: ObservedRun;
  checks: { failOn: string; conditions: ReturnType<typeof readConditions>; reports: ReturnType<typeof readReports> };
  command: string[];
  variables: Record<string, string>;
}

/** Runs the command, checks the run, and then ends processes that the command left: their last calls do not count. */
async function runAndCheck({ target, log, run, checks, command, variables }: ExecRun): Promise<number> {
  const tree = watchTree(() => child.process);
  const child = runChild(command, { ...process.env, ...variables, ...tree.variables });
  // Undefined if the command could not be started.
  let code: number | undefined;
  try {
    code = await child.ended;
    const judged = await conclude(code, run, checks, sandboxAt(target));
    if (code === exitCodes.ok) code = judged;
    return code;
  } finally {
    await tree.end();
    const hasFailed = code !== undefined && code !== exitCodes.ok;
    await log.close(hasFailed || log.defects() > 0);
    const logError = log.error();
    if (logError !== undefined) note(`The log ${log.path()} is incomplete: ${logError}.`);
    if (log.defects() > 0) note(`The sandbox had an internal error; see its log ${log.path()}.`);
    else if (hasFailed && logError === undefined) note(`Exit code ${code}. The log of the sandbox is ${log.path()}.`);
  }
}

/** Checks the run, writes the reports, and returns an exit code. `ended` is the exit code of the command. */
async function conclude(
  ended: number,
  run: ObservedRun,
  { failOn, conditions, reports }: ExecRun["checks"],
  sandbox: RunningSandbox,
): Promise<number> {
  let code: number = exitCodes.ok;
  const isGreen = ended === exitCodes.ok;
  const reasons = isGreen ? [] : [`The command exited with ${ended}.`];
  const failed = (error: Error): [] => {
    note(error.message);
    code ||= exitCodes.runtime;
    reasons.push(error.message);
    return [];
  };
  const problems = await findProblems(conditions, sandbox.control, run).catch(failed);
  const warnings =
    problems.length > 0 ? [] : await findWarnings({ failOn, isGreen }, sandbox.control, run).catch(failed);
  for (const line of warnings) note(`Warning: ${line}`);
  for (const { exitCode, lines } of problems) {
    reasons.push(...lines.slice(0, MOST_LINES));
    for (const line of lines.slice(0, MOST_LINES)) note(line);
    if (lines.length > MOST_LINES) note(`… and ${lines.length - MOST_LINES} more`);
    code ||= exitCode;
  }
  const known = reasons.length;
  for (const report of reports) await writeReport(report, sandbox, { problems: reasons, failOn }).catch(failed);
  // A report that cannot be written fails the run, so all reports are written again, with that failure.
  if (reasons.length > known)
    for (const report of reports) await writeReport(report, sandbox, { problems: reasons, failOn }).catch(() => {});
  return code;
}

export type LogFile = ReturnType<typeof openLogFile>;

/**
 * Opens a file for the sandbox's output, because the command uses the terminal. `requested` is the file of `--log`
 * (default: a temporary file).
 */
function openLogFile(requested: string | undefined) {
  const opened = openFile(requested);
  const { fd, error: openError } = opened;
  let { path } = opened;
  const stream = fd === undefined ? undefined : createWriteStream(path, { fd });
  let error = openError;
  let defects = 0;
  stream?.on("error", ({ message }) => {
    error ??= message;
  });
  const write = (line: string) => {
    if (error === undefined) stream?.write(`${line}\n`);
  };
  return {
    path: () => path,
    /** Why the log is incomplete; undefined if it is complete. */
    error: () => error,
    /** The number of internal errors of the sandbox. */
    defects: () => defects,
    async follow(sandbox: Sandbox) {
      write(readyLine(await readyFacts(sandbox)));
      sandbox.onLiveEvent((event) => write(eventLine(event)));
      sandbox.onDefect((defect) => {
        defects++;
        write(defectLine(defect));
      });
    },
    /** Flushes and closes the file. Deletes a temporary file unless `keep` is set. */
    async close(keep: boolean) {
      if (stream && !stream.destroyed) await new Promise<void>((closed) => stream.once("close", closed).end());
      if (fd === undefined || requested !== undefined) return;
      if (keep) path = replaceLastLog(path);
      else rmSync(dirname(path), { recursive: true, force: true });
    },
  };
}

/**
 * Moves a temporary log to where the log of this folder's last failed run was, and returns the new path. If another
 * user owns that path, the log stays where it is.
 */
function replaceLastLog(path: string): string {
  const here = createHash("sha256").update(process.cwd()).digest("hex").slice(0, 12);
  const folder = join(tmpdir(), `merchant-sandbox-failed-${here}`);
  try {
    const last = lstatSync(folder, { throwIfNoEntry: false });
    const isOwn = last?.isDirectory() === true && last.uid === process.getuid?.();
    if (isOwn) rmSync(folder, { recursive: true, force: true });
    renameSync(dirname(path), folder);
    return join(folder, basename(path));
  } catch {
    return path;
  }
}

interface Opened {
  path: string;
  fd?: number;
  error?: string;
}

/** Does not fail without `--log`, so that the command runs even if the temporary file cannot be created. */
function openFile(requested: string | undefined): Opened {
  try {
    const path = resolve(requested ?? join(mkdtempSync(join(tmpdir(), "merchant-sandbox-")), "sandbox.log"));
    mkdirSync(dirname(path), { recursive: true });
    // Readable only by its owner, because the log contains API keys.
    return { path, fd: openSync(path, "a", 0o600) };
  } catch (error) {
    const { message } = error as Error;
    if (requested === undefined) return { path: tmpdir(), error: message };
    throw new SandboxError(
      `Cannot write the log ${resolve(requested)}: ${message}. Choose another file with --log <file>.`,
    );
  }
}
