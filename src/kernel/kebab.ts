// The spelling of names on the command line.

/** `retryAfter` and `retry_after` as `retry-after`. */
export const kebab = (name: string) => name.replaceAll("_", "-").replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
