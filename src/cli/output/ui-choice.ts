// Chooses how a sandbox is shown: the dashboard on an interactive terminal, plain lines everywhere else.

import type { FlagDefinition, Flags } from "../arguments.ts";

export type UiChoice = "dashboard" | "plain" | "json";

/** The flags of every command that shows a sandbox. */
export const uiFlags = {
  json: { description: "print one JSON object per line" },
  ui: { description: "show the dashboard even if CI is set" },
  "no-ui": { description: "print plain lines even on a terminal" },
  "no-color": { description: "show the dashboard without colours, as NO_COLOR does" },
} satisfies Record<string, FlagDefinition>;

export interface Environment {
  /** Standard input and output are a terminal, and the process is in its foreground. */
  isTerminal: boolean;
  environment: NodeJS.ProcessEnv;
}

/** `--ui` and `--no-ui` override the environment, but without a terminal there is no dashboard. */
export function chooseUi(flags: Flags, { isTerminal, environment }: Environment): UiChoice {
  if (flags.json !== undefined) return "json";
  if (!isTerminal || flags["no-ui"] !== undefined) return "plain";
  if (flags.ui !== undefined) return "dashboard";
  const { CI, TERM, INK_SCREEN_READER } = environment;
  const inPipeline = CI !== undefined && !["", "0", "false"].includes(CI);
  return inPipeline || TERM === "dumb" || INK_SCREEN_READER === "true" ? "plain" : "dashboard";
}
