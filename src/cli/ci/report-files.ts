// The reports that a command is to leave behind: which, where, and writing them.

import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { didYouMean } from "../../kernel/did-you-mean.ts";
import { SandboxError } from "../../kernel/errors.ts";
import type { Running } from "../remote/running-sandbox.ts";

export interface WantedReport {
  format: string;
  file: string;
}

const FORMATS = ["json", "junit", "markdown", "html", "har"];

/** A comma parts two reports only where a format follows it, so that names of files may hold some. */
export function readReports(text: string | undefined): WantedReport[] {
  const parts = text?.split(new RegExp(`,(?=(?:${FORMATS.join("|")})=)`)) ?? [];
  return parts.map((part) => {
    const [, format = part, file = ""] = /^([^=]*)=(.*)$/.exec(part) ?? [];
    if (FORMATS.includes(format) && file !== "") return { format, file: resolve(file) };
    throw new SandboxError(
      `--report takes FORMAT=FILE, with ${FORMATS.join(", ")}; received "${part}".${didYouMean(format, FORMATS)}`,
      "usage",
    );
  });
}

export async function writeReport({ format, file }: WantedReport, sandbox: Running): Promise<void> {
  const report = await sandbox.control<unknown>("GET", `/report?format=${format}`);
  try {
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, typeof report === "string" ? report : `${JSON.stringify(report, null, 2)}\n`);
  } catch (error) {
    throw new SandboxError(`Cannot write the report ${file}: ${(error as Error).message}.`);
  }
}
