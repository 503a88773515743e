// Problems of a run as reports show them.

const MAX_PROBLEM = 300;

/** A problem as reports get it: in one line, with a limit, because it is sent in a URL. */
export const problemText = (problem: string) => problem.replaceAll(/\s+/g, " ").slice(0, MAX_PROBLEM);
