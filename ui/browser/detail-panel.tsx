// The detail of a row beside the list: its lines, with links that open other details.

import { useEffect, useLayoutEffect, useRef } from "preact/hooks";
import type { DetailLine } from "../panes/details/detail-lines.ts";
import { explorer, paneNamed } from "../panes/index.ts";
import { openReference } from "../panes/keys/detail-keys.ts";
import { bodiesOf, isDetail, linksOf, searchNote, selectedLink, textOf } from "../panes/overlays/detail.ts";
import { layoutOf, PREVIEW } from "../state/layout.ts";
import { closeTopOverlay, update } from "../state/updates.ts";
import { stripStyles } from "../text/style.ts";
import type { BrowserDashboard, DashboardProps } from "./browser-dashboard.ts";
import { Filter } from "./list-view.tsx";
import { Head } from "./shared-parts.tsx";
import { Pieces, piecesOf, StyledText, WIDTH } from "./styled-text.tsx";

export function DetailPanel({ dashboard }: DashboardProps) {
  const { state } = dashboard;
  const scroller = useRef<HTMLDivElement>(null);
  // The topmost open detail, which may be below a form. Without an open detail, the preview of the selected row.
  const opened = state.overlays.findLast(isDetail);
  const { overlay: preview } = state.preview ?? {};
  const detail = opened ?? (preview && isDetail(preview) ? preview : undefined);
  const lines = detail ? detail.content(state, WIDTH) : [];
  const links = linksOf(lines);
  const selected = opened && selectedLink(links, opened.selected);
  // A detail opens at its top: only a link that a key has selected is scrolled into view.
  useEffect(() => {
    if (opened?.selected !== undefined)
      scroller.current?.querySelector(".link.current")?.scrollIntoView({ block: "nearest" });
  }, [opened?.id, selected?.key]);
  useEffect(() => scroller.current?.scrollTo(0, 0), [detail?.id]);
  useEffect(() => {
    const body = bodiesOf(lines)[detail?.body ?? -1];
    if (body !== undefined) scroller.current?.children[body]?.scrollIntoView();
  }, [detail?.id, detail?.body]);
  useEffect(() => {
    scroller.current?.querySelector(".inverse")?.scrollIntoView({ block: "center" });
  }, [detail?.search, detail?.match]);
  const hold = holdWhileRead(dashboard);
  // A panel that disappears under the pointer gets no event for leaving it, so the preview is released here. A layout
  // effect does so before the next panel can get the focus.
  useLayoutEffect(() => () => dashboard.holdPreview(false), [detail === undefined]);
  if (!detail) return <Placeholder dashboard={dashboard} />;
  const close = () => dashboard.change((before) => update(closeTopOverlay(before)));
  // The terminal marks the selected link in the text; the page does so by a class.
  const drawn = opened ? opened.lines(state, WIDTH) : lines.map(textOf);
  return (
    <aside class="detail" aria-label="Details" {...hold}>
      <Head title={detail.title} note={searchNote(lines, detail, WIDTH)} {...(opened && { onClose: close })}>
        {opened && <Filter dashboard={dashboard} detail={opened} />}
      </Head>
      <div class="detail-lines" ref={scroller} tabIndex={0}>
        {lines.map((line, index) => (
          <Line
            key={index}
            dashboard={dashboard}
            line={line}
            drawn={drawn[index] ?? ""}
            isCurrent={index === selected?.line}
          />
        ))}
      </div>
    </aside>
  );
}

/** Keeps the previewed row while the pointer or the focus is in the panel. */
function holdWhileRead({ holdPreview }: BrowserDashboard) {
  const look = ({ currentTarget }: { currentTarget: Element }) =>
    holdPreview(currentTarget.matches(":hover, :focus-within"));
  return { onMouseEnter: look, onMouseLeave: look, onFocusIn: look, onFocusOut: look };
}

/**
 * Keeps the space of the preview when no row is selected, so that the list has the same width with and without rows.
 */
function Placeholder({ dashboard: { state } }: DashboardProps) {
  const isList = state.pane !== explorer.name && !paneNamed(state.pane).textLines;
  if (!isList || !layoutOf(state).right.some(({ pane }) => pane === PREVIEW)) return null;
  return (
    <aside class="detail" aria-label="Details">
      <p class="hint">The details of the selected row are shown here.</p>
    </aside>
  );
}

/** `drawn` is the line as the terminal draws it, with the matches of a search. */
function Line({
  dashboard,
  line,
  drawn,
  isCurrent,
}: DashboardProps & { line: DetailLine; drawn: string; isCurrent: boolean }) {
  if (typeof line !== "string" && "link" in line) {
    const open = () => dashboard.change((before) => openReference({ ...before, notice: undefined }, line.link));
    return (
      <button type="button" class={`line link ${isCurrent ? "current" : ""}`} onClick={open}>
        <Labelled text={line.text} isLink />
      </button>
    );
  }
  if (typeof line !== "string" && "band" in line)
    return <div class={`band ${line.band}`}>{stripStyles(drawn).trim()}</div>;
  const pieces = piecesOf(drawn);
  if (pieces.length === 1 && pieces[0]?.classes === "bold") return <h3>{pieces[0].text}</h3>;
  return (
    <div class={`line ${drawn === "" ? "blank" : ""}`}>
      <Labelled text={drawn} />
    </div>
  );
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: styles begin with an escape character.
const INDENT = /^((?:\x1b\[\d+m)*▸?) {2}/;
const HANGING = /^▸? +/;

/**
 * Shows a line that begins with a dim label as a label beside its value. The terminal indents the lines of a section by
 * two cells. If the browser wraps an indented line, the further lines have the same indent.
 */
function Labelled({ text, isLink = false }: { text: string; isLink?: boolean }) {
  const [first, second, ...rest] = piecesOf(text);
  const isLabel =
    first?.classes === "dim" && /^ {2}\S.{0,13}\s*$/.test(first.text) && first.text.length >= 14 && second;
  if (!isLabel) {
    const value = text.trimEnd().replace(INDENT, "$1");
    const indent = HANGING.exec(stripStyles(value))?.[0].length ?? 0;
    const style = indent > 0 || isLink ? { paddingLeft: `${indent + 2}ch`, textIndent: `-${indent + 2}ch` } : {};
    return (
      <span class="value" style={style}>
        <StyledText text={value} />
      </span>
    );
  }
  return (
    <>
      <span class="label">{first.text.trim()}</span>
      <span class="value">
        <Pieces pieces={[{ ...second, text: second.text.replace(" ", "") }, ...rest]} />
      </span>
    </>
  );
}
