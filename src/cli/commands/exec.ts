// `exec`: a sandbox for as long as another command runs, and what came of it as an exit code.

import { exitCodes, SandboxError } from "../../kernel/errors.ts";
import { escapeControlCharacters } from "../../kernel/escape-control.ts";
import { createSandbox } from "../../sandbox/create.ts";
import { completeOptions, type GivenOptions } from "../../sandbox/options.ts";
import { findWrong, readConditions } from "../ci/fail-on.ts";
import { readReports, writeReport } from "../ci/report-files.ts";
import { command, note } from "../command.ts";
import { type LogFile, openLogFile } from "../output/log-file.ts";
import { runChild } from "../process/child.ts";
import { watchTree } from "../process/process-tree.ts";
import { localUrl, variablesOf } from "../remote/environment.ts";
import { merchantNamed, type Running, running } from "../remote/running-sandbox.ts";

const MOST_LINES = 5;

export const exec = command({
  summary: "run a command with a sandbox of its own, in memory and on any free port unless told otherwise",
  usage: "exec [options] -- COMMAND …",
  sandboxOptions: true,
  rest: true,
  flags: {
    fixture: { value: "merchant", description: "whose key the command gets; the first merchant's unless given" },
    "fail-on": {
      value: "what",
      multiple: true,
      description: "end with 3 or 4 although the command succeeded: verdicts,inconclusive,5xx,score=N,uncovered=N,uncovered=NAME,NAME",
    },
    report: {
      value: "format=file",
      multiple: true,
      description: "write the run as json, junit, markdown, html or har; several parted by commas",
    },
    log: {
      value: "file",
      description: "keep what the sandbox says here; else in a temporary file, which stays only where something failed",
    },
  },
  async run({ options, flags, rest }) {
    if (rest.length === 0) throw new SandboxError("Say after -- what to run: merchant-sandbox exec -- npm test.", "usage");
    const wanted = { conditions: readConditions(flags["fail-on"]), reports: readReports(flags.report) };
    const complete = completeOptions(options, defaultsFor(options));
    const sandbox = await createSandbox(complete);
    try {
      const { key } = merchantNamed((await sandbox.merchants.list()).data, flags.fixture);
      const log = openLogFile(flags.log);
      await log.follow(sandbox);
      const place = { url: localUrl(sandbox, complete.host), controlToken: sandbox.controlToken };
      return await runInside({ place, log, wanted, words: rest, variables: variablesOf(place, key) });
    } finally {
      await sandbox.close();
    }
  },
});

/** Whoever names a file wants it used. */
const defaultsFor = ({ db }: GivenOptions) => ({ port: 0, memory: db === undefined });

interface Inside {
  place: { url: string; controlToken: string | undefined };
  log: LogFile;
  wanted: { conditions: ReturnType<typeof readConditions>; reports: ReturnType<typeof readReports> };
  words: string[];
  variables: Record<string, string>;
}

/** The run is judged when the command has ended and before its tree is: what dies then is no news. */
async function runInside({ place, log, wanted, words, variables }: Inside): Promise<number> {
  const tree = watchTree(() => child.process);
  const child = runChild(words, { ...process.env, ...variables, ...tree.variables });
  let code: number = exitCodes.usage;
  try {
    code = await child.ended;
    const judged = await conclude(wanted, running({ url: place.url, "control-token": place.controlToken }));
    if (code === exitCodes.ok) code = judged;
    return code;
  } finally {
    await tree.end();
    await log.close(code !== exitCodes.ok || log.defects() > 0);
    tellOfLog(log, code);
  }
}

/** The exit code that the run deserves by itself. What fails here is told, and hides nothing of what the command came to. */
async function conclude({ conditions, reports }: Inside["wanted"], sandbox: Running): Promise<number> {
  let code: number = exitCodes.ok;
  const failed = (error: Error): [] => {
    note(error.message);
    code ||= exitCodes.runtime;
    return [];
  };
  for (const { exitCode, lines } of await findWrong(conditions, sandbox).catch(failed)) {
    for (const line of lines.slice(0, MOST_LINES)) note(escapeControlCharacters(line));
    if (lines.length > MOST_LINES) note(`… and ${lines.length - MOST_LINES} more`);
    code ||= exitCode;
  }
  for (const report of reports) await writeReport(report, sandbox).catch(failed);
  return code;
}

function tellOfLog(log: LogFile, code: number): void {
  const trouble = log.trouble();
  if (trouble !== undefined) note(`The log ${log.path} does not hold everything: ${trouble}.`);
  if (log.defects() > 0) note(`The sandbox has a defect of its own; its log ${log.path} tells of it.`);
  else if (code !== exitCodes.ok && trouble === undefined) note(`Ended with ${code}. What the sandbox answered is in ${log.path}.`);
}
