// Verification of a run: expectations and the report.

import { endpointFactory } from "../areas/declare/operation.ts";
import { Expectations, Verification } from "../contracts/expectations.ts";
import { HarLog, REPORT_FORMATS, type ReportFormat, type RunEnd, RunReport } from "../contracts/run-report.ts";
import { fail } from "../kernel/errors.ts";
import { oneOf, Type, text, zeroOrOne } from "../schema/shapes.ts";
import type { Verifier } from "../verify/verifier.ts";

interface Parts {
  verifier: Pick<Verifier, "verify">;
  /** The report so far: an object for `json` and `har`, otherwise a Document. `end` is the result of `exec`. */
  report(format: ReportFormat, end: RunEnd): Promise<object>;
}

const endpoint = endpointFactory<Parts>("Verification");

const verify = endpoint({
  id: "sandbox.verify",
  method: "POST",
  path: "/verify",
  summary: "Check expectations on the run, and wait for them if needed",
  description:
    "Replies as soon as all expectations hold at one moment, the result can no longer change, or `within` is over. " +
    "A scenario about receivers holds only after the receivers had 3 seconds to act on the last delivery. " +
    "Covers everything since the last reset.",
  query: Type.Object({
    strict: Type.Optional(zeroOrOne("1: reply 409 unless everything passed, so that `curl -f` fails")),
  }),
  body: Expectations,
  example: { within: "2s", all: [{ requests: { match: { operation: "payments.list" }, count: { exactly: 0 } } }] },
  reply: Verification,
  errors: ["verification_failed", "sandbox_unavailable"],
  async handle({ query, body: { all = [], ...rest }, verifier, gone }) {
    const verified = await verifier.verify({ ...rest, all }, gone);
    if (query.strict !== "1" || verified.verdict === "pass") return verified;
    const missed = verified.results.filter(({ verdict }) => verdict !== "pass");
    const words = missed.map(({ expectation, message }) => `${expectation}: ${message}`);
    return fail(
      "verification_failed",
      `${missed.length} of ${verified.results.length} did not pass. ${words.join(" ")}`,
      { ...verified },
    );
  },
});

const showReport = endpoint({
  id: "sandbox.report",
  method: "GET",
  path: "/report",
  summary: "Get a report of the run: coverage, verdicts, requests and deliveries",
  description:
    "`json` has all the data, `har` the traffic as HAR 1.2, `junit` a test case for each rule and operation that " +
    "the judge decided, each scenario and each audit, `markdown` a summary for a CI job, `html` a page in one file. " +
    "Secrets are masked in every format.",
  query: Type.Object({
    format: Type.Optional(oneOf(REPORT_FORMATS, "The format (default: json)")),
    problems: Type.Optional(
      text("The reasons of `exec --fail-on` why the run failed, one per line. Each is a failure in the report"),
    ),
    failOn: Type.Optional(
      text(
        "The conditions of `exec --fail-on`, separated by commas. " +
          "If sent, even empty, the report fails exactly if there are `problems`, shows failed verdicts and audits " +
          "as failures only if the conditions include `verdicts`, and includes results from before a reset. " +
          "If not sent, each failed verdict is a failure",
      ),
    ),
  }),
  reply: Type.Union([RunReport, HarLog]),
  documents: { junit: "application/xml", markdown: "text/markdown", html: "text/html" },
  async handle({ query: { format = "json", problems = "", failOn }, report }) {
    const parts = (text: string, separator: string) => text.split(separator).filter((part) => part !== "");
    const end = { problems: parts(problems, "\n"), failOn: failOn === undefined ? null : parts(failOn, ",") };
    return (await report(format, end)) as RunReport | HarLog;
  },
});

export const operations = [verify, showReport];
