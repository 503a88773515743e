// Drags the sandbox's clock forward: a slider by pointer and arrow keys, the retries and ends of faults until the chosen moment, and the call that goes there.

import { useRef, useState } from "preact/hooks";
import { advanceCall, advanceClock } from "../controls/clock.ts";
import { type DueMoment, dueMoments } from "../controls/clock-preview.ts";
import { openReference } from "../keys/references.ts";
import { copyText, sandboxNow, type UiState } from "../state/state.ts";
import { countdown, counted, dateTimeToSecond } from "../view/format.ts";
import { curlOf } from "../wire/control-calls.ts";
import type { BrowserDashboard } from "./browser-dashboard.ts";

/** The stops of the slider: a minute and a month are equally near. */
const STOPS = ["0s", "10s", "30s", "1m", "2m", "5m", "10m", "30m", "1h", "2h", "4h", "8h", "12h", "1d", "2d", "3d", "7d", "14d", "30d"];
const UNITS: Readonly<Record<string, number>> = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 };
const spanOf = (stop: string) => Number.parseInt(stop, 10) * (UNITS[stop.at(-1) ?? ""] ?? 0);
const SPANS = STOPS.map(spanOf);
/** Further moments are counted only. */
const MAX_LISTED = 6;

export function ClockSlider({ dashboard }: { dashboard: BrowserDashboard }) {
  const { state } = dashboard;
  const [stop, setStop] = useState(0);
  const slider = useRef<HTMLInputElement>(null);
  const by = STOPS[stop] ?? "0s";
  const now = sandboxNow(state);
  const until = now + spanOf(by);
  const moments = dueMoments(state);
  const due = moments.filter(({ at }) => at <= until);
  const advance = () => {
    dashboard.change((before) => advanceClock(before, by));
    setStop(0);
    // The button is disabled now, and a disabled element with the focus swallows keys.
    slider.current?.focus();
  };
  return (
    <section class="clock" aria-label="Clock">
      <div class="clock-head">
        <label for="clock-slider">Advance the clock</label>
        <output for="clock-slider">{stop === 0 ? dateTimeToSecond(now) : `+${by}, to ${dateTimeToSecond(until)}`}</output>
        <span class="space" />
        <button type="button" class="primary" disabled={stop === 0} onClick={advance}>
          {stop === 0 ? "Advance" : `Advance by ${by}`}
        </button>
      </div>
      <div class="clock-track">
        <input
          id="clock-slider"
          ref={slider}
          type="range"
          min="0"
          max={STOPS.length - 1}
          value={stop}
          aria-valuetext={stop === 0 ? "now" : `${by}: ${counted(due.length, "known moment")} on the way`}
          onInput={({ currentTarget }) => setStop(Number(currentTarget.value))}
        />
        <Marks moments={moments} now={now} until={until} />
        <div class="clock-stops" aria-hidden="true">
          {STOPS.map((one, index) => (
            <span key={one} class={index === stop ? "current" : ""}>
              {index === 0 ? "now" : one}
            </span>
          ))}
        </div>
      </div>
      {stop > 0 && <Preview dashboard={dashboard} due={due} now={now} by={by} />}
    </section>
  );
}

/** Where a span lies on the slider, from 0 to 1; between two stops in proportion. */
function placeOf(span: number): number {
  const next = SPANS.findIndex((one) => one >= span);
  if (next === -1) return 1;
  const [from = 0, to = 1] = [SPANS[next - 1], SPANS[next]];
  return next === 0 ? 0 : (next - 1 + (span - from) / (to - from)) / (SPANS.length - 1);
}

const Marks = ({ moments, now, until }: { moments: readonly DueMoment[]; now: number; until: number }) => (
  <svg class="clock-marks" viewBox="0 0 1000 6" preserveAspectRatio="none" aria-hidden="true">
    {moments.map(({ at, opens }) => (
      <rect
        key={opens.id}
        class={`clock-mark ${at <= until ? "due" : ""}`}
        x={placeOf(Math.max(0, at - now)) * 1_000 - 2}
        width="4"
        height="6"
      />
    ))}
  </svg>
);

interface PreviewProps {
  dashboard: BrowserDashboard;
  due: readonly DueMoment[];
  now: number;
  by: string;
}

function Preview({ dashboard, due, now, by }: PreviewProps) {
  const { state } = dashboard;
  const curl = curlOf(state.target, advanceCall(by));
  const open = ({ opens }: DueMoment) => dashboard.change((before) => openReference({ ...before, overlays: [], notice: undefined }, opens));
  return (
    <div class="clock-preview">
      <ul>
        {due.slice(0, MAX_LISTED).map((moment) => (
          <li key={moment.opens.id}>
            <span class="dim">in {countdown((moment.at - now) / 1_000)}</span>
            <button type="button" class="plain" onClick={() => open(moment)}>
              {moment.label}
            </button>
          </li>
        ))}
        {due.length > MAX_LISTED && <li class="dim">and {due.length - MAX_LISTED} more</li>}
        {due.length === 0 && <li class="dim">No retry is due and no fault ends until then.</li>}
      </ul>
      <p class="hint">{restOf(state)}</p>
      <div class="beside">
        <pre class="curl">{curl}</pre>
        <button type="button" onClick={() => dashboard.change((before) => copyText(before, curl, "the call as curl"))}>
          Copy
        </button>
      </div>
    </div>
  );
}

const restOf = ({ sandbox }: UiState) =>
  sandbox?.life === "off"
    ? "Not listed: retries of attempts that fail on the way. Records keep their status: life is off."
    : "Not listed: changes of records, such as payouts that arrive, and retries of attempts that fail on the way.";
