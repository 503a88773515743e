// Formats a run as one self-contained HTML page without scripts.

import { createHash } from "node:crypto";
import { confirmationText, whereAndWhen } from "../client/verdict-text.ts";
import type { ReportedRequest } from "../contracts/logged-request.ts";
import type {
  Coverage,
  ReceiverCheck,
  ReportedAttempt,
  ReportedScenario,
  ReportedVerdict,
  RunReport,
} from "../contracts/run-report.ts";
import type { Verdict } from "../contracts/verdict.ts";
import baseStyle from "../kernel/base.css?raw";
import { count, plural } from "../kernel/text.ts";
import type { EventTypeCoverage } from "../store/request-log/coverage.ts";
import style from "./report.css?raw";
import { classOf, headline, nameOfStatus } from "./run-data.ts";

class Markup {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

type MarkupPart = Markup | string | number | null | undefined | readonly MarkupPart[];

const ENTITIES: Record<string, string> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#39;" };

/** A template tag that escapes every value unless it is markup itself. */
function markup(strings: TemplateStringsArray, ...parts: readonly MarkupPart[]): Markup {
  return new Markup(strings.reduce((text, string, index) => text + render(parts[index - 1]) + string));
}

function render(part: MarkupPart): string {
  if (part === null || part === undefined) return "";
  if (part instanceof Markup) return part.text;
  if (typeof part === "object") return part.map(render).join("");
  // Replaces invisible characters and direction marks, which could disguise the rest of the text.
  const plain = String(part)
    .toWellFormed()
    .replace(/[\p{Cc}\p{Cf}]/gu, "\ufffd");
  return plain.replace(/[&<>"']/g, (character) => ENTITIES[character] as string);
}

/** Puts the style sheet that all pages share before a page's own rules. */
const withBaseStyle = (own: string): string => `${baseStyle}\n${own}`;

/** The style of a report. A page that opens a report must also allow this style in its own content security policy. */
export const reportStyle = withBaseStyle(style);

export function page(run: RunReport): string {
  const { sandbox, totals } = run;
  const hash = createHash("sha256").update(reportStyle).digest("base64");
  const title =
    `Sandbox run: ${totals.operations.called} of ${totals.operations.total} operations, ` +
    `${plural(totals.requests, "request")}`;
  const now = sandbox.now.slice(0, 19).replace("T", " ");
  const problems = run.problems.map((problem) => markup`<li>${problem}</li>`);
  const content = markup`<header><h1>Sandbox run</h1>${outcome(run)}
<p class="soft">${sandbox.url}, sandbox time ${now} (${sandbox.clock})</p></header>
${problems.length > 0 ? markup`<section><h2>Why the run failed</h2><ul>${problems}</ul></section>` : ""}
<div class="tiles">${tiles(run)}</div>
${run.scenarios.length > 0 ? markup`<section><h2>Scenarios</h2>${run.scenarios.map(scenario)}</section>` : ""}
${run.checks.length > 0 ? markup`<section><h2>Audits and effects</h2>${run.checks.map(check)}</section>` : ""}
${run.verdicts.length > 0 ? markup`<section><h2>What the judge found</h2>${verdicts(run)}</section>` : ""}
<section><h2>What happened</h2>${exchanges(run)}</section>
<section><h2>Coverage</h2>${coverage(run)}${events(run)}</section>
<footer>merchant-sandbox ${sandbox.version}. Secrets are masked; \
dashed marks are statuses and events that the run did not cover.</footer>`;
  return markup`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'sha256-${hash}'; \
base-uri 'none'; form-action 'none'">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="no-referrer">
<title>${title}</title>
<style>${new Markup(reportStyle)}</style>
</head>
<body>
<main>
${content}
</main>
</body>
</html>
`.text;
}

function outcome(run: RunReport): Markup {
  const { verdict, text } = headline(run);
  return markup`<span class="chip pill ${verdict === null ? "soft" : TONES[verdict]}">${text}</span>`;
}

const TONES: Record<Verdict, Tone> = { pass: "green", fail: "red", inconclusive: "yellow" };

/** A share of a bar. `says` returns its label; a count of 0 has no label. */
type Share = readonly [tone: Tone | "bar", count: number, says: (count: number) => string];

function tiles({ totals, verdicts: kept, omitted }: RunReport): Markup[] {
  const { operations, events, statuses, deliveries, verdicts, requests } = totals;
  const of = (name: string) => statuses[name] ?? 0;
  const done = deliveries.succeeded ?? 0;
  const { failed = 0, cancelled = 0 } = deliveries;
  const pending = (deliveries.pending ?? 0) + (deliveries.sending ?? 0);
  return [
    tile("operations called", markup`${operations.called}<small> of ${operations.total}</small>`, [
      ["green", operations.called, silent],
      ["bar", operations.total - operations.called, silent],
    ]),
    tile("types of events sent", markup`${events.emitted}<small> of ${events.total}</small>`, [
      ["green", events.delivered, so("accepted")],
      ["yellow", events.emitted - events.delivered, so("not accepted")],
      ["bar", events.total - events.emitted, silent],
    ]),
    tile("requests", markup`${count(requests)}`, [
      ["green", of("2xx"), times("2xx")],
      ["yellow", of("4xx"), times("4xx")],
      ["red", requests - of("2xx") - of("4xx"), times("5xx or none")],
    ]),
    tile("deliveries", markup`${count(done + failed + cancelled + pending)}`, [
      ["green", done, so("delivered")],
      ["red", failed, so("failed")],
      ["yellow", pending, so("pending")],
      ["bar", cancelled, so("cancelled")],
    ]),
    tile(
      omitted.verdicts > 0 ? `verdicts, ${count(kept.length)} kept` : "verdicts",
      markup`${count(verdicts.pass + verdicts.fail + verdicts.inconclusive)}`,
      [
        ["green", verdicts.pass, so("pass")],
        ["red", verdicts.fail, so("fail")],
        ["yellow", verdicts.inconclusive, so("inconclusive")],
      ],
    ),
  ];
}

const silent = () => "";
const times = (name: string) => (number: number) => `${name} ×${count(number)}`;
const so = (name: string) => (number: number) => `${count(number)} ${name}`;

function tile(noun: string, figure: Markup, shares: readonly Share[]): Markup {
  const total = shares.reduce((sum, [, count]) => sum + count, 0);
  let from = 0;
  const bars = shares.map(([tone, count]) => {
    const width = total === 0 ? 0 : (count / total) * 100;
    const bar = markup`<rect class="${tone}" x="${from}" y="0" width="${width}" height="6"/>`;
    from += width;
    return bar;
  });
  const words = shares.map(([, count, says]) => (count > 0 ? says(count) : "")).filter((part) => part !== "");
  return markup`<div class="tile"><b>${figure}</b>\
<svg viewBox="0 0 100 6" preserveAspectRatio="none" aria-hidden="true">\
<rect class="bar" width="100" height="6"/>${bars}</svg>\
<span>${[noun, ...words].join(" · ")}</span></div>`;
}

function scenario({ name, title, merchant, verdict, message, expectations }: ReportedScenario): Markup {
  const chips = expectations.map(
    ({ rule, points, score, verdict: result }) =>
      markup`<span class="chip ${TONES[result]}">${rule} ${score}/${points}</span>`,
  );
  return markup`<div class="verdict"><span class="chip pill ${TONES[verdict]}">${verdict}</span>\
<p><code>${name}</code> <span class="soft">${merchant ?? "all merchants"}</span></p>\
<p>${title}. ${message}</p><p>${chips}</p></div>`;
}

function check({ kind, subject, merchant, verdict, message, probes }: ReceiverCheck): Markup {
  const wrong = probes
    .filter((probe) => probe.verdict !== "pass")
    .map(({ probe, did, should, why }) => markup`<li><code>${probe}</code> ${did}; it should ${should}. ${why}</li>`);
  return markup`<div class="verdict"><span class="chip pill ${TONES[verdict]}">${verdict}</span>\
<p>${kind} <code>${subject}</code> <span class="soft">${merchant}</span></p>\
<p>${message}</p><ul>${wrong}</ul></div>`;
}

function verdicts(run: RunReport): Markup {
  const wrong = run.verdicts.filter(({ verdict }) => verdict !== "pass");
  const right = run.verdicts.filter(({ verdict }) => verdict === "pass");
  if (right.length === 0) return markup`${wrong.map(verdictOfJudge)}`;
  return markup`${wrong.map(verdictOfJudge)}\
<details><summary>${count(right.length)} that passed</summary>${right.map(verdictOfJudge)}</details>`;
}

function verdictOfJudge(judged: ReportedVerdict): Markup {
  const { verdict, rule, operation, message, hint, calls, attempts, confirmedBy } = judged;
  const link = (id: string) => markup`<a class="mono" href="#${id}">${id}</a>`;
  const seen = [
    ...calls.map((call) => markup`<li>${link(call.request)} ${whereAndWhen(call)}</li>`),
    ...attempts.map((id) => markup`<li>${link(id)}</li>`),
  ];
  return markup`<div class="verdict"><span class="chip pill ${TONES[verdict]}">${verdict}</span>\
<p><code>${rule}</code> <span class="soft">${operation ?? ""}</span></p>\
<p>${message} <span class="soft">${confirmationText({ confirmedBy })}</span></p>\
<ul>${seen}</ul>${verdict === "pass" ? "" : markup`<p class="soft">${hint}</p>`}</div>`;
}

function coverage({ coverage: rows }: RunReport): Markup {
  const areas = [...new Set(rows.map(({ area }) => area))].map(
    (area) =>
      markup`<tbody><tr><th colspan="4" scope="rowgroup">${area}</th></tr>\
${rows.filter((row) => row.area === area).map(coverageRow)}</tbody>`,
  );
  return markup`<div class="scrolling"><table>${areas}</table></div>`;
}

function coverageRow({ operation, method, path, calls, statuses, events }: Coverage): Markup {
  const chips = statuses.map((one) => chip(toneOf(one.status), nameOfStatus(one.status), one.calls));
  const sent = events.map(({ type, count }) => chip("green", type, count));
  return markup`<tr${new Markup(calls === 0 ? ' class="never"' : "")}>\
<td><code>${operation}</code><br><span class="soft mono path">${method} ${path}</span></td>\
<td>${chips}</td><td>${sent}</td>\
<td class="number">${calls === 0 ? "never called" : count(calls)}</td></tr>`;
}

/** Event types that were sent come first, each with its accepted and total deliveries. */
function events({ events: rows }: RunReport): Markup {
  const sent = rows.filter(({ emitted }) => emitted > 0);
  const unsent = rows.filter(({ emitted }) => emitted === 0);
  return markup`<h3>Events</h3>\
<p class="chips">${sent.map(sentEvent)}${unsent.map(({ type }) => chip("green", type, 0))}</p>`;
}

const sentEvent = ({ type, emitted, delivered }: EventTypeCoverage) =>
  markup`<span class="chip ${delivered > 0 ? "green" : "yellow"}">\
${type} ×${count(emitted)}, ${count(delivered)} accepted</span>`;

const chip = (tone: Tone, name: string, number: number) =>
  number > 0
    ? markup`<span class="chip ${tone}">${name} ×${count(number)}</span>`
    : markup`<span class="chip soft unseen">${name}</span>`;

/** A table with more rows starts collapsed. */
const MOST_OPEN = 60;
const HEAD = markup`<tr><th>Request</th><th>Time</th><th>Call</th><th>Response</th>\
<th class="number">Duration</th><th>Merchant</th><th>Notes</th></tr>`;

/** Requests and delivery attempts in one table, in the order of their times. */
function exchanges({ requests, deliveries, omitted }: RunReport): Markup {
  const shown = (number: number, more: number) => (more > 0 ? `, ${count(number)} shown` : "");
  const rows = [
    ...requests.map((one) => ({ at: one.at, row: requestRow(one) })),
    ...deliveries.map((one) => ({ at: one.at, row: attemptRow(one) })),
  ];
  if (rows.length === 0) return markup`<p class="soft">Nothing has happened yet.</p>`;
  // Attempts have times in whole seconds. The sort is stable, so an attempt follows the requests of its second.
  rows.sort((one, other) => one.at.slice(0, 19).localeCompare(other.at.slice(0, 19)));
  const counts =
    plural(requests.length + omitted.requests, "request") +
    `${shown(requests.length, omitted.requests)}; ` +
    plural(deliveries.length + omitted.attempts, "delivery attempt") +
    shown(deliveries.length, omitted.attempts);
  return markup`<details${new Markup(rows.length <= MOST_OPEN ? " open" : "")}><summary>${counts}</summary>\
<div class="scrolling"><table><thead>${HEAD}</thead>\
<tbody>${rows.map(({ row }) => row)}</tbody></table></div></details>`;
}

const timeOf = (at: string) => at.slice(0, 23).replace("T", " ");

function requestRow(received: ReportedRequest): Markup {
  const { id, at, method, path, query, operation, status, durationMs, merchant } = received;
  const { idempotencyKey, replayOf, fault, ignored } = received;
  const target = `${method} ${path}${query === "" ? "" : `?${query}`}`;
  const notes = [
    idempotencyKey === null ? "" : markup`<span class="chip soft">key ${idempotencyKey}</span>`,
    replayOf === null ? "" : markup`<span class="chip green">replays ${replayOf}</span>`,
    fault === null ? "" : markup`<span class="chip magenta">fault ${fault}</span>`,
    ignored === null ? "" : markup`<span class="chip yellow">ignored ${ignored}</span>`,
  ];
  return markup`<tr id="${id}"><td class="mono">${id}</td><td class="mono soft">${timeOf(at)}</td>\
<td class="mono path">${target}${operation === null ? markup` <span class="soft">no operation</span>` : ""}</td>\
<td><span class="chip ${toneOf(status)}">${nameOfStatus(status)}</span></td>\
<td class="number">${durationMs.toFixed(1)} ms</td><td>${merchant}</td><td class="path">${notes}</td></tr>`;
}

function attemptRow(sent: ReportedAttempt): Markup {
  const { id, at, type, event, url, attempt, maxAttempts, status, merchant, request } = sent;
  const cause = request === null ? "" : markup` caused by <a class="mono" href="#${request}">${request}</a>`;
  const tone = status === "succeeded" ? "green" : "red";
  return markup`<tr id="${id}"><td></td><td class="mono soft">${timeOf(at)}</td>\
<td class="path"><span class="mono">→ ${url}</span><br>\
<code>${type}</code> <span class="soft mono">${event}</span></td>\
<td><span class="chip ${tone}">${sent.responseStatus ?? sent.error ?? status}</span></td><td></td>\
<td>${merchant}</td><td class="path">attempt ${attempt}/${maxAttempts}${cause}</td></tr>`;
}

/** A colour of the base style sheet. */
type Tone = "green" | "yellow" | "red" | "magenta";

function toneOf(status: number | null): Tone {
  if (status === 429) return "magenta";
  return ({ "2xx": "green", "4xx": "yellow" } as const)[classOf(status)] ?? "red";
}
