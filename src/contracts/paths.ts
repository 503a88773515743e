// The path prefix of the control plane.

export const CONTROL_PREFIX = "/_sandbox";
