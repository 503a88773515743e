// The newest deliveries below the requests that cause them, as in a terminal, where the page is high enough.

import { useRef, useState } from "preact/hooks";
import { LATEST_ROWS } from "../load-rows.ts";
import { paneNamed } from "../panes/index.ts";
import { listOf } from "../state/state.ts";
import { listNote } from "../view/pane-content.ts";
import { charactersIn, Headings, RowLine, useSize, type ViewProps } from "./list-view.tsx";

export function LatestDeliveries({ dashboard }: ViewProps) {
  const { state } = dashboard;
  const element = useRef<HTMLElement>(null);
  const [width, setWidth] = useState(900);
  const pane = paneNamed("deliveries");
  const list = listOf(state, pane.name);
  const rows = list.rows.filter(({ gap }) => !gap).slice(-LATEST_ROWS);
  useSize(element, (size) => setWidth(size.width));
  const [example] = rows;
  const columns = charactersIn(width);
  if (!example) return null;
  return (
    <section class="latest" aria-label="Latest deliveries" ref={element}>
      <div class="list-head">
        <h2>{pane.title}</h2>
        <span class="note">{listNote(state, pane, list, "counts")}</span>
      </div>
      <div role="grid" aria-label={pane.title}>
        <Headings columns={pane.columns(example, state, columns)} width={columns} />
        {rows.map((row, index) => (
          <RowLine key={row.id} {...{ dashboard, pane, row, index, width: columns, isSelected: false }} />
        ))}
      </div>
    </section>
  );
}
