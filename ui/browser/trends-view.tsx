// The pane of trends: rates, errors and latencies of the last minutes, plotted.

import type { SandboxTrendReply } from "../../generated/control-api.ts";
import { count, duration } from "../view/format.ts";
import type { DashboardProps } from "./browser-dashboard.ts";
import { ListHead } from "./shared-parts.tsx";

export function TrendsView({ dashboard }: DashboardProps) {
  const { all, selected } = dashboard.state.trends;
  return (
    <section class="view" tabIndex={0} aria-label="Trends">
      <ListHead title="Trends" note={all ? `the last ${(all.seconds * all.spans.length) / 60} minutes` : ""} />
      {all ? <Charts trend={all} title="All requests" /> : <p class="hint">Loading trends …</p>}
      {selected?.operation && <Charts trend={selected} title={selected.operation} />}
    </section>
  );
}

function Charts({ trend: { spans, seconds, total }, title }: { trend: SandboxTrendReply; title: string }) {
  const rates = spans.map(({ requests }) => requests / seconds);
  const errors = spans.map(({ clientErrors, serverErrors }) => clientErrors + serverErrors);
  const p95 = spans.map((span) => span.p95 ?? 0);
  const perSecond = (rate: number) => `${rate < 10 ? rate.toFixed(1) : count(Math.round(rate))}/s`;
  return (
    <>
      <h3>{title}</h3>
      <div class="charts">
        <Chart title="Requests" value={perSecond(rates.at(-2) ?? 0)} values={rates} highest={perSecond(Math.max(...rates))} tone="accent" />
        <Chart
          title="4xx and 5xx"
          value={`${count(total.clientErrors)} and ${count(total.serverErrors)}`}
          values={errors}
          highest={count(Math.max(...errors))}
          tone="red"
        />
        <Chart
          title="95th percentile"
          value={total.p95 === null ? "-" : duration(total.p95)}
          values={p95}
          highest={duration(Math.max(...p95))}
          tone="green"
        />
      </div>
    </>
  );
}

interface ChartProps {
  title: string;
  /** The newest value, as text. */
  value: string;
  /** Oldest first. */
  values: readonly number[];
  /** The label of the highest value. */
  highest: string;
  tone: "green" | "red" | "accent";
}

const WIDTH = 600;
const HEIGHT = 96;

/** A chart of values over time, as bars with a scale. */
function Chart({ title, value, values, highest, tone }: ChartProps) {
  const most = Math.max(...values, 0);
  const step = WIDTH / Math.max(1, values.length);
  return (
    <figure class="chart">
      <figcaption>
        <span>{title}</span>
        <span class="space">at most {highest}</span>
        <strong>{value}</strong>
      </figcaption>
      <svg
        viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
        preserveAspectRatio="none"
        class={tone}
        role="img"
        aria-label={`${title}: ${value}, highest ${highest}`}
      >
        <line x1="0" x2={WIDTH} y1={HEIGHT - 0.5} y2={HEIGHT - 0.5} />
        <line x1="0" x2={WIDTH} y1="0.5" y2="0.5" />
        {values.map((one, index) => {
          const height = most === 0 ? 0 : Math.max(one > 0 ? 2 : 0, (one / most) * (HEIGHT - 2));
          return <rect key={index} x={index * step + step * 0.1} y={HEIGHT - height} width={step * 0.8} height={height} />;
        })}
      </svg>
    </figure>
  );
}
