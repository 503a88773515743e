// Which face a sandbox shows: the dashboard on a terminal that a person looks at, plain lines everywhere else.

export type Face = "dashboard" | "plain" | "json";

export interface Surroundings {
  input: { isTTY?: boolean };
  output: { isTTY?: boolean };
  environment: NodeJS.ProcessEnv;
}

/** `ui` and `no-ui` decide where the surroundings would decide otherwise. */
export function faceOf(own: Record<string, string | undefined>, { input, output, environment }: Surroundings): Face {
  if (own.json !== undefined) return "json";
  const isTerminal = input.isTTY === true && output.isTTY === true;
  if (!isTerminal || own["no-ui"] !== undefined) return "plain";
  if (own.ui !== undefined) return "dashboard";
  const isWatched = environment.CI === undefined && environment.TERM !== "dumb" && environment.INK_SCREEN_READER !== "true";
  return isWatched ? "dashboard" : "plain";
}
