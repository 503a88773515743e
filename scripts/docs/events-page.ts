// Generates docs/events.md: each type of event, and the commands or the API call that cause it.

import type { EventSource } from "../../src/areas/event-sources.ts";
import { blocks, code, fence, GENERATED, link, table } from "./markdown.ts";

const PROGRAM = "merchant-sandbox";

export function eventsPage(sources: readonly EventSource[]): string {
  const rows = [...sources]
    .sort(byType)
    .map((source) => [code(source.type), commandsOf(source).map(code).join("<br>"), callsOf(source).join("<br>")]);
  return `${blocks(
    GENERATED,
    "# Events",
    "Each of these events reports a change of a record, and its `data` is the record as it is then. " +
      "`trigger` makes any of them happen, with a new record where one is needed:",
    fence(
      "sh",
      `npx ${PROGRAM} trigger payment.succeeded\n` +
        `npx ${PROGRAM} trigger payment.succeeded --data '{"amount": 1250}' --merchant market`,
    ),
    "The commands below, each after `npx`, do the same in your own steps: " +
      "`<id>` is the id that the first one prints. " +
      "Every status on the way has its event too, so a refunded payment sends `payment.pending`, " +
      "`payment.succeeded` and `payment.refunded`. Fields that you leave out are generated; " +
      "`make payment --help` lists them. With `--synthetic`, `trigger` only sends the event: no record changes. " +
      "Over HTTP these are `POST /_sandbox/events`, `POST /_sandbox/records/{kind}` " +
      "and `PATCH /_sandbox/records/{kind}/{id}` of the [control API](control.md); in the [library](library.md), " +
      "`sandbox.events.trigger()`, `sandbox.records.make()` and `sandbox.records.move()`.",
    "A call in the last column has the body of its example in the API reference. Time causes events too, " +
      "such as `payout.paid` on its date: [Time-driven changes](concepts.md#time-driven-changes). " +
      "`POST /v1/webhook-events/test` sends an event of any type, about no record.",
    table(["Event", "Commands", "Call of the API"], rows),
  )}\n`;
}

const byType = (one: EventSource, other: EventSource) => (one.type < other.type ? -1 : 1);

/** The API calls that cause an event, each run after the commands that create the record. */
const callsOf = ({ type, operations }: EventSource): string[] =>
  operations.flatMap(({ id, method, path, mayEmit, mayEmitAfter }) => {
    const before = type in mayEmit ? mayEmitAfter : [];
    const call = link(code(`${method} /v1${path}`), `reference.md#${id}`);
    return [...before.map((words) => code(`${PROGRAM} ${words}`)), [call, mayEmit[type]].filter(Boolean).join(" ")];
  });

/** The commands that cause an event, in order. */
function commandsOf({ type, resource, status, back, call, update }: EventSource): string[] {
  if (!resource || call) return [`${PROGRAM} trigger ${type}`];
  const kind = resource.kind.replaceAll("_", "-");
  const first = status === resource.defaults.status || status === undefined ? "" : ` --status ${status}`;
  const flags = update?.flags;
  if (!resource.onePerMerchant) {
    const changes = [back, flags].filter((change) => change !== undefined);
    return [`${PROGRAM} make ${kind}${first}`, ...changes.map((change) => `${PROGRAM} move ${kind} <id> ${change}`)];
  }
  const only = resource.kind === "merchant" ? "mer_lodge" : "sts_settings";
  const changes = flags === undefined ? [status, back] : [flags];
  return changes.filter((change) => change !== undefined).map((change) => `${PROGRAM} move ${kind} ${only} ${change}`);
}
