// A comparison as one self-contained HTML page without scripts.

import { createHash } from "node:crypto";
import { factKinds } from "../contracts/fact.ts";
import { type Markup, markup, Markup as Raw } from "../kernel/markup.ts";
import type { Comparison } from "./compare.ts";
import { type Difference, type DifferenceGroup, findingsOf, totalsOf } from "./findings.ts";

const style = `body{font:15px/1.5 system-ui,sans-serif;margin:2rem auto;max-width:72rem;padding:0 1rem;color:#1c2127;background:#fff}
table{border-collapse:collapse;width:100%;margin:.5rem 0 2rem}th,td{text-align:left;vertical-align:top;padding:.35rem .6rem;border-bottom:1px solid #d5d9de}
code{font:13px ui-monospace,monospace;overflow-wrap:anywhere}small{color:#5a636e}
@media (prefers-color-scheme:dark){body{color:#e3e6ea;background:#15181c}th,td{border-color:#363c44}small{color:#9aa3ad}}`;

const POLICY = `default-src 'none'; style-src 'sha256-${createHash("sha256").update(style).digest("base64")}'; base-uri 'none'; form-action 'none'`;

export function comparisonPage(comparison: Comparison): string {
  const { base, calls, webhooks, unknownEndpoints, unexplained, noise } = comparison;
  const { confirmed, contradicted, notSeen, facts } = totalsOf(comparison);
  return markup`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${POLICY}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Sandbox and service: ${contradicted} differences</title>
<style>${new Raw(style)}</style>
</head>
<body>
<main>
<h1>Sandbox and service</h1>
<p>${calls} calls below ${base ?? "no address"} and ${webhooks} webhooks, compared with ${facts} facts: ${confirmed} confirmed, ${contradicted} contradicted, ${notSeen} not seen.</p>
${findingsOf(comparison).map(section)}
${list(
  "Endpoints that the sandbox does not have",
  unknownEndpoints.map(({ endpoint, count }) => `${endpoint} (${count})`),
)}
${list(
  "Refused for a reason that is not recognised",
  unexplained.map(({ operation, status, code, count }) => `${operation}: ${status} ${code} (${count})`),
)}
${list(
  "Left out",
  Object.entries(noise).map(([reason, count]) => `${reason} (${count})`),
)}
${list(
  "Confirmed",
  comparison.verdicts.filter(({ verdict }) => verdict === "confirmed").map(({ fact, confirmed: times }) => `${fact.id} (${times})`),
)}
</main>
</body>
</html>
`.text;
}

const section = ({ title, findings }: DifferenceGroup): Markup => markup`<section><h2>${title}</h2><table>
<thead><tr><th>Facts</th><th>Sandbox</th><th>Service</th><th>Seen</th></tr></thead>
<tbody>${findings.map(row)}</tbody></table></section>
`;

const row = ({ facts, kind, expected, seen, count, operations, entries }: Difference): Markup =>
  markup`<tr><td>${facts.map((id) => markup`<code>${id}</code> `)}<br><small>${factKinds[kind].observed}</small></td><td>${expected}</td><td>${seen}</td><td>${count} × ${operations.join(", ")}<br><small>${entries.join(", ")}</small></td></tr>
`;

const list = (title: string, rows: readonly string[]): Markup | null =>
  rows.length === 0
    ? null
    : markup`<section><h2>${title}</h2><ul>${rows.map((text) => markup`<li><code>${text}</code></li>`)}</ul></section>`;
