// The path prefixes of the API and the control API, and the paths of the pages: the dashboard for a browser, and the
// page for coding agents.

export const API_PREFIX = "/v1";
export const CONTROL_PREFIX = "/_sandbox";
export const SKILL_PATH = "/llms.txt";
export const PAGE_PATH = "/_sandbox/ui";
