// The report of the run so far.

import { REPORT_FORMATS } from "../contracts/report-format.ts";
import { HarLog, RunReport } from "../contracts/run-report.ts";
import { oneOf, Type, text } from "../schema/shapes.ts";
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
  query: Type.Object({
    format: Type.Optional(oneOf(REPORT_FORMATS, "The format (default: json)")),
    problems: Type.Optional(
      text("Why the run failed, one reason per line, as `exec --fail-on` finds them: each is a failure in the report"),
    ),
    failOn: Type.Optional(
      text(
        "The conditions of `exec --fail-on`, separated by commas: with them, even with none, the report fails exactly if there are problems, and failed verdicts " +
          "are failures only with `verdicts`. Left out, each failed verdict is a failure",
      ),
    ),
  }),
  reply: Type.Union([RunReport, HarLog]),
  documents: { junit: "application/xml", markdown: "text/markdown", html: "text/html" },
  errors: ["validation_failed"],
  async handle({ query: { format = "json", problems = "", failOn }, report }) {
    const parts = (text: string, separator: string) => text.split(separator).filter((part) => part !== "");
    const end = { problems: parts(problems, "\n"), failOn: failOn === undefined ? null : parts(failOn, ",") };
    return (await report(format, end)) as RunReport | HarLog;
  },
});
