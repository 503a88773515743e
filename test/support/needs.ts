// What tests need that this machine may lack. At the end, `npm test` lists what the skipped tests would need.

export const ON_WINDOWS = process.platform === "win32";

/** What tests with signals, file modes or a shell need. */
export const UNIX = "Linux or macOS";

/** The end of a test's title: says that the test needs `what`, or is empty if the machine has it. */
export const needs = (isThere: boolean, what: string): string => (isThere ? "" : ` (needs ${what})`);
