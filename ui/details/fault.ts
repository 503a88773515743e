// One fault rule: in words, what it did so far, and as it was written.

import type { RuleState } from "../../src/contracts/fault.ts";
import type { RequestMessage } from "../../src/contracts/live-messages.ts";
import { count, countdown, counted } from "../format-numbers.ts";
import type { Detail } from "../overlays/detail.ts";
import { listOf, type State } from "../state/state.ts";
import { momentOf, remainingOf, timeOfDay, wholeTime } from "../time.ts";
import { fact, part, plain, sentences } from "./detail-lines.ts";
import { verdictLines } from "./verdict-line.ts";

interface Schema {
  oneOf: { title: string; description: string }[];
}

/** The newest so many requests that it touched. */
const MOST_TOUCHED = 10;

export const faultDetail = (_: State, chosen: RuleState): Detail => ({
  title: `Fault ${chosen.name ?? chosen.id}`,
  asks: { schema: { method: "GET", path: "/faults/schema.json" } },
  lines(known, state, width) {
    const { look } = state;
    // Its counts go on while it is looked at.
    const row = listOf(state, "faults").rows.find(({ id }) => id === chosen.id);
    const rule = (row?.value as RuleState | undefined) ?? chosen;
    const does = (known.schema as Schema | undefined)?.oneOf.find(({ title }) => title === rule.action.type)?.description;
    const { id: _id, seen: _seen, fired: _fired, remaining: _left, lastFiredAt: _last, status: _status, endsAt: _ends, ...written } = rule;
    const touched = requestsOf(state, rule.id);
    return [
      ...sentences(look, width, does ?? "", "bold"),
      ...facts(state, rule, width),
      ...part(look, "So far", past(state, rule, row !== undefined, width)),
      ...part(
        look,
        "Judged",
        verdictLines(state, ({ fault }) => fault === rule.id, width),
      ),
      ...part(
        look,
        "Requests it touched, newest last",
        touched.flatMap((line) => plain(line, width, "  ")),
      ),
      ...part(look, "As it was written", plain(JSON.stringify(written, null, 2), width, "  ")),
    ];
  },
});

function facts({ look }: State, rule: RuleState, width: number): string[] {
  const { type, ...fields } = rule.action;
  return [
    ...fact(look, width, "rule", rule.name === null ? rule.id : `${rule.id}, ${rule.name}`),
    ...fact(look, width, "does", `${type}${wordsOf(fields)}`, "magenta"),
    ...fact(look, width, "to", `${rule.target === "api" ? "calls" : "deliveries"}${wordsOf(rule.match) || ": all of them"}`),
    ...fact(look, width, "when", triggerWords(rule.trigger)),
    ...(rule.expect.length === 0 ? [] : fact(look, width, "tries", rule.expect.join(", "))),
  ];
}

/** Fields that say something, as in `: retryAfter 2, as "cut"`. */
function wordsOf(fields: Readonly<Record<string, unknown>>): string {
  const said = Object.entries(fields).filter(([, value]) => value !== null && value !== undefined);
  return said.length === 0
    ? ""
    : `: ${said.map(([name, value]) => `${name} ${typeof value === "string" ? value : JSON.stringify(value)}`).join(", ")}`;
}

function triggerWords(trigger: Readonly<Record<string, unknown>>): string {
  const { times, skip, every, probability, after, for: span, per } = trigger as Partial<Record<string, string | number | null>>;
  const words = [
    typeof times === "number" ? counted(times, "time") : "as often as it matches",
    ...(skip ? [`after letting ${count(Number(skip))} pass`] : []),
    ...(every ? [`at every ${count(Number(every))} matches`] : []),
    ...(typeof probability === "number" && probability < 1 ? [`with a likelihood of ${probability}`] : []),
    ...(after ? [`from ${after} after it was armed`] : []),
    ...(span ? [`for ${span}`] : []),
    ...(per && per !== "rule" ? [`counted for each ${String(per).replace("_", " ")}`] : []),
  ];
  return words.join(", ");
}

function past(state: State, rule: RuleState, isThere: boolean, width: number): string[] {
  const { look } = state;
  const { seen, fired, remaining, lastFiredAt, endsAt, enabled, status } = rule;
  const ends =
    endsAt === null
      ? []
      : fact(look, width, "ends", `${wholeTime(momentOf(endsAt)).slice(0, 19)}, in ${countdown(remainingOf(state, momentOf(endsAt)))}`);
  const standing = isThere ? (enabled ? status : `${status}, but switched off`) : "removed: it is no longer in the list";
  return [
    ...fact(
      look,
      width,
      "status",
      standing,
      ...(status === "armed" && enabled && isThere ? (["magenta"] as const) : (["yellow"] as const)),
    ),
    ...fact(look, width, "matched", counted(seen, "time")),
    ...fact(look, width, "fired", counted(fired, "time") + (remaining === null ? "" : `, ${count(remaining)} left`)),
    ...(lastFiredAt === null ? [] : fact(look, width, "last fired", wholeTime(momentOf(lastFiredAt)))),
    ...(status === "armed" ? ends : []),
  ];
}

const requestsOf = (state: State, id: string): string[] =>
  listOf(state, "requests")
    .rows.map(({ value }) => value as RequestMessage)
    .filter(({ fault }) => fault?.split(",").includes(id))
    .slice(-MOST_TOUCHED)
    .map((request) => `${request.id}  ${timeOfDay(request.at)}  ${request.method} ${request.path}  ${request.status || "no answer"}`);
