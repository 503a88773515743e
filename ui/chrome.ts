// The lines around the panes: what the sandbox is, what was said last, which keys mean something now.

import { isoTime } from "../src/kernel/clock.ts";
import { panes } from "./panes/index.ts";
import { rateOf } from "./state/hear.ts";
import { possible } from "./state/press.ts";
import { listOf, overlayOf, type State, sandboxNow, shortMerchant } from "./state/state.ts";
import { cut, fill, harmless, widthOf } from "./terminal/cells.ts";
import { signs, tint } from "./terminal/style.ts";

const NAMES: Record<string, string> = { up: "↑", down: "↓", enter: "Enter", escape: "Esc", space: "Space", tab: "Tab" };

/** Address, merchants, clock, counts; what does not fill is left out from the middle. */
export function statusLine(state: State): string {
  const { size, look, sandbox, target, link } = state;
  const merchants = sandbox?.merchants.map(({ id }) => shortMerchant(id)).join(" ") ?? "";
  const time = isoTime(sandboxNow(state)).slice(0, 19).replace("T", " ");
  const clock = sandbox ? `clock ${time} ${sandbox.clock.mode}` : "";
  const counts = `${rateOf(state)} req/s  ${sandbox?.pendingDeliveries ?? 0} pending`;
  const version = sandbox ? `v${sandbox.version}` : "";
  const name = tint(look, "merchant-sandbox", "bold");
  const parts = [sandbox?.baseUrl ?? target.url, linkWords(state), clock, merchants, version].map((part) => harmless(part));
  let kept = parts.filter((part) => part !== "");
  const room = size.columns - widthOf(counts) - widthOf(" merchant-sandbox  ") - 3;
  while (kept.length > 1 && widthOf(kept.join("  ")) > room) kept = kept.slice(0, -1);
  const middle = fill(cut(kept.join("  "), room), room);
  return ` ${name}  ${link.phase === "live" ? middle : tint(look, middle, "yellow")} ${counts} `;
}

/** How things stand with the sandbox; while it is away, what is shown is old. */
function linkWords({ link, retryAt, now, seen }: State): string {
  const stale = seen > 0 ? ", what is shown is old" : "";
  if (link.phase === "live") return "LIVE";
  if (link.phase === "connecting") return "CONNECTING";
  if (link.phase === "detached") return `DETACHED: ${link.why}${stale}`;
  return `RECONNECTING in ${Math.max(0, Math.ceil((retryAt - now) / 1_000))} s: ${link.why}${stale}`;
}

export function tabs({ pane, size, look }: State): string {
  const names = panes.map(({ name, title }, index) => {
    const tab = `${index + 1} ${title}`;
    return name === pane ? tint(look, `[${tab}]`, "bold") : ` ${tab} `;
  });
  return names.join(" ").slice(0, size.columns * 4);
}

/** What was said last, the filter that is being written, or the newest verdicts. */
export function saidLine(state: State): string {
  const { notice, typing, size, look, pane } = state;
  const width = size.columns - 2;
  if (typing) return ` ${fill(`/${harmless(listOf(state).filter)}${look.unicode ? "▏" : "_"}  Enter keeps it, Esc drops it`, width)}`;
  if (notice) return ` ${tint(look, fill(harmless(notice.text), width), notice.tone)}`;
  const { good, bad, unsure } = signs(look);
  const words = { pass: good, fail: bad, inconclusive: unsure } as Record<string, string>;
  const newest = listOf(state, "verdicts")
    .rows.slice(-3)
    .map(({ facts }) => `${words[String(facts.fields.verdict)]} ${facts.fields.rule} ${facts.fields.verdict}`);
  return pane === "verdicts" || newest.length === 0 ? "" : ` ${fill(`verdicts  ${newest.join("   ")}`, width)}`;
}

/** The keys that do something now; what does not fill goes from the right, help and quit stay. */
export function keyBar(state: State): string {
  const width = state.size.columns - 2;
  const named = possible(state).flatMap(({ keys, label }) => (label === undefined ? [] : [`${NAMES[keys[0] ?? ""] ?? keys[0]} ${label}`]));
  const last = overlayOf(state) ? ["? help", "q back"] : ["? help", "q quit"];
  let first = named.filter((item) => !item.startsWith("? ") && !item.startsWith("q "));
  while (first.length > 0 && widthOf([...first, ...last].join("  ")) > width) first = first.slice(0, -1);
  return ` ${tint(state.look, fill([...first, ...last].join("  "), width), "dim")}`;
}
