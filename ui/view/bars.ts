// The one-line bars around the panes: status, tabs, notice, keys.

import type { FaultRule, SandboxOverviewReply } from "../../generated/control-api.ts";
import { pageAddress } from "../../src/client/page-address.ts";
import { requestRate } from "../panes/apply-message.ts";
import { isHolding } from "../panes/controls/sandbox-forms.ts";
import { armedRules, ruleTitle } from "../panes/details/fault.ts";
import { paneNamed, visiblePanes } from "../panes/index.ts";
import { followedMerchant } from "../panes/keys/follow-merchant.ts";
import { digitOf, enabledBindings, lineProblem, typingKeys } from "../panes/keys/key-bindings.ts";
import { withCaret } from "../panes/overlays/field.ts";
import { MINIMUM_SIZE } from "../state/layout.ts";
import { selectedRow } from "../state/list.ts";
import {
  type FilterLine,
  type KeyBinding,
  labelIn,
  listOf,
  sandboxNow,
  secondsUntil,
  type UiState,
} from "../state/state.ts";
import { topOverlay } from "../state/updates.ts";
import { cut, fitTo, sanitize, widthOf } from "../text/cells.ts";
import { count, countdown, dateTimeToSecond, milliseconds, plural } from "../text/format.ts";
import { stripStyles, styled, symbols, type TextStyle } from "../text/style.ts";

/** Shows as many parts as fit, and the counts at the right end. */
export function statusBar(state: UiState): string {
  const { size, theme, sandbox, connection } = state;
  const pending = `${count(sandbox?.pendingDeliveries ?? 0)} pending${size.columns >= 140 ? " deliveries" : ""}`;
  const counts = ` ${count(requestRate(state))} req/s  ${pending} `;
  const room = size.columns - widthOf(counts) - 1;
  const alarms = alarmTexts(state).map(sanitize);
  const fixed = [cut(sanitize(connectionText(state)), room), ...alarms];
  const shown = fittingParts(fixed, statusParts(state), room);
  const down = isDown(state) ? "magenta" : undefined;
  const style = connection.phase === "live" ? down : "yellow";
  const drawn = shown.map((part, index) => {
    if (index === 0) return style ? styled(theme, part, style, "bold") : part;
    return alarms.includes(part) ? styled(theme, part, "magenta") : part;
  });
  return ` ${drawn.join("  ")}${" ".repeat(Math.max(0, room - widthOf(shown.join("  "))))}${counts}`;
}

interface StatusForm {
  text: string;
  /** If not all texts fit, those with the highest rank are left out first. */
  rank: number;
}

/** A part of the status bar. The short form is shown if the text does not fit. */
type StatusPart = StatusForm & { short?: StatusForm };

/**
 * All `fixed` parts, and the other parts that fit, in this order. Space goes to `fixed` parts first, then to the others
 * by rank.
 */
function fittingParts(fixed: readonly string[], parts: readonly StatusPart[], room: number): string[] {
  const all = [...fixed.map((text): StatusPart => ({ text, rank: 0 })), ...parts];
  const forms = all.flatMap((part) => [part, ...(part.short ? [part.short] : [])].map((form) => ({ ...form, part })));
  const shown = new Map<StatusPart, string>();
  const widthWith = (part: StatusPart, text: string) =>
    widthOf([...new Map(shown).set(part, text).values()].join("  "));
  for (const { part, text } of forms.toSorted((one, other) => one.rank - other.rank))
    if (widthWith(part, sanitize(text)) <= room) shown.set(part, sanitize(text));
  return all.flatMap((part) => shown.get(part) ?? []);
}

/**
 * The parts of the status bar after the connection. A frozen or set clock takes precedence over the API key, because it
 * explains why nothing falls due, or why everything does.
 */
function statusParts(state: UiState): StatusPart[] {
  const { sandbox, target } = state;
  if (!sandbox) return [{ text: target.url, rank: 1 }];
  const mode = CLOCK_MODES[sandbox.clock.mode];
  return [
    { text: sandbox.baseUrl, rank: 1 },
    { text: firstApiKeyText(sandbox), rank: 3 },
    { text: clockText(state, sandbox), rank: 4, ...(mode && { short: { text: `clock ${mode}`, rank: 2 } }) },
    ...(sandbox.life === "off" ? [{ text: "life off", rank: 5 }] : []),
    { text: `page ${pageAddress(target.url)}`, rank: 6 },
    { text: `v${sandbox.version}`, rank: 7 },
  ];
}

/** The armed outage that affects every call, if there is one. */
const outageOf = (state: UiState) =>
  armedRules(state).find(({ action, match }) => action.type === "outage" && Object.keys(match).length === 0);

export const isDown = (state: UiState) => state.connection.phase === "live" && outageOf(state) !== undefined;

/**
 * The followed merchant, the number of held deliveries, the first armed fault, and the scores of armed scenarios. An
 * outage of every call is left out, because `connectionText` shows it.
 */
export function alarmTexts(state: UiState): string[] {
  const scenarios = (state.sandbox?.scenarios ?? []).map(({ name, score, points }) => `${name} ${score}/${points}`);
  const [first, ...others] = armedRules(state).filter((rule) => rule !== outageOf(state));
  const more = others.length === 0 ? "" : ` and ${plural(others.length, "more fault")}`;
  const only = followedMerchant(state);
  return [
    ...(only === undefined ? [] : [`ONLY ${only}`]),
    ...(isHolding(state) ? [`${plural(state.sandbox?.heldDeliveries ?? 0, "delivery")} held: W sends`] : []),
    ...(first ? [`${ruleTitle(first)}${leftOf(state, first)}${more}`] : []),
    ...scenarios,
  ];
}

/** ` 0:24`, the time until a rule ends, or else ` 2 left`. */
function leftOf(state: UiState, { endsAt, remaining }: FaultRule): string {
  if (endsAt !== null) return ` ${countdown(secondsUntil(state, milliseconds(endsAt)))}`;
  return remaining === null ? "" : ` ${count(remaining)} left`;
}

export function connectionText(state: UiState): string {
  const { connection, retryAt, now, run } = state;
  const stale = run === undefined ? "" : ", data is stale";
  const outage = outageOf(state);
  if (connection.phase === "live") return outage ? `OUTAGE${leftOf(state, outage)}: o ends it` : "LIVE";
  if (connection.phase === "connecting") return "CONNECTING";
  if (connection.phase === "detached") return `DETACHED: ${connection.reason}${stale}`;
  return `RECONNECTING in ${Math.max(0, Math.ceil((retryAt - now) / 1_000))} s: ${connection.reason}${stale}`;
}

const CLOCK_MODES = { real: "", frozen: "frozen", offset: "set" } as const;

export const clockText = (state: UiState, { clock: { mode } }: SandboxOverviewReply): string =>
  `clock ${dateTimeToSecond(sandboxNow(state))} ${CLOCK_MODES[mode]}`.trimEnd();

/** The first API key and the number of other merchants: `sk_test_lodge +2 more`. */
function firstApiKeyText({ merchants }: SandboxOverviewReply): string {
  const [first, ...others] = merchants;
  return first
    ? `${first.apiKeys[0] ?? first.id}${others.length > 0 ? ` +${others.length} more` : ""}`
    : "no merchants";
}

/**
 * The tabs, each with its alarm, such as a number of failures. Where not all titles fit, the last tabs are digits only,
 * except the focused one: cut titles are hard to read.
 */
export function tabBar(state: UiState): string {
  const { pane, size, theme } = state;
  const tabs = visiblePanes(state).map(({ name, title, alarm }, index) => ({
    digit: digitOf(index),
    title: title.replace("Rate limits", "Limits"),
    mark: alarm?.(state) ?? "",
    isFocused: name === pane,
  }));
  const textOf = ({ digit, title, isFocused }: (typeof tabs)[number], index: number, titled: number) =>
    isFocused || index < titled ? `${digit} ${title}`.trim() : digit;
  // Each tab takes one blank. The brackets around the focused tab, or a blank before the first tab, take up to 2 more.
  const widthWith = (titled: number) =>
    tabs.reduce((sum, tab, at) => sum + textOf(tab, at, titled).length + (tab.mark && ` ${tab.mark}`).length + 1, 2);
  let titled = tabs.length;
  while (titled > 0 && widthWith(titled) > size.columns) titled--;
  const drawn = tabs.map((tab, index) => {
    const { mark, isFocused } = tab;
    const styles: TextStyle[] = mark.startsWith(symbols(theme).bad) ? ["failure"] : ["magenta", "bold"];
    const text = textOf(tab, index, titled) + (mark && ` ${styled(theme, mark, ...styles)}`);
    return isFocused ? styled(theme, `[${text}]`, "bold") : text;
  });
  const line = `${tabs[0]?.isFocused ? "" : " "}${drawn.filter((text) => text !== "").join(" ")}`;
  // Cutting could split the escape sequence of a style and show its rest as text, so styles are removed first.
  return widthOf(line) > size.columns ? cut(stripStyles(line), size.columns) : line;
}

/** The filter being edited, or else the notice, or else why the selected row failed, or else the verdicts so far. */
export function noticeBar(state: UiState): string {
  const { notice, filterLine, size, theme } = state;
  const width = size.columns - 2;
  if (filterLine) return filterBar(state, filterLine, width);
  if (notice) return ` ${styled(theme, noticeText(sanitize(notice.text), width), notice.style)}`;
  const failure = selectedFailure(state);
  if (failure !== undefined) return ` ${styled(theme, fitTo(failure, width), "failure")}`;
  return ` ${fitTo(fittingVerdicts(verdictParts(state), width), width)}`;
}

/**
 * As many whole parts as fit, then the number of the others. Parts are not cut, because a rule with a cut name cannot
 * be looked up.
 */
function fittingVerdicts(parts: readonly string[], width: number): string {
  const textOf = (shown: number) => {
    const others = parts.length - shown;
    return [...parts.slice(0, shown), ...(others > 0 ? [`+${others} more`] : [])].join(VERDICT_GAP);
  };
  let shown = parts.length;
  while (shown > 2 && widthOf(textOf(shown)) > width) shown--;
  return textOf(shown);
}

/** Why the selected row failed; the list may cut this text. Undefined if details are open, which show it on top. */
export function selectedFailure(state: UiState): string | undefined {
  const row = selectedRow(listOf(state));
  const hasDetails = topOverlay(state) !== undefined || state.preview !== undefined;
  const failure = row && !hasDetails ? paneNamed(state.pane).failureOf?.(row) : undefined;
  return failure === undefined ? undefined : `${symbols(state.theme).bad} ${sanitize(failure)}`;
}

/** A notice that is too long keeps its last sentence, which says what to press. */
function noticeText(text: string, width: number): string {
  const action = /(?<=\. )Press [^.]+$/.exec(text)?.[0] ?? "";
  const isLong = action !== "" && widthOf(text) > width;
  return fitTo(
    isLong ? `${cutWords(text.slice(0, -action.length - 1), width - widthOf(action) - 1)} ${action}` : text,
    width,
  );
}

/**
 * Cuts a text between words, because half of an id says nothing. If that would leave less than half of the width, cuts
 * anywhere.
 */
function cutWords(text: string, width: number): string {
  const whole = cut(text, width).replace(/[\s(,]+\S*…$/, " …");
  return widthOf(whole) < width / 2 ? cut(text, width) : whole;
}

function filterBar(state: UiState, filterLine: FilterLine, width: number): string {
  const { theme } = state;
  const problem = lineProblem(state);
  const line = `/${withCaret(filterLine, symbols(theme).caret, Math.floor(width / 2))}`;
  const note = fitTo(problem ?? "", Math.max(0, width - widthOf(line) - 2));
  return fitTo(` ${line}  ${styled(theme, note, "failure")}`, width + 1);
}

const VERDICT_GAP = "   ";

/** The failed rules, most failures first, then how many verdicts passed and how many are inconclusive. */
export const verdictSummary = (state: UiState): string => verdictParts(state).join(VERDICT_GAP);

function verdictParts(state: UiState): string[] {
  const { good, bad, unsure } = symbols(state.theme);
  const { failures, fail, pass: passed, inconclusive: open } = state.made.verdicts;
  if (fail + passed + open === 0) return [];
  const failed = Object.entries(failures)
    .sort(([, one], [, other]) => other - one)
    .map(([rule, times]) => `${bad} ${sanitize(rule)} failed${times > 1 ? ` ${times} times` : ""}`);
  const others = [
    ...(passed > 0 ? [`${good} ${count(passed)} passed`] : []),
    ...(open > 0 ? [`${unsure} ${count(open)} inconclusive`] : []),
  ];
  return ["verdicts", ...failed, ...others];
}

/** The name of a key in the key bar: `Esc`, `Ctrl-Y`. */
export const keyTitle = (key: string) =>
  key.length === 1 ? key : key.replace("escape", "esc").replace(/\b[a-z]/g, (letter) => letter.toUpperCase());

/** The keys that a newcomer needs first: they stay in the narrowest key bar. */
const FIRST_KEYS = ["enter", "/"];

const rankOf = ({ keys: [key = ""] }: KeyBinding) =>
  FIRST_KEYS.includes(key) ? FIRST_KEYS.indexOf(key) : FIRST_KEYS.length;

/**
 * The bindings with a label, for the key bar. In an overlay with text input, letters are text, so only the overlay's
 * own keys work.
 */
export function labelledBindings(state: UiState): readonly KeyBinding[] {
  const overlay = topOverlay(state);
  const bindings = typingKeys(state) ?? (overlay?.onKey ? overlay.keys : enabledBindings(state));
  return bindings
    .filter((binding) => labelIn(state, binding) !== undefined && (binding.isEnabled?.(state) ?? true))
    .toSorted((one, other) => rankOf(one) - rankOf(other));
}

/**
 * The enabled keys that have a label. Keys that do not fit are dropped from the right, but help and quit always stay.
 */
export function keyBar(state: UiState): string {
  const width = state.size.columns - 2;
  const overlay = topOverlay(state);
  const usual = overlay?.onKey
    ? ["Esc back"]
    : ["? help", ...enabledBindings(state).flatMap((one) => (one.keys[0] === "q" ? `q ${labelIn(state, one)}` : []))];
  const last = typingKeys(state) ? [] : usual;
  let first = labelledBindings(state)
    .filter(({ keys }) => !keys.some((key) => key === "?" || key === "q"))
    .map((binding) => `${keyTitle(binding.keys[0] ?? "")} ${labelIn(state, binding)}`);
  // The key is the first word.
  const drawn = (text: string) =>
    text
      .replace(/^\S+/, (key) => styled(state.theme, key, "bold"))
      .replace(/ .*$/, (label) => styled(state.theme, label, "dim"));
  while (first.length > 0 && widthOf([...first, ...last].join("  ")) > width) first = first.slice(0, -1);
  return ` ${[...first, ...last].map(drawn).join("  ")}`;
}

/** The text for a window that is too small. The needed size comes first, because it must be visible in any window. */
export const tooSmall = ({ size: { columns, rows } }: UiState): string[] =>
  [`Needs ${MINIMUM_SIZE.columns}x${MINIMUM_SIZE.rows}, is ${columns}x${rows}.`, "Resize it, or press q to quit."]
    .slice(0, rows)
    .map((line) => cut(line, columns));
