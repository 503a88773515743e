// The page around the views: tabs, the state of the sandbox, the notice, and the keys that work now.

import { useRef } from "preact/hooks";
import { controlCalls } from "../../src/client/control-call.ts";
import { count } from "../../src/kernel/text.ts";
import { requestRate } from "../panes/apply-message.ts";
import { explorer, paneNamed, visiblePanes } from "../panes/index.ts";
import { digitOf, keyGroups, tabDigits } from "../panes/keys/key-bindings.ts";
import { TRENDS_PANE } from "../state/layout.ts";
import { labelIn } from "../state/state.ts";
import { update, withNotice } from "../state/updates.ts";
import { stripStyles } from "../text/style.ts";
import {
  alarmTexts,
  clockText,
  connectionText,
  isDown,
  keyTitle,
  labelledBindings,
  selectedFailure,
  verdictSummary,
} from "../view/bars.ts";
import type { BrowserDashboard, DashboardProps } from "./browser-dashboard.ts";
import { DetailPanel } from "./detail-panel.tsx";
import { ExplorerView } from "./explorer-view.tsx";
import { perform } from "./fetch-calls.ts";
import { LessonPanel } from "./lesson-panel.tsx";
import { ListView } from "./list-view.tsx";
import { OverlayView, widthOfText } from "./overlay-view.tsx";
import { Head } from "./shared-parts.tsx";
import { StyledLines } from "./styled-text.tsx";
import { TokenView } from "./token-view.tsx";
import { Toolbar } from "./toolbar.tsx";
import { TrendsView } from "./trends-view.tsx";

export function Shell({ dashboard }: DashboardProps) {
  const { state } = dashboard;
  const { connection, notice } = state;
  const failure = notice ? undefined : selectedFailure(state);
  if (connection.phase === "detached") return <TokenView reason={connection.reason} />;
  return (
    <>
      <header class="top">
        <h1 class="brand">
          merchant-sandbox <span class="dim">{state.sandbox && `v${state.sandbox.version}`}</span>
        </h1>
        <Tabs dashboard={dashboard} />
      </header>
      <StatusBar dashboard={dashboard} />
      <main class={state.learning ? "learning" : ""}>
        {state.learning && <LessonPanel dashboard={dashboard} />}
        <CurrentView dashboard={dashboard} />
        <DetailPanel dashboard={dashboard} />
      </main>
      <footer>
        <p class={`notice ${notice?.style ?? (failure ? "red" : "dim")}`}>
          <span role="status">{!notice?.isNews && notice?.text}</span>
          {notice ? notice.isNews && notice.text : (failure ?? verdictSummary(state))}
        </p>
        <KeyBar dashboard={dashboard} />
      </footer>
      <OverlayView dashboard={dashboard} />
    </>
  );
}

function CurrentView({ dashboard }: DashboardProps) {
  const { pane } = dashboard.state;
  if (pane === explorer.name) return <ExplorerView dashboard={dashboard} />;
  if (pane === TRENDS_PANE) return <TrendsView dashboard={dashboard} />;
  if (paneNamed(pane).textLines) return <TextPane dashboard={dashboard} />;
  return <ListView dashboard={dashboard} />;
}

/** A pane of text, such as the output of the app, in the lines of the terminal. */
function TextPane({ dashboard: { state } }: DashboardProps) {
  const { title, titleNote, textLines } = paneNamed(state.pane);
  return (
    <section class="view" aria-label={title}>
      <Head title={title} note={titleNote(state)} />
      <pre class="text" tabIndex={0}>
        <StyledLines lines={textLines?.(state, widthOfText()) ?? []} />
      </pre>
    </section>
  );
}

function Tabs({ dashboard }: DashboardProps) {
  const { state } = dashboard;
  const open = (index: number) =>
    dashboard.change((before) => tabDigits(before)[index]?.run({ ...before, overlays: [] }) ?? update(before));
  return (
    <nav aria-label="Views">
      <Toolbar class="tabs" label="Views" isPressedByKeys>
        {visiblePanes(state).map(({ name, title, alarm }, index) => (
          <button
            key={name}
            type="button"
            class="tab"
            aria-current={name === state.pane ? "page" : undefined}
            onClick={() => open(index)}
          >
            {digitOf(index) !== "" && <kbd aria-hidden="true">{digitOf(index)}</kbd>}
            {title}
            {alarm?.(state) && (
              <span class={alarm(state).startsWith("*") ? "chip magenta" : "alarm"}>{stripStyles(alarm(state))}</span>
            )}
          </button>
        ))}
      </Toolbar>
    </nav>
  );
}

function StatusBar({ dashboard }: DashboardProps) {
  const { state } = dashboard;
  const { sandbox, target, connection } = state;
  const reachable = connection.phase === "live" ? "green" : "yellow";
  return (
    <section class="status" aria-label="Status">
      <span class={`connection ${isDown(state) ? "magenta" : reachable}`}>{connectionText(state)}</span>
      {alarmTexts(state).map((text) => (
        <span key={text} class="chip magenta">
          {text}
        </span>
      ))}
      <code>{sandbox?.baseUrl ?? target.url}</code>
      <span class="space" />
      {sandbox && (
        <>
          {Object.entries({ "req/s": requestRate(state), pending: sandbox.pendingDeliveries }).map(([label, value]) => (
            <span key={label}>
              <strong>{count(value)}</strong> {label}
            </span>
          ))}
          <span>{clockText(state, sandbox)}</span>
        </>
      )}
    </section>
  );
}

/**
 * Opens the HTML report of this run as a blob, because a link could carry the control token only in its address. The
 * blob is never revoked, so that its tab can be reloaded.
 */
async function openReport(dashboard: BrowserDashboard): Promise<void> {
  const fail = (message: string) => dashboard.change((state) => update(withNotice(state, message, "yellow")));
  try {
    const { body } = await perform(dashboard.state.target, controlCalls.report({ format: "html" }));
    if (!open(URL.createObjectURL(new Blob([String(body)], { type: "text/html" }))))
      fail("The browser blocked the tab of the report. Allow it, and press Report again");
  } catch (error) {
    fail((error as Error).message);
  }
}

/**
 * Buttons for the keys that have a label, in the groups of the help. The report has a button but no key, because a
 * terminal cannot show it.
 */
function KeyBar({ dashboard }: DashboardProps) {
  const { state, press } = dashboard;
  const labelled = labelledBindings(state).filter(({ keys: [key] }) => key !== undefined && !LEFT_OUT.has(key));
  const groups = keyGroups(state)
    .map(({ title, bindings }) => ({
      title,
      bindings: labelled.filter(({ help }) => bindings.some((one) => one.help === help)),
    }))
    .filter(({ bindings }) => bindings.length > 0);
  // While a text is typed, its keys are in no group.
  const isTyping = groups.length === 0;
  if (isTyping) groups.push({ title: "", bindings: labelled });
  const bar = useRef<HTMLDivElement>(null);
  const height = useRef<number | undefined>(undefined);
  // Fewer keys work while a filter is typed. The bar then keeps its height, so that the rows do not move.
  height.current = state.filterLine && (height.current ?? bar.current?.offsetHeight);
  return (
    <div ref={bar} style={{ minHeight: `${height.current ?? 0}px` }}>
      {/* Keeps the focus in a filter, so that a click on a button does not close the filter first. */}
      <Toolbar class="keys" label="Commands" onMouseDown={(event) => event.preventDefault()}>
        {groups.map(({ title, bindings }, group) => (
          <div key={group === 0 ? FIRST : title} class="key-group">
            {bindings.map(({ keys: [key = ""], label, help }, index) => (
              <button key={index === 0 ? FIRST : key} type="button" class="key" title={help} onClick={() => press(key)}>
                <kbd>{keyTitle(key)}</kbd> {labelIn(state, { label })}
              </button>
            ))}
          </div>
        ))}
        {!isTyping && (
          <button
            type="button"
            class="key"
            title="open the report of this run in a new tab"
            onClick={() => void openReport(dashboard)}
          >
            report ↗
          </button>
        )}
      </Toolbar>
    </div>
  );
}

/**
 * The `key` of the first button is always the same, so Preact keeps its element when other buttons are shown. Tab moves
 * the focus from a filter to this button. That closes the filter, and the bar shows other buttons.
 */
const FIRST = "first";

/**
 * Keys without a button in the bar: the tabs are buttons themselves, the button of Esc does what `q` does, and a form
 * has buttons for its Ctrl keys.
 */
const LEFT_OUT: ReadonlySet<string> = new Set(["q", "l", "tab", "ctrl-o", "ctrl-y"]);
