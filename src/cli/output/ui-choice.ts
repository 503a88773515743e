// Which face a sandbox shows: the dashboard on a terminal that a person looks at, plain lines everywhere else.

import type { FlagDefinition } from "../arguments.ts";

export type Face = "dashboard" | "plain" | "json";

/** The flags of every command that shows a sandbox. */
export const faceFlags = {
  json: { description: "print one JSON object per line" },
  ui: { description: "show the dashboard even if CI is set" },
  "no-ui": { description: "print plain lines even on a terminal" },
  "no-color": { description: "show the dashboard without colours, as NO_COLOR does" },
} satisfies Record<string, FlagDefinition>;

export interface Surroundings {
  /** Whether a terminal shows what we say, and listens to us now. */
  isTerminal: boolean;
  environment: NodeJS.ProcessEnv;
}

/** `ui` and `no-ui` decide where the surroundings would decide otherwise; nothing makes a terminal of what is none. */
export function faceOf(flags: Record<string, string | undefined>, { isTerminal, environment }: Surroundings): Face {
  if (flags.json !== undefined) return "json";
  if (!isTerminal || flags["no-ui"] !== undefined) return "plain";
  if (flags.ui !== undefined) return "dashboard";
  const { CI, TERM, INK_SCREEN_READER } = environment;
  const inPipeline = CI !== undefined && !["", "0", "false"].includes(CI);
  return inPipeline || TERM === "dumb" || INK_SCREEN_READER === "true" ? "plain" : "dashboard";
}
