// The detail of a fault rule: its effect, its firings so far, and the rule as JSON.

import type { FaultRule, FaultsAddInput } from "../../../generated/control-api.ts";
import { describeRule } from "../../../src/client/rule-text.ts";
import type { RequestMessage } from "../../../src/contracts/live-messages.ts";
import { pick } from "../../../src/kernel/pick.ts";
import { listed, secondsUntil, type UiState, valuesOf } from "../../state/state.ts";
import { count, countdown, dateTime, dateTimeToSecond, milliseconds, plural } from "../../text/format.ts";
import type { Detail } from "../overlays/detail.ts";
import { verdictSection } from "../verdicts.ts";
import type { DetailWriter } from "./detail-lines.ts";
import { requestLinks } from "./row-lines.ts";

export const faultDetail = (opened: FaultRule): Detail => ({
  title: `Fault ${opened.name ?? opened.id}`,
  lines(_data, write, state) {
    const { field, section } = write;
    const newest = listed(state, "faults", opened);
    const rule = newest ?? opened;
    const { id, name, expect } = rule;
    const description = state.lookups.rules?.find(({ title }) => title === rule.action.type)?.description ?? "";
    return [
      ...write.text(description, "bold"),
      ...field("rule", name === null ? id : `${id}, ${name}`),
      ...field("arms", describeRule(rule), "magenta"),
      ...field("judged by", expect.join(", ") || null),
      ...section("Status", statusLines(write, state, rule, newest !== undefined)),
      ...verdictSection(write, state, ({ fault }) => fault === id),
      ...(rule.target === "api"
        ? requestLinks(write, "Affected requests", affectedRequests(state, id), rule.fired)
        : []),
      ...section("Rule as JSON", write.wrapped(JSON.stringify(definitionOf(rule), null, 2))),
    ];
  },
});

function statusLines({ field }: DetailWriter, state: UiState, rule: FaultRule, isListed: boolean): string[] {
  const { matched, fired, remaining, lastFiredAt, endsAt, enabled, status } = rule;
  const text = isListed ? `${statusName(status)}${enabled ? "" : ", disabled"}` : "removed";
  const endTime = isListed && status === "armed" && endsAt !== null ? milliseconds(endsAt) : undefined;
  const leftUntil = (time: number) => countdown(secondsUntil(state, time));
  return [
    ...field("status", text, isListed && isArmed(rule) ? "magenta" : "yellow"),
    ...field("matched", plural(matched, "time")),
    ...field("fired", plural(fired, "time") + (remaining === null ? "" : `, ${count(remaining)} left`)),
    ...field("last fired", lastFiredAt && dateTime(milliseconds(lastFiredAt))),
    ...(endTime === undefined ? [] : field("expires", `${dateTimeToSecond(endTime)}, in ${leftUntil(endTime)}`)),
  ];
}

export const isArmed = ({ status, enabled }: FaultRule) => status === "armed" && enabled;

export const armedRules = (state: UiState) => valuesOf<FaultRule>(state, "faults").filter(isArmed);

/** A rule that has fired as often as it may is `spent` in the control API. */
export const statusName = (status: FaultRule["status"]): string => (status === "spent" ? "exhausted" : status);

export const affectedRequests = (state: UiState, ruleId: string): RequestMessage[] =>
  valuesOf<RequestMessage>(state, "requests").filter(({ fault }) => fault?.split(",").includes(ruleId));

/** The rule's name, or a description such as `429 on payments.list`. */
export function ruleTitle({ name, action, match }: FaultRule): string {
  if (name !== null) return name;
  const { type, status, as } = action;
  const variant = [status, as].filter((value) => value !== undefined && value !== null).join(" ");
  const { operation, event, merchant } = match;
  const matches = [operation, event, merchant].filter((value) => value !== undefined).map(String);
  const what = type === "rate_limit" ? "429" : String(type).replaceAll("_", " ");
  return `${what}${variant === "" ? "" : ` ${variant}`}${matches.length === 0 ? "" : ` on ${matches.join(", ")}`}`;
}

/** A rule's id and title; only the id once the rule is removed. */
export function titleOfId(state: UiState, id: string): string {
  const rule = valuesOf<FaultRule>(state, "faults").find((one) => one.id === id);
  return rule ? `${id}, ${ruleTitle(rule)}` : id;
}

const DEFINED = ["target", "match", "trigger", "action", "expect", "priority", "label", "enabled"] as const;

/** The rule as a client would write it. */
export const definitionOf = (rule: FaultRule): FaultsAddInput => ({
  ...(rule.name !== null && { name: rule.name }),
  ...(rule.ttl !== null && { ttl: rule.ttl }),
  ...pick(rule, DEFINED),
  action: rule.action as FaultsAddInput["action"],
});
