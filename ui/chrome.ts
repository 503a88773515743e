// The lines around the panes: what the sandbox is, what was said last, which keys mean something now.

import { isoTime } from "../src/kernel/clock.ts";
import { panesOf } from "./panes/index.ts";
import { rateOf } from "./state/apply-message.ts";
import { possible } from "./state/key-routing.ts";
import { listOf, overlayOf, type SandboxIndex, type State, sandboxNow } from "./state/state.ts";
import { fill, harmless, padded, widthOf } from "./terminal/cells.ts";
import { signs, tint } from "./terminal/style.ts";

/** Where the sandbox is and how things stand with it, then as much of the rest as there is room for. */
export function statusLine(state: State): string {
  const { size, look, sandbox, target, link } = state;
  const counts = ` ${count(rateOf(state))} req/s  ${count(sandbox?.pendingDeliveries ?? 0)} pending `;
  const where = harmless(`${linkWords(state)}  ${sandbox?.baseUrl ?? target.url}`);
  const roomBeside = (name: string) => size.columns - widthOf(name) - widthOf(counts) - 1;
  const ways = waysToSay(state, where);
  const { name, said } = ways.find((way) => widthOf(way.said.join("  ")) <= roomBeside(way.name)) ?? (ways.at(-1) as Way);
  const room = roomBeside(name);
  const line = said.reduce((before, words) => (widthOf(before) + 2 + widthOf(words) > room ? before : `${before}  ${words}`));
  return `${tint(look, name, "bold")} ${tint(look, fill(line, room), ...(link.phase === "live" ? [] : (["yellow"] as const)))}${counts}`;
}

interface Way {
  name: string;
  said: string[];
}

/** In as many words as may be, then in fewer: whose keys there are matters more than what this is called. */
function waysToSay(state: State, where: string): Way[] {
  const { sandbox, size, course } = state;
  const name = size.columns < 80 ? "" : " merchant-sandbox ";
  if (!sandbox) return [{ name, said: [where] }];
  // What a room sees may stand on a projector: nobody's key.
  const keys = course?.kind === "room" ? [] : [keyWords(sandbox), firstKey(sandbox)];
  const said = (words: string[]) => [where, ...[clockWords(state, sandbox), ...words, `v${sandbox.version}`].map(harmless)];
  const [whole = [], short = []] = keys.map((words) => said([words]));
  if (keys.length === 0) return [{ name, said: said([]) }];
  return [
    { name, said: whole },
    { name, said: short },
    { name: "", said: short },
  ];
}

/** How things stand with the sandbox; while it is away, what is shown is old. */
function linkWords({ link, retryAt, now, seen }: State): string {
  const stale = seen > 0 ? ", what is shown is old" : "";
  if (link.phase === "live") return "LIVE";
  if (link.phase === "connecting") return "CONNECTING";
  if (link.phase === "detached") return `DETACHED: ${link.why}${stale}`;
  return `RECONNECTING in ${Math.max(0, Math.ceil((retryAt - now) / 1_000))} s: ${link.why}${stale}`;
}

function clockWords(state: State, { clock }: SandboxIndex): string {
  const time = isoTime(sandboxNow(state)).slice(0, 19).replace("T", " ");
  return `clock ${time}${clock.mode === "real" ? "" : ` ${clock.mode}`}`;
}

const COMMON = "sk_test_";
const MOST_KEYS = 6;

/** The first key of each merchant, what they share written once. */
function keyWords({ merchants }: SandboxIndex): string {
  const keys = merchants.flatMap(({ apiKeys }) => apiKeys.slice(0, 1));
  const named = keys.slice(0, MOST_KEYS).map((key) => key.replace(COMMON, ""));
  const more = keys.length > MOST_KEYS ? [`${keys.length - MOST_KEYS} more`] : [];
  return `keys ${COMMON}{${[...named, ...more].join(",")}}`;
}

/** The key that a first call can be made with, and how many merchants there are beside. */
function firstKey({ merchants }: SandboxIndex): string {
  const [first, ...others] = merchants;
  return first ? `${first.apiKeys[0] ?? first.id}${others.length > 0 ? ` +${others.length} more` : ""}` : "no merchants";
}

export function tabLine(state: State): string {
  const { pane, size, look } = state;
  const panes = panesOf(state);
  const wide = panes.reduce((sum, { title }) => sum + title.length + 5, 0) <= size.columns;
  const names = panes.map(({ name, title }, index) => {
    const tab = wide || name === pane ? `${index + 1} ${title}` : String(index + 1);
    return name === pane ? tint(look, `[${tab}]`, "bold") : ` ${tab} `;
  });
  return padded(` ${names.join(" ")}`, size.columns);
}

/** The filter that is being written, what was said last, or what the judge thinks. */
export function saidLine(state: State): string {
  const { notice, typing, size, look } = state;
  const width = size.columns - 2;
  if (typing) return ` ${fill(`/${harmless(listOf(state).filter)}${signs(look).caret}  Enter keeps it, Esc drops it`, width)}`;
  if (notice) return ` ${tint(look, fill(harmless(notice.text), width), notice.tone)}`;
  return ` ${fill(judgement(state), width)}`;
}

/** What failed by rule, most often first; then how much passed. */
function judgement(state: State): string {
  const { good, bad, unsure } = signs(state.look);
  const failed = new Map<string, number>();
  let passed = 0;
  let open = 0;
  for (const { facts } of listOf(state, "verdicts").rows) {
    const { rule, verdict } = facts.fields;
    if (verdict === "fail") failed.set(String(rule), (failed.get(String(rule)) ?? 0) + 1);
    else if (verdict === "pass") passed++;
    else open++;
  }
  if (failed.size + passed + open === 0) return "";
  const failures = [...failed]
    .sort(([, one], [, other]) => other - one)
    .map(([rule, times]) => `${bad} ${harmless(rule)} failed${times > 1 ? ` ${times} times` : ""}`);
  const rest = [...(passed > 0 ? [`${good} ${count(passed)} passed`] : []), ...(open > 0 ? [`${unsure} ${count(open)} inconclusive`] : [])];
  return ["verdicts", ...failures, ...rest].join("   ");
}

const NAMES: Record<string, string> = { enter: "Enter", escape: "Esc", space: "Space", tab: "Tab" };

/** The keys that do something now; what does not fit goes from the right, help and the way out stay. */
export function keyBar(state: State): string {
  const width = state.size.columns - 2;
  const overlay = overlayOf(state);
  // Where letters write text, only what is no letter does anything else.
  const last = overlay?.type ? ["Esc back"] : ["? help", overlay ? "q back" : "q quit"];
  let first = (overlay?.type ? overlay.actions : possible(state))
    .filter(({ keys, label }) => label !== undefined && !keys.some((key) => key === "?" || key === "q"))
    .map(({ keys: [key = ""], label }) => `${NAMES[key] ?? key} ${label}`);
  while (first.length > 0 && widthOf([...first, ...last].join("  ")) > width) first = first.slice(0, -1);
  return ` ${tint(state.look, fill([...first, ...last].join("  "), width), "dim")}`;
}

const count = (value: number) => value.toLocaleString("en");
