// Completion in the shells themselves, where they are installed.

import { spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { needs } from "../support/needs.ts";
import { openShell } from "../support/page.ts";
import { PROGRAM } from "../support/program.ts";

/** The words that each shell offers for a command line, by the script that the program prints for it. */
const scripts: Readonly<Record<string, (line: string) => string>> = {
  bash: (line) => `eval "$(merchant-sandbox completion bash)"
COMP_LINE='${line}'
COMP_POINT=\${#COMP_LINE}
_merchant_sandbox
printf '%s\\n' "\${COMPREPLY[@]}"`,
  // Outside of a line editor, zsh has no lists of candidates: what the script hands to one is printed.
  zsh: (line) => `typeset -A _comps
compdef() { : }
_describe() { print -rl -- "\${lines[@]}" }
_files() { : }
eval "$(merchant-sandbox completion zsh)"
words=("\${(@s: :)$(print -r -- '${line}')}")
CURRENT=\${#words}
_merchant_sandbox`,
  fish: (line) => `merchant-sandbox completion fish | source
complete -C '${line}'`,
};

const isInstalled = (shell: string) => spawnSync(shell, ["--version"]).status === 0;

describe.each(Object.keys(scripts).map((shell) => [shell, needs(isInstalled(shell), shell)]))("%s%s", (shell) => {
  const offered = async (line: string) => {
    const { cwd, run, addCommand } = openShell();
    addCommand("merchant-sandbox", `exec "${process.execPath}" "${PROGRAM}" "$@"`);
    writeFileSync(join(cwd, "script"), scripts[shell]?.(line) ?? "");
    const { code, out, error } = await run(`${shell} script`);
    expect([code, error]).toEqual([0, ""]);
    return out.split("\n").map((text) => text.split(/[\t:]/)[0]);
  };

  test.skipIf(!isInstalled(shell)).each([
    ["merchant-sandbox cloc", "clock"],
    ["merchant-sandbox clock ad", "advance"],
    ["merchant-sandbox start --life ", "off"],
    ["merchant-sandbox move booking bkg_pending conf", "confirmed"],
    ["npx merchant-sandbox trigger payout.pa", "payout.paid"],
  ])("offers for %s: %s", async (line, word) => {
    expect(await offered(line)).toContain(word);
  });
});
