// The path prefixes of the API and the control API, and the path of the dashboard for a browser.

export const API_PREFIX = "/v1";
export const CONTROL_PREFIX = "/_sandbox";
export const PAGE_PATH = "/_sandbox/ui";
