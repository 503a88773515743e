// The reports that a command is to leave behind: which, where, and writing them.

import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { REPORT_FORMATS, type ReportFormat } from "../../contracts/report-format.ts";
import { didYouMean } from "../../kernel/did-you-mean.ts";
import { SandboxError } from "../../kernel/errors.ts";
import type { Running } from "../remote/running-sandbox.ts";

export interface WantedReport {
  format: ReportFormat;
  file: string;
}

/** A comma parts two reports only where a format follows it, so that names of files may hold some. */
export function readReports(text: string | undefined): WantedReport[] {
  const parts = text?.split(new RegExp(`,(?=(?:${REPORT_FORMATS.join("|")})=)`)) ?? [];
  return parts.map((part) => {
    const [, format = part, file = ""] = /^([^=]*)=(.*)$/.exec(part) ?? [];
    const known = REPORT_FORMATS.find((name) => name === format);
    if (known !== undefined && file !== "") return { format: known, file: resolve(file) };
    throw new SandboxError(
      `--report takes FORMAT=FILE, with ${REPORT_FORMATS.join(", ")}; received "${part}".${didYouMean(format, REPORT_FORMATS)}`,
      "usage",
    );
  });
}

export async function writeReport({ format, file }: WantedReport, sandbox: Running): Promise<void> {
  const report: unknown = await sandbox.control.report({ format });
  try {
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, typeof report === "string" ? report : `${JSON.stringify(report, null, 2)}\n`);
  } catch (error) {
    throw new SandboxError(`Cannot write the report ${file}: ${(error as Error).message}.`);
  }
}
