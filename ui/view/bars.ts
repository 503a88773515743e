// The one-line bars around the panes: status, tabs, notice, keys.

import type { SandboxOverviewReply } from "../../generated/control-api.ts";
import { isoTime } from "../../src/kernel/clock.ts";
import { enabledBindings, lineProblem } from "../keys/key-bindings.ts";
import { withCaret } from "../overlays/field.ts";
import { visiblePanes } from "../panes/index.ts";
import { requestRate } from "../state/apply-message.ts";
import { type FilterLine, type KeyBinding, sandboxNow, shortMerchant, type UiState } from "../state/state.ts";
import { topOverlay } from "../state/updates.ts";
import { cut, fitTo, sanitize, widthOf } from "./cells.ts";
import { count } from "./format.ts";
import { MINIMUM_SIZE } from "./layout.ts";
import { styled, symbols, type TextStyle } from "./style.ts";

/** Shows the connection and URL first, then clock, API keys and version as far as they fit. The counts are at the right end. */
export function statusBar(state: UiState): string {
  const { size, theme, sandbox, target, connection } = state;
  const pending = `${count(sandbox?.pendingDeliveries ?? 0)} pending${size.columns >= 140 ? " deliveries" : ""}`;
  const counts = ` ${count(requestRate(state))} req/s  ${pending} `;
  const address = sanitize(`${connectionText(state)}  ${sandbox?.baseUrl ?? target.url}`);
  const roomBeside = (name: string) => size.columns - widthOf(name) - widthOf(counts) - 1;
  const variants = statusVariants(state, address);
  const fitting = variants.findIndex(({ name, parts }) => widthOf(parts.join("  ")) <= roomBeside(name));
  // Without one that fits, the index is -1, and this is the last one.
  const { name = "", parts = [] } = variants.at(fitting) ?? {};
  const room = roomBeside(name);
  const text = parts.reduce((before, part) => (widthOf(before) + 2 + widthOf(part) > room ? before : `${before}  ${part}`));
  const styles = connection.phase === "live" ? [] : (["yellow"] as const);
  return `${styled(theme, name, "bold")} ${styled(theme, fitTo(text, room), ...styles)}${counts}`;
}

/** The variants of the bar, from longest to shortest. The API keys matter more than the program's name. */
function statusVariants(state: UiState, address: string): { name: string; parts: string[] }[] {
  const { sandbox, size, learning } = state;
  const name = size.columns < 80 ? "" : " merchant-sandbox ";
  if (!sandbox) return [{ name, parts: [address] }];
  const about = [address, ...serviceText(sandbox)];
  const [clock, version] = [clockText(state, sandbox), `v${sandbox.version}`];
  const { traffic, scenarios } = runningTexts(sandbox);
  const life = `life ${sandbox.life}`;
  const parts = (...keys: string[]) => [...about, ...[...traffic, ...scenarios, clock, life, ...keys, version].map(sanitize)];
  // A workshop's screen may be projected: it shows no API keys.
  if (learning?.kind === "workshop") return [{ name, parts: parts() }];
  const short = parts(firstApiKeyText(sandbox));
  return [
    { name, parts: parts(apiKeysText(sandbox)) },
    { name, parts: short },
    { name: "", parts: short },
    { name: "", parts: short.slice(0, -1) },
    { name: "", parts: [...about, ...[...traffic, firstApiKeyText(sandbox), life, clock, ...scenarios, version].map(sanitize)] },
  ];
}

export function connectionText({ connection, retryAt, now, run }: UiState): string {
  const stale = run === undefined ? "" : ", data is stale";
  if (connection.phase === "live") return "LIVE";
  if (connection.phase === "connecting") return "CONNECTING";
  if (connection.phase === "detached") return `DETACHED: ${connection.reason}${stale}`;
  return `RECONNECTING in ${Math.max(0, Math.ceil((retryAt - now) / 1_000))} s: ${connection.reason}${stale}`;
}

/** The name of the service file; nothing for the plain service. */
export const serviceText = ({ service }: Partial<SandboxOverviewReply>): string[] =>
  service ? [sanitize(`service file ${service.replace(/^.*[/\\]/, "")}`)] : [];

/** Background traffic, and armed scenarios with their scores. */
export function runningTexts({ scenarios = [], traffic = [] }: Partial<SandboxOverviewReply>): { traffic: string[]; scenarios: string[] } {
  const [first] = traffic;
  const rate = first && (traffic.length === 1 ? `${shortMerchant(first.merchant)} ${first.rate}` : `of ${traffic.length} merchants`);
  return {
    traffic: rate === undefined ? [] : [`traffic ${rate}`],
    scenarios: scenarios.map(({ name, score, points }) => `${name} ${score}/${points}`),
  };
}

export function clockText(state: UiState, { clock }: SandboxOverviewReply): string {
  const time = isoTime(sandboxNow(state)).slice(0, 19).replace("T", " ");
  return `clock ${time}${clock.mode === "real" ? "" : ` ${clock.mode}`}`;
}

const KEY_PREFIX = "sk_test_";
const MAX_KEYS_SHOWN = 6;

/** The first API key of each merchant: `keys sk_test_{lodge,market}`. */
function apiKeysText({ merchants }: SandboxOverviewReply): string {
  const keys = merchants.flatMap(({ apiKeys }) => apiKeys.slice(0, 1));
  const shown = keys.slice(0, MAX_KEYS_SHOWN).map((key) => key.replace(KEY_PREFIX, ""));
  const more = keys.length > MAX_KEYS_SHOWN ? [`${keys.length - MAX_KEYS_SHOWN} more`] : [];
  return `keys ${KEY_PREFIX}{${[...shown, ...more].join(",")}}`;
}

/** The first API key and the number of other merchants: `sk_test_lodge +2 more`. */
function firstApiKeyText({ merchants }: SandboxOverviewReply): string {
  const [first, ...others] = merchants;
  return first ? `${first.apiKeys[0] ?? first.id}${others.length > 0 ? ` +${others.length} more` : ""}` : "no merchants";
}

/** Shows the titles of the focused tab and of as many others as fit, from the first; the last is cut. Every tab has its alarm, such as a number of failures. */
export function tabBar(state: UiState): string {
  const { pane, size, theme } = state;
  const panes = visiblePanes(state).map(({ name, title, alarm }) => ({ name, title, mark: alarm?.(state) ?? "" }));
  const focused = panes.find(({ name }) => name === pane)?.title ?? "";
  let room = panes.reduce((left, { mark }) => left - (mark && ` ${mark}`).length - 3, size.columns - 2 - focused.length);
  const tabs = panes.map(({ name, title, mark }, index) => {
    const shown = name === pane ? title : room > 5 ? cut(title, room - 1) : "";
    if (name !== pane && shown !== "") room -= shown.length + 1;
    const text = `${index + 1} ${shown}`.trimEnd();
    const styles: TextStyle[] = mark.startsWith(symbols(theme).bad) ? ["failure"] : ["magenta", "bold"];
    const tab = mark === "" ? text : `${text} ${styled(theme, mark, ...styles)}`;
    return name === pane ? styled(theme, `[${tab}]`, "bold") : ` ${tab} `;
  });
  return ` ${tabs.join("")}`;
}

/** The filter being edited, the notice, or the verdicts so far. */
export function noticeBar(state: UiState): string {
  const { notice, filterLine, size, theme } = state;
  const width = size.columns - 2;
  if (filterLine) return filterBar(state, filterLine, width);
  if (notice) return ` ${styled(theme, fitTo(sanitize(notice.text), width), notice.style)}`;
  return ` ${fitTo(verdictSummary(state), width)}`;
}

/** The filter with its caret, and its problem or the keys that work now. */
function filterBar(state: UiState, filterLine: FilterLine, width: number): string {
  const { theme } = state;
  const problem = lineProblem(state);
  const line = `/${withCaret(filterLine, symbols(theme).caret, Math.floor(width / 2))}`;
  const note = fitTo(problem ?? "Enter apply  Esc clear  Up earlier filters", Math.max(0, width - widthOf(line) - 2));
  return fitTo(` ${line}  ${styled(theme, note, problem === undefined ? "dim" : "failure")}`, width + 1);
}

/** The failed rules, most failures first, then how many verdicts passed. */
export function verdictSummary(state: UiState): string {
  const { good, bad, unsure } = symbols(state.theme);
  const { failures, fail, pass: passed, inconclusive: open } = state.made.verdicts;
  if (fail + passed + open === 0) return "";
  const failed = Object.entries(failures)
    .sort(([, one], [, other]) => other - one)
    .map(([rule, times]) => `${bad} ${sanitize(rule)} failed${times > 1 ? ` ${times} times` : ""}`);
  const others = [
    ...(passed > 0 ? [`${good} ${count(passed)} passed`] : []),
    ...(open > 0 ? [`${unsure} ${count(open)} inconclusive`] : []),
  ];
  return ["verdicts", ...failed, ...others].join("   ");
}

/** A key as the key bar names it: `Esc`, `Ctrl-Y`. */
export const keyTitle = (key: string) =>
  key.length === 1 ? key : key.replace("escape", "esc").replace(/\b[a-z]/g, (letter) => letter.toUpperCase());

/** The bindings for the key bar: those with a label. In an overlay with text input, letters are text, so only its own keys work. */
export function labelledBindings(state: UiState): readonly KeyBinding[] {
  const overlay = topOverlay(state);
  return (overlay?.onKey ? overlay.keys : enabledBindings(state)).filter(({ label }) => label !== undefined);
}

/** The enabled keys that have a label. Keys that do not fit are dropped from the right, but help and quit always stay. */
export function keyBar(state: UiState): string {
  const width = state.size.columns - 2;
  const overlay = topOverlay(state);
  const last = overlay?.onKey ? ["Esc back"] : ["? help", overlay ? "q back" : "q quit"];
  let first = labelledBindings(state)
    .filter(({ keys }) => !keys.some((key) => key === "?" || key === "q"))
    .map(({ keys: [key = ""], label }) => `${keyTitle(key)} ${label}`);
  // The key is the first word.
  const drawn = (text: string) =>
    text.replace(/^\S+/, (key) => styled(state.theme, key, "bold")).replace(/ .*$/, (label) => styled(state.theme, label, "dim"));
  while (first.length > 0 && widthOf([...first, ...last].join("  ")) > width) first = first.slice(0, -1);
  return ` ${[...first, ...last].map(drawn).join("  ")}`;
}

export const tooSmall = ({ size: { columns, rows } }: UiState): string =>
  cut(`${columns}x${rows} is too small: resize to ${MINIMUM_SIZE.columns}x${MINIMUM_SIZE.rows} or larger, or press q to quit`, columns);
