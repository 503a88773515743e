// The report of the run so far.

import { REPORT_FORMATS } from "../contracts/report-format.ts";
import { oneOf, Type } from "../schema/shapes.ts";
import { endpoint } from "./control-context.ts";

export const showReport = endpoint({
  id: "sandbox.report",
  area: "Verification",
  method: "GET",
  path: "/report",
  summary: "Get a report of the run: coverage, verdicts, requests and deliveries",
  description:
    "`json` has all the data, `har` the traffic as HAR 1.2, `junit` a test case for each verdict and each operation, `markdown` a summary for a CI job, " +
    "`html` a page in one file. Secrets are masked in every format.",
  query: Type.Object({ format: Type.Optional(oneOf(REPORT_FORMATS, "The format (default: json)")) }),
  reply: Type.Record(Type.Unknown()),
  documents: { junit: "application/xml", markdown: "text/markdown", html: "text/html" },
  errors: ["validation_failed"],
  handle: async ({ query, report }) => (await report(query.format ?? "json")) as Record<string, unknown>,
});
