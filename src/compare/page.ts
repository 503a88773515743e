// A comparison as one self-contained HTML page without scripts.

import { factKinds } from "../contracts/fact.ts";
import { type Markup, markup } from "../kernel/markup.ts";
import { staticPage } from "../kernel/static-page.ts";
import type { Comparison } from "./compare.ts";
import style from "./comparison.css?raw";
import { type Difference, type DifferenceGroup, findingsOf, totalsOf } from "./findings.ts";

export function comparisonPage(comparison: Comparison): string {
  const { base, calls, webhooks, unknownEndpoints, unexplained, noise } = comparison;
  const { confirmed, contradicted, notSeen, facts } = totalsOf(comparison);
  const content = markup`<h1>Sandbox and service</h1>
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
)}`;
  return staticPage({ title: `Sandbox and service: ${contradicted} differences`, style, content });
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
