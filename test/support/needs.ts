// The needs of tests, which this machine may lack. At its end, `npm test` lists the missing need of each skipped test.

export const ON_WINDOWS = process.platform === "win32";

/** The need of tests with signals, modes of files or a shell. */
export const UNIX = "Linux or macOS";

/** The end of the title of a test that is skipped without `what`; empty where it runs. */
export const needs = (isThere: boolean, what: string): string => (isThere ? "" : ` (needs ${what})`);
