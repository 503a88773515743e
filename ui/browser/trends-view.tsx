// The trends on the page: a chart of elements for each measure, and the totals of each operation.

import { chartsOf, minutesOf, operationColumns, slowestFirst, trends } from "../panes/trends.ts";
import type { DashboardProps } from "./browser-dashboard.ts";
import { Cell, gridOf, Headings } from "./list-view.tsx";
import { Head } from "./shared-parts.tsx";

/** More cells than a trend has spans. */
const CELLS = 100;

export function TrendsView({ dashboard: { state } }: DashboardProps) {
  const { trends: all } = state;
  const rows = all ? slowestFirst(all).map(operationColumns) : [];
  return (
    <section class="view" aria-label={trends.title}>
      <Head title={trends.title} note={all ? trends.titleNote(state) : "Loading …"} />
      {all && (
        <div class="rows trends" role="region" aria-label="Charts" tabIndex={0}>
          {chartsOf(all, CELLS).map(({ label, value, highest, values, style }) => (
            <figure key={label}>
              <figcaption>
                {label} <strong>{value}</strong> {highest !== "" && <span class="note">max {highest}</span>}
              </figcaption>
              <div class={`chart ${style ?? ""}`}>
                {values.map((one, index) => (
                  <span key={index} style={{ height: `${(100 * one) / Math.max(...values, Number.MIN_VALUE)}%` }} />
                ))}
              </div>
            </figure>
          ))}
          <p class="note axis">
            <span>{minutesOf(all)} min ago</span> <span>now</span>
          </p>
          {rows[0] && (
            <div role="table" aria-label="Operations">
              <Headings columns={rows[0]} width={CELLS} />
              {rows.map((columns) => (
                <div key={columns[0]?.text} role="row" class="row" style={{ gridTemplateColumns: gridOf(columns) }}>
                  {columns.map((column) => (
                    <Cell key={column.heading} {...column} role="cell" />
                  ))}
                </div>
              ))}
            </div>
          )}
        </div>
      )}
    </section>
  );
}
