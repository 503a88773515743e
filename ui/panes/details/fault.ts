// The detail of a fault rule: its effect, its firings so far, and the rule as JSON.

import type { FaultRule, FaultsAddInput } from "../../../generated/control-api.ts";
import { describeRule } from "../../../src/client/rule-text.ts";
import type { RequestMessage } from "../../../src/contracts/live-messages.ts";
import { secondsUntil, type UiState, valuesOf } from "../../state/state.ts";
import { count, countdown, dateTime, dateTimeToSecond, milliseconds, plural } from "../../text/format.ts";
import type { Detail } from "../overlays/detail.ts";
import { verdictSection } from "../verdicts.ts";
import { labelled, paragraph, section, wrapped } from "./detail-lines.ts";
import { requestLinks } from "./row-lines.ts";

export const faultDetail = (opened: FaultRule): Detail => ({
  title: `Fault ${opened.name ?? opened.id}`,
  lines(_data, state, width) {
    const { theme } = state;
    const newest = valuesOf<FaultRule>(state, "faults").find(({ id }) => id === opened.id);
    const rule = newest ?? opened;
    const description = state.lookups.rules?.find(({ title }) => title === rule.action.type)?.description ?? "";
    return [
      ...paragraph(theme, width, description, "bold"),
      ...labelled(theme, width, "rule", rule.name === null ? rule.id : `${rule.id}, ${rule.name}`),
      ...labelled(theme, width, "arms", describeRule(rule), "magenta"),
      ...(rule.expect.length === 0 ? [] : labelled(theme, width, "judged by", rule.expect.join(", "))),
      ...section(theme, "Status", statusLines(state, rule, newest !== undefined, width)),
      ...verdictSection(state, width, ({ fault }) => fault === rule.id),
      ...(rule.target === "api"
        ? requestLinks(theme, "Affected requests", affectedRequests(state, rule.id), width, rule.fired)
        : []),
      ...section(theme, "Rule as JSON", wrapped(JSON.stringify(definitionOf(rule), null, 2), width, "  ")),
    ];
  },
});

function statusLines(state: UiState, rule: FaultRule, isListed: boolean, width: number): string[] {
  const { theme } = state;
  const { seen, fired, remaining, lastFiredAt, endsAt, enabled, status } = rule;
  const text = isListed ? `${statusName(status)}${enabled ? "" : ", disabled"}` : "removed";
  const endTime = isListed && status === "armed" && endsAt !== null ? milliseconds(endsAt) : undefined;
  return [
    ...labelled(theme, width, "status", text, isListed && isArmed(rule) ? "magenta" : "yellow"),
    ...labelled(theme, width, "matched", plural(seen, "time")),
    ...labelled(
      theme,
      width,
      "fired",
      plural(fired, "time") + (remaining === null ? "" : `, ${count(remaining)} left`),
    ),
    ...(lastFiredAt === null ? [] : labelled(theme, width, "last fired", dateTime(milliseconds(lastFiredAt)))),
    ...(endTime === undefined
      ? []
      : labelled(
          theme,
          width,
          "expires",
          `${dateTimeToSecond(endTime)}, in ${countdown(secondsUntil(state, endTime))}`,
        )),
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

export function definitionOf({
  name,
  target,
  match,
  trigger,
  action,
  expect,
  ttl,
  priority,
  label,
  enabled,
}: FaultRule): FaultsAddInput {
  const named = { ...(name === null ? {} : { name }), ...(ttl === null ? {} : { ttl }) };
  return {
    ...named,
    target,
    match,
    trigger,
    action: action as FaultsAddInput["action"],
    expect,
    priority,
    label,
    enabled,
  };
}
