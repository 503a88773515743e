// The reports of `exec --report`: which formats, and where they are written.

import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { REPORT_FORMATS, type ReportFormat } from "../../contracts/run-report.ts";
import { didYouMean } from "../../kernel/did-you-mean.ts";
import { SandboxError, usageError } from "../../kernel/errors.ts";
import type { RunningSandbox } from "../remote/running-sandbox.ts";

export interface RequestedReport {
  format: ReportFormat;
  file: string;
}

/** A comma separates two reports only if a format follows, so that file names may contain commas. */
export function readReports(text: string | undefined): RequestedReport[] {
  const parts = text?.split(new RegExp(`,(?=(?:${REPORT_FORMATS.join("|")})=)`)) ?? [];
  return parts.map((part) => {
    const [, format = part, file = ""] = /^([^=]*)=(.*)$/.exec(part) ?? [];
    const known = REPORT_FORMATS.find((name) => name === format);
    if (known !== undefined && file !== "") return { format: known, file: resolve(file) };
    return usageError(
      `--report takes <format>=<file>, with a format of ${REPORT_FORMATS.join(", ")}; received "${part}".${didYouMean(format, REPORT_FORMATS)}`,
    );
  });
}

/** They are part of a URL. */
const MAX_PROBLEMS = 10;
const MAX_PROBLEM = 300;

/** `problems` are the reasons for the exit code of the run, so that a report fails exactly if the run does. */
export async function writeReport(
  { format, file }: RequestedReport,
  sandbox: RunningSandbox,
  { problems, failOn }: { problems: readonly string[]; failOn: string },
): Promise<void> {
  const lines = problems.slice(0, MAX_PROBLEMS).map((line) => line.replaceAll(/\s+/g, " ").slice(0, MAX_PROBLEM));
  const report: unknown = await sandbox.control.report({ format, failOn, ...(lines.length > 0 ? { problems: lines.join("\n") } : {}) });
  try {
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, typeof report === "string" ? report : `${JSON.stringify(report, null, 2)}\n`, { mode: 0o600 });
  } catch (error) {
    throw new SandboxError(`Cannot write the report ${file}: ${(error as Error).message}.`);
  }
}
