// The report of a run in each format.

import type { ReportFormat, RunEnd, RunReport } from "../contracts/run-report.ts";
import { Document, JsonParts } from "../kernel/reply-bodies.ts";
import { har } from "./har.ts";
import { page } from "./html-page.ts";
import { junit } from "./junit.ts";
import { markdown } from "./markdown.ts";
import { gather, type RunSources } from "./run-data.ts";

const formats: Record<ReportFormat, (run: RunReport, sources: RunSources) => object> = {
  json: (run) => run,
  junit: (run) => new Document("application/xml", junit(run)),
  markdown: (run) => new Document("text/markdown", markdown(run)),
  html: (run) => new Document("text/html", page(run)),
  har: (run, sources) => new JsonParts(har(run, sources)),
};

/** An object for `json`, JSON in parts for `har`, otherwise a document. */
export const report = (sources: RunSources, format: ReportFormat, end: RunEnd): object =>
  formats[format](gather(sources, end), sources);
