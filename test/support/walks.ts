// The "## Add …" sections of CONTRIBUTING.md as patches: each holds its whole change as a diff without line numbers.

import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";

export interface Walk {
  /** Heading, such as "Add an operation". */
  title: string;
  changes: FileChange[];
}

interface FileChange {
  file: string;
  isNew: boolean;
  hunks: Hunk[];
}

interface Hunk {
  before: string[];
  after: string[];
}

/** The sections that describe how to add something. */
export function readWalks(page: string): Walk[] {
  const sections = page.split(/^## /m).filter((section) => section.startsWith("Add "));
  return sections.map((section) => ({
    title: section.slice(0, section.indexOf("\n")),
    changes: [...section.matchAll(/^```diff\n([\s\S]*?)^```$/gm)].flatMap(([, diff = ""]) => readDiff(diff)),
  }));
}

function readDiff(diff: string): FileChange[] {
  return diff.split(/^(?=--- )/m).map((text) => {
    const [head = "", ...hunks] = text.split(/^@@\n/m);
    const [, before = "", file = ""] = /^--- (\S+)\n\+\+\+ b\/(\S+)\n$/.exec(head) ?? [];
    if (file === "" || hunks.length === 0) throw new Error(`Not a diff of a file: ${JSON.stringify(text.slice(0, 200))}`);
    return { file, isNew: before === "/dev/null", hunks: hunks.map(readHunk) };
  });
}

function readHunk(text: string): Hunk {
  const lines = text.replace(/\n$/, "").split("\n");
  const without = (sign: string) => lines.filter((line) => !line.startsWith(sign)).map((line) => line.slice(1));
  return { before: without("+"), after: without("-") };
}

/** Applies the diff to a checkout. A hunk without context is appended to its file; any other must match exactly one place. */
export function applyWalk({ title, changes }: Walk, checkout: string): void {
  for (const { file, isNew, hunks } of changes) {
    const path = join(checkout, file);
    if (isNew === existsSync(path)) throw new Error(`${title}: ${file} ${isNew ? "exists already" : "does not exist"}.`);
    mkdirSync(dirname(path), { recursive: true });
    const before = isNew ? "" : readFileSync(path, "utf8");
    writeFileSync(
      path,
      hunks.reduce((text, hunk) => applyHunk(text, hunk, `${title}: ${file}`), before),
    );
  }
}

function applyHunk(text: string, { before, after }: Hunk, where: string): string {
  const added = `${after.join("\n")}\n`;
  if (before.length === 0) return text + added;
  const parts = `\n${text}`.split(`\n${before.join("\n")}\n`);
  if (parts.length !== 2) throw new Error(`${where} has these lines ${parts.length - 1} times instead of once:\n${before.join("\n")}`);
  return parts.join(`\n${added}`).slice(1);
}
