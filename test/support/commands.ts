// Runs a command of the program in this process: starting the program takes longer than the command.

import { expect, vi } from "vitest";
import { commands } from "../../src/cli/commands/index.ts";
import { SandboxError } from "../../src/kernel/errors.ts";

export interface CommandRun {
  code: number;
  /** The lines of standard output. */
  out: string[];
  /** Standard error. */
  error: string;
}

/** Runs a command for the sandbox at this URL, or one that needs no sandbox. */
export async function runCommand(url: string | undefined, ...[name = "", ...words]: string[]): Promise<CommandRun> {
  const written = { out: "", error: "" };
  const spies = [
    vi.spyOn(process.stdout, "write").mockImplementation((text) => {
      written.out += String(text);
      return true;
    }),
    vi.spyOn(process.stderr, "write").mockImplementation((text) => {
      written.error += String(text);
      return true;
    }),
  ];
  try {
    const command = await commands[name]?.();
    const code = (await command?.run([...(url === undefined ? [] : ["--url", url]), ...words])) ?? -1;
    return { code, out: written.out.split("\n").filter((line) => line !== ""), error: written.error };
  } catch (error) {
    if (!(error instanceof SandboxError)) throw error;
    return { code: error.exitCode, out: [], error: error.message };
  } finally {
    for (const spy of spies) spy.mockRestore();
  }
}

/** Runs a command that must succeed, and returns its lines. */
export async function linesOf({ url }: { url: string }, ...words: string[]): Promise<string[]> {
  const { code, out, error } = await runCommand(url, ...words);
  expect([code, error]).toEqual([0, ""]);
  return out;
}
