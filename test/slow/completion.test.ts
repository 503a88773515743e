// Shell completion, tried in each installed shell.

import { spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, test } from "vitest";
import { needs } from "../support/needs.ts";
import { openShell } from "../support/page.ts";
import { PROGRAM } from "../support/program.ts";

interface ShellScript {
  /** Loads the script that the program prints for this shell. */
  load: string;
  /** Prints the words that the shell offers for a command line. */
  offer(line: string): string;
}

const scripts: Readonly<Record<string, ShellScript>> = {
  bash: {
    load: `eval "$(merchant-sandbox completion bash)"`,
    offer: (line) => `COMP_LINE='${line}'
COMP_POINT=\${#COMP_LINE}
_merchant_sandbox
printf '%s\\n' "\${COMPREPLY[@]}"`,
  },
  // Outside of its line editor, zsh shows no candidates. So `_describe` prints the candidates that the script passes.
  zsh: {
    load: `typeset -A _comps
compdef() { : }
_describe() { print -rl -- "\${lines[@]}" }
_files() { : }
eval "$(merchant-sandbox completion zsh)"`,
    offer: (line) => `words=("\${(@s: :)$(print -r -- '${line}')}")
CURRENT=\${#words}
_merchant_sandbox`,
  },
  fish: {
    load: "merchant-sandbox completion fish | source",
    offer: (line) => `complete -C '${line}'`,
  },
};

const LINES = [
  ["merchant-sandbox cloc", "clock"],
  ["merchant-sandbox clock ad", "advance"],
  ["merchant-sandbox start --life ", "off"],
  ["merchant-sandbox move booking bkg_pending conf", "confirmed"],
  ["npx merchant-sandbox trigger payout.pa", "payout.paid"],
] as const;

const END = "end of the words";

const isInstalled = (shell: string) => spawnSync(shell, ["--version"]).status === 0;

describe.each(
  Object.entries(scripts).map(([shell, script]) => [shell, needs(isInstalled(shell), shell), script] as const),
)("%s%s", (shell, _, { load, offer }) => {
  /**
   * The offered words by command line. One shell process completes all lines, because starting a shell takes longest.
   */
  const offered = new Map<string, string[]>();

  beforeAll(async () => {
    if (!isInstalled(shell)) return;
    const { cwd, run, addCommand } = openShell();
    addCommand("merchant-sandbox", `exec "${process.execPath}" "${PROGRAM}" "$@"`);
    writeFileSync(join(cwd, "script"), [load, ...LINES.map(([line]) => `${offer(line)}\necho '${END}'`)].join("\n"));
    const { code, out, error } = await run(`${shell} script`);
    expect([code, error]).toEqual([0, ""]);
    for (const [index, words] of out.split(`${END}\n`).entries())
      offered.set(
        LINES[index]?.[0] ?? "",
        words.split("\n").map((text) => text.split(/[\t:]/)[0] ?? ""),
      );
  });

  test.skipIf(!isInstalled(shell)).each(LINES)("completes `%s` with `%s`", (line, word) => {
    expect(offered.get(line)).toContain(word);
  });
});
