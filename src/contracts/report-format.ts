// The formats of a report.

export const REPORT_FORMATS = ["json", "junit", "markdown", "html", "har"] as const;

export type ReportFormat = (typeof REPORT_FORMATS)[number];
