// A page of the documentation as tests read it: its sections and fenced blocks, and a shell in which its commands run.

import { execFile } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { pathToFileURL } from "node:url";
import { afterAll } from "vitest";
import { folder, ownEnvironment, PROGRAM } from "./program.ts";

export const root = join(import.meta.dirname, "../..");

/** A module that makes time pass faster in a program. */
const FAST_CLOCK = join(root, "test/support/fast-clock.js");
const CHEAP_FETCH = join(root, "test/support/cheap-fetch.cjs");

/** A variable that makes `fetch` cost less in Node programs, and that also loads `modules` into these programs. */
const cheapFetch = (...modules: string[]) => ({
  NODE_OPTIONS: [`--require ${JSON.stringify(CHEAP_FETCH)}`, ...modules.map((module) => `--import ${module}`)].join(
    " ",
  ),
});

/** Variables that make timers of Node programs end sooner, and that also load `modules` into these programs. */
export const fastClock = (speed: number, ...modules: string[]) => ({
  CLOCK_SPEED: String(speed),
  ...cheapFetch(pathToFileURL(FAST_CLOCK).href, ...modules),
});

/** Makes time pass faster in this process until the test file ends. */
export async function speedUp(speed: number): Promise<void> {
  const real = { Date: globalThis.Date, setTimeout: globalThis.setTimeout, setInterval: globalThis.setInterval };
  const { now } = performance;
  afterAll(() => {
    Object.assign(globalThis, real);
    performance.now = now;
  });
  process.env.CLOCK_SPEED = String(speed);
  await import(FAST_CLOCK);
}

export const readPage = (name: string) => readFileSync(join(root, name), "utf8");

/** The section under a heading. */
export const section = (page: string, title: string) =>
  page.split(/^## /m).find((text) => text.startsWith(`${title}\n`)) ?? "";

/** The fenced blocks of one language. */
export const fences = (text: string, language: string) =>
  [...text.matchAll(new RegExp(`^\`\`\`${language}\n([\\s\\S]*?)\n\`\`\`$`, "gm"))].map((match) => match[1] as string);

/** The table rows that have more or fewer cells than the row before. */
export const raggedRows = (text: string) => {
  const lines = text.split("\n");
  const cells = lines.map((line) => (line.startsWith("|") ? line.replaceAll("\\|", "").split("|").length : 0));
  return lines.filter((_, index) => cells[index] && cells[index - 1] && cells[index] !== cells[index - 1]);
};

/** Turns output that a page shows into the source of a pattern. `…` stands for any text on its line. */
export const printed = (text: string) =>
  text
    .split("…")
    .map((part) => part.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"))
    .join("[^\\n]*?");

/** The lines of the shell blocks. */
export const linesOf = (text: string) => fences(text, "sh").flatMap((block) => block.split("\n"));

export interface ShellRun {
  code: number;
  out: string;
  error: string;
}

/** A folder with `npx merchant-sandbox`, and a shell in it. `variables` are added to the environment of each script. */
export function openShell(variables: Readonly<Record<string, string>> = {}) {
  const cwd = folder();
  const bin = join(cwd, "node_modules/.bin");
  mkdirSync(bin, { recursive: true });
  /** Adds a command that the scripts find first. */
  const addCommand = (name: string, script: string) =>
    writeFileSync(join(bin, name), `#!/bin/sh\n${script}\n`, { mode: 0o755 });
  addCommand("npx", `shift\nexec "${process.execPath}" "${PROGRAM}" "$@"`);
  const env = { ...ownEnvironment(), PATH: `${bin}${delimiter}${process.env.PATH}`, ...variables };
  return {
    cwd,
    env,
    addCommand,
    run: (script: string, more: Readonly<Record<string, string>> = {}) =>
      new Promise<ShellRun>((resolve) => {
        execFile("sh", ["-e", "-c", script], { cwd, env: { ...env, ...more } }, (failure, out, error) =>
          resolve({ code: failure ? Number(failure.code) : 0, out, error }),
        );
      }),
  };
}

export type PageShell = ReturnType<typeof openShell>;
