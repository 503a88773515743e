// The trends as a chart: requests as stacked bars, the 95th percentile as a line, faults as shaded spans. Spans that
// are chosen by the pointer or by keys filter the requests.

import { useState } from "preact/hooks";
import type { SandboxTrendsReply } from "../../generated/control-api.ts";
import { chosenRequests, filteredSpans, filterRequests, type SpanRange, spanText } from "../panes/keys/chosen-spans.ts";
import { minutesOf, operationColumns, p95Text, trends as pane, rateText, slowestFirst } from "../panes/trends.ts";
import { update } from "../state/updates.ts";
import { count } from "../text/format.ts";
import type { DashboardProps } from "./browser-dashboard.ts";
import { Head } from "./shared-parts.tsx";

type TrendsProps = DashboardProps & { all: SandboxTrendsReply };

export function TrendsView({ dashboard }: DashboardProps) {
  const { state } = dashboard;
  const { trends: all } = state;
  return (
    <section class="view trends" aria-label={pane.title}>
      <Head title={pane.title} note={pane.titleNote(state)} />
      {all ? (
        <div class="trend-body">
          <Chart dashboard={dashboard} all={all} />
          <Totals dashboard={dashboard} all={all} />
        </div>
      ) : (
        <p class="empty">Loading trends …</p>
      )}
    </section>
  );
}

/**
 * A choice that is not finished. `all` keeps the spans from when the choice began, because newer spans would shift the
 * chosen ones.
 */
interface Choice {
  all: SandboxTrendsReply;
  start: number;
  end: number;
}

const rangeOf = ({ start, end }: Choice): SpanRange => ({ from: Math.min(start, end), to: Math.max(start, end) });

function Chart({ dashboard, all: newest }: TrendsProps) {
  const { state } = dashboard;
  const [choice, setChoice] = useState<Choice>();
  const [pointed, setPointed] = useState<number>();
  const [hasFocus, setFocus] = useState(false);
  const all = choice?.all ?? newest;
  const filtered = filteredSpans(state, all);
  const range = choice && rangeOf(choice);
  const read = range ?? (pointed === undefined ? undefined : { from: pointed, to: pointed });
  const show = (shown: SpanRange) => {
    setChoice(undefined);
    dashboard.change((before) => chosenRequests(before, all, shown));
  };
  const clear = () => {
    setChoice(undefined);
    if (filtered) dashboard.change((before) => filterRequests(before, ""));
  };
  return (
    <figure class="chart">
      <Legend all={all} />
      <div class="plot">
        <Plot all={all} chosen={range ?? filtered} />
        <div
          class="spans"
          role="slider"
          tabIndex={0}
          aria-label="Span of time"
          aria-valuemin={0}
          aria-valuemax={all.spans.length - 1}
          aria-valuenow={choice?.end ?? all.spans.length - 1}
          aria-valuetext={range ? spanText(all, range) : `none. ${BY_KEYS}`}
          onKeyDown={(event) => chooseByKey(event, { all, choice, setChoice, show, clear })}
          onFocus={() => setFocus(true)}
          onBlur={() => {
            setFocus(false);
            setChoice(undefined);
          }}
          {...pointerHandlers({ all, choice, setChoice, setPointed, show })}
        />
      </div>
      <Axis all={all} />
      <p class="readout">
        {read && spanText(all, read)}
        {!read && !filtered && hintOf(all, hasFocus)}
        {!read && filtered && (
          <>
            The requests are filtered: {spanText(all, filtered)}{" "}
            <button type="button" onClick={clear}>
              Show all requests
            </button>
          </>
        )}
      </p>
    </figure>
  );
}

function hintOf(all: SandboxTrendsReply, hasFocus: boolean): string {
  if (all.total.requests === 0) return `No requests in the last ${minutesOf(all)} min.`;
  return hasFocus ? BY_KEYS : "Drag over the chart to see the requests of that time.";
}

const BY_KEYS = "Left and Right choose a span of time, with Shift several. Enter shows its requests.";

interface Choosing {
  all: SandboxTrendsReply;
  choice: Choice | undefined;
  setChoice(choice: Choice | undefined): void;
  show(range: SpanRange): void;
}

/** Prevents the events that it handles, so that the dashboard does not handle their keys too. */
function chooseByKey(
  event: KeyboardEvent,
  { all, choice, setChoice, show, clear }: Choosing & { clear(): void },
): void {
  const { key, shiftKey, ctrlKey, metaKey, altKey } = event;
  if (ctrlKey || metaKey || altKey) return;
  const last = all.spans.length - 1;
  const { start = last, end = last + 1 } = choice ?? {};
  const to = { ArrowLeft: end - 1, ArrowRight: choice ? end + 1 : last, Home: 0, End: last }[key];
  if (to !== undefined) {
    const next = Math.max(0, Math.min(last, to));
    setChoice({ all, start: shiftKey ? start : next, end: next });
  } else if (key === "Enter" && choice) show(rangeOf(choice));
  else if (key === "Escape") clear();
  else return;
  event.preventDefault();
}

type PointerProps = Choosing & { setPointed(index: number | undefined): void };

function pointerHandlers({ all, choice, setChoice, setPointed, show }: PointerProps) {
  const indexAt = ({ currentTarget, clientX }: PointerEvent) => {
    const { left, width } = (currentTarget as Element).getBoundingClientRect();
    const index = Math.floor(((clientX - left) / width) * all.spans.length);
    return Math.max(0, Math.min(all.spans.length - 1, index));
  };
  const isDrawn = ({ currentTarget, pointerId }: PointerEvent) =>
    (currentTarget as Element).hasPointerCapture(pointerId);
  return {
    onPointerDown(event: PointerEvent) {
      if (event.button !== 0) return;
      (event.currentTarget as Element).setPointerCapture(event.pointerId);
      setChoice({ all, start: indexAt(event), end: indexAt(event) });
    },
    onPointerMove(event: PointerEvent) {
      setPointed(indexAt(event));
      if (choice && isDrawn(event)) setChoice({ ...choice, end: indexAt(event) });
    },
    onPointerUp(event: PointerEvent) {
      if (choice && isDrawn(event)) show(rangeOf({ ...choice, end: indexAt(event) }));
    },
    onPointerCancel: () => setChoice(undefined),
    onPointerLeave: () => setPointed(undefined),
  };
}

/** The height of a plot, in units of its view box. */
const HEIGHT = 100;
/** The height of the smallest bar, so that a count above zero is always visible. */
const LEAST_HEIGHT = 2;

const most = (all: SandboxTrendsReply) => Math.max(1, ...all.spans.map(({ requests }) => requests));
const slowest = (all: SandboxTrendsReply) => Math.max(...all.spans.map(({ p95 }) => p95 ?? 0));

function Plot({ all, chosen }: { all: SandboxTrendsReply; chosen: SpanRange | undefined }) {
  const { spans } = all;
  return (
    <svg
      viewBox={`0 0 ${spans.length} ${HEIGHT}`}
      preserveAspectRatio="none"
      role="img"
      aria-label={`Requests in spans of ${all.seconds} s. ${spanText(all, { from: 0, to: spans.length - 1 })}`}
    >
      {spans.map(({ faults }, index) => faults > 0 && <rect key={index} class="by-fault" x={index} {...WHOLE} />)}
      {chosen && <rect class="chosen" x={chosen.from} {...WHOLE} width={chosen.to - chosen.from + 1} />}
      {spans.map((span, index) => (
        <Bar key={index} span={span} index={index} scale={HEIGHT / most(all)} />
      ))}
      {spans.map(({ faults }, index) => faults > 0 && <rect key={index} class="fault-mark" x={index} {...TOP} />)}
      <path class="p95" d={percentileLine(all)} />
    </svg>
  );
}

const WHOLE = { y: 0, width: 1, height: HEIGHT };
/** A fault's mark at the top of its span, which is visible even if bars fill the span. */
const TOP = { y: 0, width: 1, height: LEAST_HEIGHT };

function Bar({ span, index, scale }: { span: SandboxTrendsReply["spans"][number]; index: number; scale: number }) {
  const { requests, clientErrors, serverErrors } = span;
  const visible = (requestCount: number) => (requestCount === 0 ? 0 : Math.max(LEAST_HEIGHT, requestCount * scale));
  const errors = visible(clientErrors) + visible(serverErrors);
  const parts = [
    { name: "ok", height: Math.max(visible(requests - clientErrors - serverErrors), requests * scale - errors) },
    { name: "client-error", height: visible(clientErrors) },
    { name: "server-error", height: visible(serverErrors) },
  ];
  let y = HEIGHT;
  return (
    <>
      {parts.map(({ name, height }) => {
        y -= height;
        return height > 0 && <rect key={name} class={name} x={index + 0.1} y={y} width={0.8} height={height} />;
      })}
    </>
  );
}

/**
 * Spans without requests have no percentile, so the line has a gap there. A single span between two gaps is a point.
 */
function percentileLine(all: SandboxTrendsReply): string {
  const highest = slowest(all);
  return all.spans
    .map(({ p95 }, index) => {
      if (p95 === null) return "";
      const y = (HEIGHT * (1 - (0.94 * p95) / highest)).toFixed(2);
      const isFirst = (all.spans[index - 1]?.p95 ?? null) === null;
      return `${isFirst ? "M" : "L"}${index + 0.5} ${y}${isFirst ? "h0.01" : ""}`;
    })
    .join("");
}

/** The totals by colour, between the highest values of both scales. */
function Legend({ all }: { all: SandboxTrendsReply }) {
  const { requests, clientErrors, serverErrors, faults, p95 } = all.total;
  const counts = {
    ok: ["2xx", requests - clientErrors - serverErrors],
    "client-error": ["4xx", clientErrors],
    "server-error": ["5xx", serverErrors],
    "by-fault": ["by faults", faults],
  } as const;
  return (
    <figcaption class="legend">
      <span class="scale">{requests > 0 && `up to ${rateText(most(all) / all.seconds)}`}</span>
      {Object.entries(counts).map(([name, [label, total]]) => (
        <span key={name}>
          <span class={`swatch ${name}`} /> {label} <strong>{count(total)}</strong>
        </span>
      ))}
      <span>
        <span class="swatch p95" /> p95 <strong>{p95Text(p95)}</strong>
      </span>
      <span class="scale">{requests > 0 && `up to ${p95Text(slowest(all))}`}</span>
    </figcaption>
  );
}

function Axis({ all }: { all: SandboxTrendsReply }) {
  const minutes = minutesOf(all);
  return (
    <div class="axis" aria-hidden="true">
      {Array.from({ length: minutes }, (_, index) => (
        <span key={index}>-{minutes - index} min</span>
      ))}
      <span>now</span>
    </div>
  );
}

/** The totals of each operation. A click on an operation's name filters the requests. */
function Totals({ dashboard, all }: TrendsProps) {
  const rows = slowestFirst(all).map((one) => ({ ...one, columns: operationColumns(one) }));
  const [first] = rows;
  if (!first) return null;
  const open = (operation: string) =>
    dashboard.change((before) => {
      const filtered = filterRequests(before, `operation:${operation}`);
      return update({ ...filtered.state, pane: "requests" }, ...filtered.effects);
    });
  return (
    <table class="totals">
      <thead>
        <tr>
          {first.columns.map(({ heading, align }) => (
            <th key={heading} scope="col" class={align === "right" ? "number" : ""}>
              {heading}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {rows.map(({ operation, columns: [, ...numbers] }) => (
          <tr key={operation}>
            <th scope="row">
              <button type="button" class="quiet" title="Show its requests" onClick={() => open(operation)}>
                {operation}
              </button>
            </th>
            {numbers.map(({ heading, text, styles = [] }) => (
              <td key={heading} class="number">
                <span class={styles.join(" ")}>{text}</span>
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  );
}
