// `completion`: prints the script that completes command lines in a shell. The script asks this command for the candidates.

import { didYouMean } from "../../kernel/did-you-mean.ts";
import { SandboxError } from "../../kernel/errors.ts";
import { type Command, command } from "../command.ts";
import { candidatesFor } from "../completion.ts";
import { printColumns, printText } from "../output/print.ts";

/** How to load each script is its first line. The part before the colon of a word is its own word in bash: only the last part is replaced. */
const scripts: Readonly<Record<string, string>> = {
  bash: `# Add to ~/.bashrc:  eval "$(merchant-sandbox completion bash)"
_merchant_sandbox() {
  local IFS=$'\\n'
  local line="\${COMP_LINE:0:COMP_POINT}" words
  read -r -a words <<< ""
  IFS=$' \\t' read -r -a words <<< "$line"
  [[ "$line" == *[[:space:]] ]] && words+=("")
  COMPREPLY=($("\${words[0]}" completion bash -- "\${words[@]:1}" 2>/dev/null))
  local current="\${words[\${#words[@]}-1]}"
  [[ "$current" == *[=:]* ]] && COMPREPLY=("\${COMPREPLY[@]#"\${current%"\${current##*[=:]}"}"}")
}
complete -o default -F _merchant_sandbox merchant-sandbox`,
  zsh: `#compdef merchant-sandbox
# Add to ~/.zshrc, after compinit:  eval "$(merchant-sandbox completion zsh)"
_merchant_sandbox() {
  local -a lines
  lines=("\${(@f)$("\${words[1]}" completion zsh -- "\${(@)words[2,CURRENT]}" 2>/dev/null)}")
  [[ -n "$lines" ]] && _describe 'merchant-sandbox' lines || _files
}
compdef _merchant_sandbox merchant-sandbox`,
  fish: `# Add to ~/.config/fish/config.fish:  merchant-sandbox completion fish | source
function __merchant_sandbox
    set -l words (commandline -opc) (commandline -ct)
    $words[1] completion fish -- $words[2..-1] 2>/dev/null
end
complete -c merchant-sandbox -f -n 'count (__merchant_sandbox) >/dev/null' -a '(__merchant_sandbox)'`,
};

/** The columns of one candidate as the shell reads it. */
const lines: Readonly<Record<string, (word: string, meaning: string) => string[]>> = {
  bash: (word) => [word],
  zsh: (word, meaning) => [word.replaceAll(":", "\\:") + (meaning === "" ? "" : `:${meaning}`)],
  fish: (word, meaning) => (meaning === "" ? [word] : [word, meaning]),
};

/** `everyCommand` loads the table of commands, which this command is a part of. */
export const completionOf = (everyCommand: () => Promise<Record<string, Command>>) =>
  command({
    summary: "print the script that completes command lines in bash, zsh or fish",
    usage: "completion <shell>",
    positionals: 1,
    rest: true,
    words: (given) => (given.length === 0 ? Object.keys(scripts) : []),
    async run({ positionals: [shell], rest }) {
      const known = Object.keys(scripts);
      if (shell === undefined || !known.includes(shell))
        throw new SandboxError(
          `completion takes a shell: ${known.join(", ")}${shell === undefined ? "" : `; received "${shell}"`}.${didYouMean(shell ?? "", known)}`,
          "usage",
        );
      if (rest.length === 0) printText(scripts[shell] as string);
      for (const [word, meaning] of rest.length === 0 ? [] : await candidatesFor(rest, await everyCommand()))
        printColumns(...(lines[shell]?.(word, meaning) ?? [word]));
      return undefined;
    },
  });
