// `completion`: prints the scripts for shells, and the candidates for the next word of a command line.

import { didYouMean } from "../../kernel/did-you-mean.ts";
import { usageError } from "../../kernel/errors.ts";
import { flagOf, optionDefinitions } from "../../sandbox/options.ts";
import { type FlagDefinition, positionalsIn } from "../arguments.ts";
import { type Command, command } from "../command.ts";
import { printColumns, printText } from "../output/print.ts";

/** A word and its description, which may be empty. */
export type Candidate = readonly [word: string, meaning: string];

/** The candidates for the last of `words`, which may be empty. `words` follow the program's name. */
export function candidatesFor(words: readonly string[], commands: Readonly<Record<string, Command>>): Candidate[] {
  const current = words.at(-1) ?? "";
  return candidates(words.slice(0, -1), current, commands).filter(([word]) => word.startsWith(current));
}

function candidates(before: readonly string[], current: string, commands: Readonly<Record<string, Command>>): Candidate[] {
  const [name] = before;
  const found = name !== undefined && Object.hasOwn(commands, name) ? commands[name] : undefined;
  if (found) return inCommand(found, before.slice(1), current);
  if (name !== undefined || current.startsWith("-")) return inCommand(commands.start as Command, before, current);
  return Object.entries(commands).map(([word, { summary }]) => [word, summary]);
}

function inCommand(command: Command, before: readonly string[], current: string): Candidate[] {
  const end = before.indexOf("--");
  if (end >= 0) return [];
  const [word] = command.subcommands ? positionalsIn(before, command.flags) : [];
  const sub = word && command.subcommands?.[word.value];
  if (sub)
    return inCommand(
      sub,
      before.filter((_, index) => index !== word.index),
      current,
    );
  const flags = flagsOf(command, before);
  const last = flags[before.at(-1) ?? ""];
  if (last?.value !== undefined) return (last.values?.() ?? []).map((value) => [value, ""]);
  if (current.startsWith("-"))
    return Object.entries(flags).flatMap(([flag, one]) => (one.hidden && !one.values ? [] : [[flag, one.description] as const]));
  if (command.subcommands && !word) return Object.entries(command.subcommands).map(([name, { summary }]) => [name, summary]);
  const bare = Object.fromEntries(Object.entries(flags).map(([flag, one]) => [flag.slice(2), one]));
  return command.words(positionalsIn(before, bare).map(({ value }) => value)).map((value) => [value, ""]);
}

/** All flags of the command after these words, including sandbox options. */
function flagsOf(command: Command, before: readonly string[]): Record<string, FlagDefinition> {
  const options = command.sandboxOptions.map((name) => [flagOf(name), { ...optionDefinitions[name] }] as const);
  return Object.fromEntries([...Object.entries(ownFlags(command, before)).map(([name, flag]) => [`--${name}`, flag] as const), ...options]);
}

/** Omits flags that depend on the words if a word is invalid. */
function ownFlags(command: Command, before: readonly string[]) {
  try {
    return command.flagsFor(before);
  } catch {
    return command.flags;
  }
}

/** Each script begins with how to load it. Bash splits words at colons, so its script completes only the part after the last colon. */
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

/** The columns of one candidate, in the shell's format. */
const lines: Readonly<Record<string, (word: string, meaning: string) => string[]>> = {
  bash: (word) => [word],
  zsh: (word, meaning) => [word.replaceAll(":", "\\:") + (meaning === "" ? "" : `:${meaning}`)],
  fish: (word, meaning) => (meaning === "" ? [word] : [word, meaning]),
};

/** `everyCommand` loads the table of all commands, including this one. */
export const completionOf = (everyCommand: () => Promise<Record<string, Command>>) =>
  command({
    summary: "print the script that completes command lines in bash, zsh or fish",
    usage: "completion <shell>",
    example: "completion zsh",
    rest: "words",
    words: (given) => (given.length === 0 ? Object.keys(scripts) : []),
    async run({ positionals: [shell = ""], rest }) {
      const known = Object.keys(scripts);
      if (!known.includes(shell))
        usageError(`completion takes a shell: ${known.join(", ")}; received "${shell}".${didYouMean(shell, known)}`);
      if (rest.length === 0) printText(scripts[shell] as string);
      for (const [word, meaning] of rest.length === 0 ? [] : await candidatesFor(rest, await everyCommand()))
        printColumns(...(lines[shell]?.(word, meaning) ?? [word]));
    },
  });
