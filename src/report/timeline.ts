// The timeline of a run as inline SVG: a lane per operation and endpoint, a column per request or attempt.

import type { ReportedRequest } from "../contracts/logged-request.ts";
import type { ReportedAttempt, RunReport } from "../contracts/run-report.ts";
import { parseTime } from "../kernel/clock.ts";
import { Markup, markup } from "../kernel/markup.ts";
import { classOf } from "./run-data.ts";

/** A request or an attempt, in one order. */
interface TimelineEntry {
  at: string;
  lane: string;
  request?: ReportedRequest;
  attempt?: ReportedAttempt;
}

interface Placed extends TimelineEntry {
  x: number;
  y: number;
}

const ROW = 28;
const HEAD = 30;
const MARGIN = 18;
/** Space for the last time label. */
const TAIL = 64;
const MOST_DRAWN = 400;
const LABEL_EVERY = 76;
/** Pauses longer than this, in sandbox milliseconds, are drawn as a gap. */
const LONG_PAUSE = 60_000;

/** Columns show the order, not the distance in time: under a frozen or advanced clock a time scale would show nothing. */
export function timeline(run: RunReport): Markup {
  const moments = momentsOf(run);
  if (moments.length === 0) return markup`<p class="soft">Nothing has happened yet.</p>`;
  const drawn = moments.slice(-MOST_DRAWN);
  const lanes = lanesOf(run, drawn);
  const step = drawn.length <= 40 ? 26 : 16;
  const placed = drawn.map((moment, index) => ({
    ...moment,
    x: MARGIN + index * step,
    y: HEAD + (lanes.indexOf(moment.lane) + 0.5) * ROW,
  }));
  const width = MARGIN + TAIL + (drawn.length - 1) * step;
  const height = HEAD + lanes.length * ROW + 6;
  const note = moments.length > drawn.length ? markup`<p class="soft">The newest ${drawn.length} of ${moments.length}.</p>` : "";
  return markup`${note}<div class="timeline">
<svg class="lanes" width="230" height="${height}" role="presentation">${lanes.map((lane, index) => laneLabel(lane, index))}</svg>
<div class="scrolling" tabindex="0" role="region" aria-label="Timeline"><svg width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" role="group" aria-label="Requests and deliveries in their order">
${lanes.map((_, index) => stripe(index, width))}
${times(placed, height)}
${links(placed)}
${placed.map(mark)}
</svg></div>
</div>
${LEGEND}`;
}

function momentsOf({ requests, deliveries }: RunReport): TimelineEntry[] {
  const moments: TimelineEntry[] = [
    ...requests.map((request) => ({ at: request.at, lane: request.operation ?? NO_OPERATION, request })),
    ...deliveries.map((attempt) => ({ at: attempt.at, lane: `→ ${attempt.url.replace(/^https?:\/\/|\?.*$/g, "")}`, attempt })),
  ];
  // Both lists are in order and the sort is stable, so a delivery follows the requests of the same moment.
  return moments.sort((one, other) => (second(one) < second(other) ? -1 : second(one) > second(other) ? 1 : 0));
}

/** Attempts have times in whole seconds. */
const second = ({ at }: TimelineEntry) => at.slice(0, 19);

const NO_OPERATION = "no operation";

function lanesOf({ coverage }: RunReport, moments: readonly TimelineEntry[]): string[] {
  const used = new Set(moments.map(({ lane }) => lane));
  const operations = [...coverage.map(({ operation }) => operation), NO_OPERATION].filter((operation) => used.has(operation));
  return [...operations, ...[...used].filter((lane) => !operations.includes(lane))];
}

const LONGEST_LABEL = 29;

function laneLabel(lane: string, index: number): Markup {
  const shown = lane.length > LONGEST_LABEL ? `${lane.slice(0, LONGEST_LABEL - 1)}…` : lane;
  return markup`<text x="4" y="${HEAD + (index + 0.5) * ROW + 4}"><title>${lane}</title>${shown}</text>`;
}

const stripe = (index: number, width: number) =>
  markup`<line class="lane" x1="0" x2="${width}" y1="${HEAD + (index + 0.5) * ROW}" y2="${HEAD + (index + 0.5) * ROW}"/>`;

/** The time is drawn above the first column of each second that has space for it; a gap is a dashed line with its length. */
function times(placed: readonly Placed[], height: number): Markup[] {
  const shown: Markup[] = [];
  let labelled = -LABEL_EVERY;
  placed.forEach((moment, index) => {
    const before = placed[index - 1];
    const pause = before ? (parseTime(moment.at) ?? 0) - (parseTime(before.at) ?? 0) : 0;
    if (before && pause >= LONG_PAUSE) {
      const x = (before.x + moment.x) / 2;
      shown.push(
        markup`<line class="pause" x1="${x}" x2="${x}" y1="${HEAD - 8}" y2="${height}"><title>${words(pause)} later</title></line>`,
      );
    }
    if (before && second(before) === second(moment)) return;
    if (moment.x - labelled < LABEL_EVERY) return;
    labelled = moment.x;
    shown.push(markup`<text class="time" x="${moment.x - 6}" y="14">${moment.at.slice(11, 19)}</text>`);
  });
  return shown;
}

function words(milliseconds: number): string {
  const minutes = Math.round(milliseconds / 60_000);
  return minutes < 120 ? `${minutes} min` : `${Math.round(minutes / 6) / 10} h`;
}

/** Lines from a request to each delivery it caused. */
function links(placed: readonly Placed[]): Markup[] {
  const requests = new Map(placed.map((moment) => [moment.request?.id, moment]));
  return placed.flatMap(({ attempt, x, y }) => {
    const from = attempt?.request ? requests.get(attempt.request) : undefined;
    return from
      ? [markup`<path class="link" d="M${from.x} ${from.y} C${from.x} ${(from.y + y) / 2}, ${x} ${(from.y + y) / 2}, ${x} ${y}"/>`]
      : [];
  });
}

function mark({ x, y, request, attempt }: Placed): Markup {
  if (request) return requestMark(x, y, request);
  const { id, type, url, maxAttempts, status, responseStatus, error, ...rest } = attempt as ReportedAttempt;
  const title = `${type} to ${url}, attempt ${rest.attempt} of ${maxAttempts}: ${responseStatus ?? error ?? status}`;
  const tone = status === "succeeded" ? "green" : "red";
  return markup`<a href="#${id}"><g class="${tone}"><title>${title}</title><rect x="${x - 7}" y="${y - 7}" width="14" height="14" rx="4"/><text class="number" x="${x}" y="${y + 3.5}">${rest.attempt}</text></g></a>`;
}

/** Each status class has its own shape, so that colour is never the only sign. */
function requestMark(x: number, y: number, { id, method, path, status, durationMs, merchant, replayOf, fault }: ReportedRequest): Markup {
  const replayed = replayOf === null ? "" : `, replay of the response to ${replayOf}`;
  const struck = fault === null ? "" : `, fault ${fault}`;
  const title = `${id} ${method} ${path} ${status} in ${durationMs} ms${merchant === null ? "" : `, ${merchant}`}${replayed}${struck}`;
  return markup`<a href="#${id}"><g class="${toneOf(status)}" transform="translate(${x} ${y})"><title>${title}</title>${shapeOf(status, replayOf !== null)}${fault === null ? "" : STRUCK}</g></a>`;
}

const STRUCK = new Markup('<circle class="struck" r="10"/>');
const CIRCLE = new Markup('<circle r="6"/>');
const RING = new Markup('<circle class="ring" r="5"/>');
const TRIANGLE = new Markup('<path d="M0 -7 L7 6 L-7 6 Z"/>');
const DIAMOND = new Markup('<path d="M0 -8 L8 0 L0 8 L-8 0 Z"/>');
const CROSS = new Markup('<path d="M-6 -3 L-3 -6 L0 -3 L3 -6 L6 -3 L3 0 L6 3 L3 6 L0 3 L-3 6 L-6 3 L-3 0 Z"/>');

function shapeOf(status: number, isReplay: boolean): Markup {
  if (status === 429) return DIAMOND;
  if (classOf(status) === "2xx") return isReplay ? RING : CIRCLE;
  return classOf(status) === "4xx" ? TRIANGLE : CROSS;
}

/** A colour of the base style sheet. */
export type Tone = "green" | "yellow" | "red" | "magenta";

export function toneOf(status: number): Tone {
  if (status === 429) return "magenta";
  return ({ "2xx": "green", "4xx": "yellow" } as const)[classOf(status)] ?? "red";
}

const sample = (tone: Tone, shape: Markup, words: string) =>
  markup`<li><svg width="18" height="18" viewBox="-11 -11 22 22" aria-hidden="true"><g class="${tone}">${shape}</g></svg>${words}</li>`;

const LEGEND = markup`<ul class="legend">${[
  sample("green", CIRCLE, "2xx"),
  sample("green", RING, "2xx, idempotent replay"),
  sample("yellow", TRIANGLE, "4xx"),
  sample("magenta", DIAMOND, "429"),
  sample("red", CROSS, "5xx, or no response"),
  sample("yellow", STRUCK, "affected by a fault rule"),
  sample(
    "green",
    new Markup('<rect x="-7" y="-7" width="14" height="14" rx="4"/><text class="number" x="0" y="3.5">1</text>'),
    "delivered, with the number of the attempt",
  ),
  sample(
    "red",
    new Markup('<rect x="-7" y="-7" width="14" height="14" rx="4"/><text class="number" x="0" y="3.5">2</text>'),
    "failed attempt",
  ),
]}</ul>`;
