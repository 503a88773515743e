// The path prefixes of the API and the control API, and the path of the dashboard for a browser.

export const API_PREFIX = "/v1";
export const CONTROL_PREFIX = "/_sandbox";
export const PAGE_PATH = "/_sandbox/ui";

/** Whether a request target belongs to the emulated API. */
export const isApiPath = (target = "") => isBelow(API_PREFIX, target);

/** Whether a request target belongs to the control API. */
export const isControlPath = (target = "") => isBelow(CONTROL_PREFIX, target);

const isBelow = (prefix: string, target: string) =>
  target === prefix || target.startsWith(`${prefix}/`) || target.startsWith(`${prefix}?`);
