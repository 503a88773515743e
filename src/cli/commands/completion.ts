// `completion`: prints the script with which a shell completes command lines, and the words that the script asks for.

import { usageError } from "../../kernel/errors.ts";
import { type Command, command } from "../command.ts";
import { candidatesFor } from "../completion-words.ts";
import { printColumns, printText } from "../output/print.ts";

/**
 * A comment at the top of each script says how to load it. Each script also completes `npx merchant-sandbox`. In bash
 * and zsh, an existing completion of npx is kept instead; fish combines both. Bash splits words at `=` and `:`, so the
 * Bash script offers only the part of a word after the last of these characters.
 */
const BASH = `# Add to ~/.bashrc:  eval "$(merchant-sandbox completion bash)"
_merchant_sandbox() {
  local line="\${COMP_LINE:0:COMP_POINT}" words program
  COMPREPLY=()
  IFS=$' \\t' read -r -a words <<< "$line"
  [[ "$line" == *[[:space:]] ]] && words+=("")
  program=("\${words[0]}")
  if [[ "\${words[0]}" == npx ]]; then
    [[ "\${words[1]}" == merchant-sandbox && \${#words[@]} -gt 2 ]] || return
    words=("\${words[@]:1}")
    program=(npx --no merchant-sandbox)
    [[ -x node_modules/.bin/merchant-sandbox ]] && program=(node_modules/.bin/merchant-sandbox)
  fi
  local IFS=$'\\n'
  COMPREPLY=($("\${program[@]}" completion bash -- "\${words[@]:1}" 2>/dev/null))
  local current="\${words[\${#words[@]}-1]}"
  [[ "$current" == *[=:]* ]] && COMPREPLY=("\${COMPREPLY[@]#"\${current%"\${current##*[=:]}"}"}")
}
complete -o default -F _merchant_sandbox merchant-sandbox
complete -p npx >/dev/null 2>&1 || complete -o default -F _merchant_sandbox npx`;

const ZSH = `#compdef merchant-sandbox
# Add to ~/.zshrc, after compinit:  eval "$(merchant-sandbox completion zsh)"
_merchant_sandbox() {
  local -a lines program
  local -i first=1
  program=("\${words[1]}")
  if [[ "\${words[1]}" == npx ]]; then
    [[ "\${words[2]}" == merchant-sandbox ]] && (( CURRENT > 2 )) || { _files; return }
    first=2
    program=(npx --no merchant-sandbox)
    [[ -x node_modules/.bin/merchant-sandbox ]] && program=(node_modules/.bin/merchant-sandbox)
  fi
  lines=("\${(@f)$("\${(@)program}" completion zsh -- "\${(@)words[first+1,CURRENT]}" 2>/dev/null)}")
  [[ -n "$lines" ]] && _describe 'merchant-sandbox' lines || _files
}
compdef _merchant_sandbox merchant-sandbox
(( \${+_comps[npx]} )) || compdef _merchant_sandbox npx`;

const FISH = `# Add to ~/.config/fish/config.fish:  merchant-sandbox completion fish | source
function __merchant_sandbox
    set -l words (commandline -opc) (commandline -ct)
    set -l program $words[1]
    if test "$words[1]" = npx
        test "$words[2]" = merchant-sandbox; and test (count $words) -gt 2; or return
        set words $words[2..-1]
        set program npx --no merchant-sandbox
        test -x node_modules/.bin/merchant-sandbox; and set program node_modules/.bin/merchant-sandbox
    end
    $program completion fish -- $words[2..-1] 2>/dev/null
end
complete -c merchant-sandbox -f -n 'count (__merchant_sandbox) >/dev/null' -a '(__merchant_sandbox)'
complete -c npx -n 'count (__merchant_sandbox) >/dev/null' -a '(__merchant_sandbox)'`;

interface Shell {
  script: string;
  /** The columns of a line that offers one word. */
  columns(word: string, description: string): string[];
}

const shells: Readonly<Record<string, Shell>> = {
  bash: { script: BASH, columns: (word) => [word] },
  zsh: {
    script: ZSH,
    columns: (word, description) => [word.replaceAll(":", "\\:") + (description === "" ? "" : `:${description}`)],
  },
  fish: { script: FISH, columns: (word, description) => (description === "" ? [word] : [word, description]) },
};

/** `everyCommand` loads the table of all commands, including this one. */
export function completionOf(everyCommand: () => Promise<Readonly<Record<string, Command>>>): Command {
  const shellNamed = (name: string): Shell =>
    shells[name] ?? usageError(`completion takes ${Object.keys(shells).join(", ")}; received "${name}".`);
  const script = command({
    summary: "print the script that completes command lines in bash, zsh or fish",
    usage: "completion <bash|zsh|fish>",
    example: "completion zsh",
    run: async ({ positionals: [name = ""] }) => printText(shellNamed(name).script),
  });
  return {
    ...script,
    async run(argv) {
      const end = argv.indexOf("--");
      if (end < 0) return script.run(argv);
      const { columns } = shellNamed(argv[0] ?? "");
      const words = candidatesFor(argv.slice(end + 1), await everyCommand());
      for (const [word, description] of words) printColumns(...columns(word, description));
      return 0;
    },
  };
}
