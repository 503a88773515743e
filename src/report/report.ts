// The report of a run in each format.

import type { ReportFormat, RunEnd } from "../contracts/run-report.ts";
import { Document } from "../kernel/reply-bodies.ts";
import { har } from "./har.ts";
import { page } from "./html-page.ts";
import { junit } from "./junit.ts";
import { markdown } from "./markdown.ts";
import { gather, type Material, type RunSources } from "./run-data.ts";

const formats: Record<ReportFormat, (material: Material) => object> = {
  json: ({ run }) => run,
  junit: ({ run }) => new Document("application/xml", junit(run)),
  markdown: ({ run }) => new Document("text/markdown", markdown(run)),
  html: ({ run }) => new Document("text/html", page(run)),
  har,
};

/** An object for JSON formats, otherwise a document. */
export const report = (sources: RunSources, format: ReportFormat, end: RunEnd): object =>
  formats[format](gather(sources, end));
