// The formats in which a report can be generated.

export const REPORT_FORMATS = ["json", "junit", "markdown", "html", "har"] as const;

export type ReportFormat = (typeof REPORT_FORMATS)[number];
