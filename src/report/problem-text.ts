// Problems of a run as reports show them.

const MAX_PROBLEM = 300;

/** A problem as reports get it: in one line, with a limit, because it is sent in a URL. */
export function problemText(problem: string): string {
  const line = problem.replaceAll(/\s+/g, " ");
  return line.length <= MAX_PROBLEM ? line : `${line.slice(0, MAX_PROBLEM - 1)}…`;
}
