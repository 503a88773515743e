// What a test needs that this machine may lack: the end of `npm test` lists it beside the tests that it skipped.

export const ON_WINDOWS = process.platform === "win32";

/** What a test with signals, modes of files or a shell needs. */
export const UNIX = "Linux or macOS";

/** The end of the title of a test that is skipped without `what`; empty where it runs. */
export const needs = (isThere: boolean, what: string): string => (isThere ? "" : ` (needs ${what})`);
