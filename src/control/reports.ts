// The report of the run so far, for people and for programs.

import { oneOf, Type } from "../schema/shapes.ts";
import { endpoint } from "./control-context.ts";

const FORMATS = ["json", "junit", "markdown", "html", "har"] as const;

export const showReport = endpoint({
  id: "sandbox.report",
  area: "Verification",
  method: "GET",
  path: "/report",
  summary: "The run so far: coverage, verdicts, requests and deliveries",
  description:
    "`json` is the whole as data, `har` the traffic as HAR 1.2, `junit` a case for each verdict and each operation, `markdown` a page for a job, " +
    "`html` one file to look at. Secrets are masked in all of them.",
  query: Type.Object({ format: Type.Optional(oneOf(FORMATS, "Which; json unless given")) }),
  reply: Type.Record(Type.Unknown()),
  documents: { junit: "application/xml", markdown: "text/markdown", html: "text/html" },
  errors: ["validation_failed"],
  handle: async ({ query, report }) => (await report(query.format ?? "json")) as Record<string, unknown>,
});
