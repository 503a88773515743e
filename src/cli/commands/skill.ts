// `skill`: prints the page for coding agents, or writes it where they look for it.

import { existsSync, mkdirSync, readFileSync } from "node:fs";
import { basename, dirname } from "node:path";
import { usageError } from "../../kernel/errors.ts";
import { skillPage } from "../../sandbox/skill-page.ts";
import { lineAt } from "../../store/world/json-file.ts";
import { command } from "../command.ts";
import { print, printText, writeOutput } from "../output/print.ts";

const BEGIN = "<!-- merchant-sandbox: written by `merchant-sandbox skill --write` -->";
const END = "<!-- /merchant-sandbox -->";

/** Coding agents read this text to decide whether to read the page. */
const DESCRIPTION =
  "Run, break and inspect a local emulator of the merchant API (payments, payouts, bookings, payroll, webhooks). " +
  "Use when code calls this API, receives its webhooks, or its tests need a sandbox.";
const FRONT_MATTER = `---
name: merchant-sandbox
description: ${DESCRIPTION}
---

`;

export const skill = command({
  summary: "print the page for coding agents, or write it where they look for it",
  usage: "skill",
  flags: {
    write: {
      value: "file",
      description:
        "write it to this file, such as .claude/skills/merchant-sandbox/SKILL.md, or as a section of AGENTS.md",
    },
  },
  async run({ flags: { write: file } }) {
    if (file === undefined) return printText(skillPage().trimEnd());
    toWrite(file, () => mkdirSync(dirname(file), { recursive: true }));
    await writeOutput(file, basename(file) === "SKILL.md" ? FRONT_MATTER + skillPage() : withSection(file));
    print(`Wrote ${file}.`);
  },
});

/** Runs one step of writing a file. An error names the file. */
function toWrite<Result>(file: string, work: () => Result): Result {
  try {
    return work();
  } catch (error) {
    return usageError(`Cannot write ${file} (${(error as NodeJS.ErrnoException).code}).`);
  }
}

/** The text of an existing file, with the page as a section at its end or in place of an earlier one. */
function withSection(file: string): string {
  const text = toWrite(file, () => (existsSync(file) ? readFileSync(file, "utf8") : ""));
  const section = `${BEGIN}\n${skillPage().replaceAll(/^#/gm, "##")}${END}\n`;
  const begin = text.indexOf(BEGIN);
  if (begin < 0) return text === "" ? section : `${text.trimEnd()}\n\n${section}`;
  const end = text.indexOf(END, begin);
  if (end < 0)
    usageError(
      `${file}:${lineAt(text, begin)}: the section begins here, and its last line is missing. ` +
        `Add ${END} where it ends, or delete the section.`,
    );
  return text.slice(0, begin) + section + text.slice(end + END.length).replace(/^\n/, "");
}
