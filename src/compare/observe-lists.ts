// Observations from lists: the field with the records, their order, and the default and the bounds of `limit`.

import { readAnyTime } from "../kernel/clock.ts";
import { isObject } from "../kernel/json-object.ts";
import type { TSchema } from "../schema/shapes.ts";
import { itemsPlace } from "../schema/walk.ts";
import type { CallContext } from "./history.ts";
import { type ObservationContext, observeListedValues, observeObject } from "./observe-values.ts";
import { pageIn, type RecordedCall } from "./recording.ts";

export function observeList(context: CallContext, where: ObservationContext, records: TSchema): void {
  const { operation, response, foreign } = context.call;
  const found = pageIn(response);
  if (!found) return;
  const { items, name, rest } = found;
  if (!foreign.page) {
    where.log.compare(`${operation.id}.reply.envelope`, shownEnvelope(name, where), where);
    observeObject(where, `${operation.id}.reply`, withoutData(operation.reply), rest);
  }
  const observeItem = foreign.records ? observeListedValues : observeObject;
  for (const item of items)
    if (isObject(item)) observeItem(where, itemsPlace(`${operation.id}.reply.data`), records, item);
  observeOrder(where, items);
  observeLimit(context.call, where, items.length, rest.has_more === true);
}

function shownEnvelope(name: string | undefined, { log }: ObservationContext): string {
  if (name === undefined) return "the response itself";
  return name === "data" ? name : log.shown.code(name);
}

/** The schema of a list without its records, which are compared separately. */
function withoutData(reply: TSchema): TSchema {
  const {
    properties,
    required = [],
    ...rest
  } = reply as TSchema & { properties: Record<string, TSchema>; required?: string[] };
  const { data: _, ...others } = properties;
  return { ...rest, properties: others, required: required.filter((name) => name !== "data") } as unknown as TSchema;
}

function timeOf(item: unknown): number {
  const created = isObject(item) ? item.created : undefined;
  return typeof created === "number" ? created : readAnyTime(created);
}

function observeOrder({ log, ...where }: ObservationContext, items: readonly unknown[]): void {
  const times = items.map(timeOf);
  const steps = times.slice(1).map((time, index) => Math.sign(time - (times[index] as number)));
  const isFalling = steps.some((step) => step < 0);
  const isRising = steps.some((step) => step > 0);
  if (times.some(Number.isNaN) || !(isFalling || isRising)) return;
  const direction = isFalling ? "newest first" : "oldest first";
  const order = isFalling && isRising ? "another order" : direction;
  log.compare(`${where.operation}.order`, order, where);
}

/** Whether the service changed the limit to one of its bounds: the page has another length, which is within bounds. */
export function isMovedLimit({ url, operation, response }: RecordedCall): boolean {
  const { minimum, maximum } = operation.query.properties.limit as unknown as { minimum: number; maximum: number };
  const length = pageIn(response)?.items.length ?? 0;
  return Number(url.searchParams.get("limit")) !== length && length >= minimum && length <= maximum;
}

/**
 * Observes the bounds of `limit`. A page shows the maximum if it is shorter than the limit although more records
 * follow. It shows the minimum if the limit is below the minimum and the page is longer than the limit.
 */
function observeLimit(
  { url, operation }: RecordedCall,
  { log, ...where }: ObservationContext,
  length: number,
  hasMore: boolean,
): void {
  const id = `${operation.id}.query.limit`;
  const [minimum, maximum] = [log.fact(`${id}.minimum`)?.value, log.fact(`${id}.maximum`)?.value];
  if (typeof minimum !== "number" || typeof maximum !== "number") return;
  const limit = url.searchParams.get("limit");
  if (limit === null) {
    if (hasMore) log.compare(`${id}.default`, length, where);
    return;
  }
  const asked = Number(limit);
  if (!Number.isInteger(asked)) return;
  const isLowered = hasMore && length < asked;
  if (isLowered) log.compare(`${id}.maximum`, length, { ...where, lenient: length < maximum ? "sandbox" : "service" });
  else if (asked > maximum && length > maximum)
    log.record(`${id}.maximum`, length, false, { ...where, lenient: "service", bound: "at_least" });
  else if (asked === maximum) log.record(`${id}.maximum`, maximum, true, where);
  else if (asked < maximum) log.hints.push({ fact: `${id}.maximum`, bound: "at_least", value: asked });
  const isRaised = asked < minimum && length > Math.max(asked, 0);
  if (isRaised) log.compare(`${id}.minimum`, length, { ...where, lenient: "service" });
  else if (asked < minimum)
    log.record(`${id}.minimum`, asked, false, { ...where, lenient: "service", bound: "at_most" });
  else if (asked === minimum) log.record(`${id}.minimum`, minimum, true, where);
}

/** Observes the bound that a rejected limit shows. */
export function observeRefusedLimit({ url, operation }: RecordedCall, { log, ...where }: ObservationContext): void {
  const id = `${operation.id}.query.limit`;
  const asked = Number(url.searchParams.get("limit") ?? Number.NaN);
  const [minimum, maximum] = [log.fact(`${id}.minimum`)?.value, log.fact(`${id}.maximum`)?.value];
  if (typeof minimum !== "number" || typeof maximum !== "number" || !Number.isInteger(asked)) return;
  if (asked > maximum) {
    log.record(`${id}.maximum`, maximum, true, where);
    log.hints.push({ fact: `${id}.maximum`, bound: "below", value: asked });
  } else if (asked < minimum) log.record(`${id}.minimum`, minimum, true, where);
  else log.record(`${id}.maximum`, asked, false, { ...where, lenient: "sandbox", bound: "below" });
}
