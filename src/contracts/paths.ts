// The path prefix of the control API, and the path of the dashboard for a browser.

export const CONTROL_PREFIX = "/_sandbox";
export const PAGE_PATH = "/_sandbox/ui";
