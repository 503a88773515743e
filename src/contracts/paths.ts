// Where the sandbox's own operations are.

/** The control plane's paths begin with it. */
export const CONTROL_PREFIX = "/_sandbox";
