// `trigger` and `replay`: cause an event of any type in a running sandbox, or send a synthetic one; deliver an attempt
// or an event again.

import { eventTypes } from "../../areas/index.ts";
import { didYouMean } from "../../kernel/did-you-mean.ts";
import { usageError } from "../../kernel/errors.ts";
import { isObject } from "../../kernel/json-object.ts";
import { PROGRAM } from "../../kernel/program-name.ts";
import { plural } from "../../kernel/text.ts";
import { note, noteWarnings } from "../output/print.ts";
import { sandboxCommand } from "../sandbox-command.ts";

export const trigger = sandboxCommand({
  summary: "make an event happen: trigger payment.succeeded makes a payment that succeeds",
  usage: "trigger <type>",
  example: "trigger payment.succeeded",
  flags: {
    data: {
      value: "json",
      description: "give the record these fields, or a synthetic event this data",
      defaultText: "{}",
    },
    merchant: { value: "merchant", description: "use this merchant, such as lodge", defaultText: "the first one" },
    synthetic: { description: "only send the event, without a record" },
  },
  terms: () => ({ type: "<type>" }),
  async call(sandbox, { flags, positionals: [type = ""] }) {
    if (flags.synthetic === undefined) checkType(type);
    const { id: merchant } = await sandbox.merchant(flags.merchant);
    const given = { type, merchant, data: parse(flags.data ?? "{}"), synthetic: flags.synthetic !== undefined };
    const event = await sandbox.control.events.trigger(given);
    noteWarnings(event.warnings);
    const { heldEndpoints } = await sandbox.control.overview();
    if (heldEndpoints.length > 0)
      note(`Nothing is sent to ${heldEndpoints.join(", ")} until you run ${PROGRAM} replay waiting.`);
    return event;
  },
  lines: ({ id, type, record, merchant, deliveries, events }) => [
    `${id} ${type}${record ? ` of ${record.id}` : ""}: ${resultOf(deliveries, merchant)}`,
    ...events.filter((other) => other.id !== id).map((other) => `  on the way: ${other.id} ${other.type}`),
  ],
});

function checkType(type: string): void {
  if (eventTypes.has(type)) return;
  usageError(`The service sends no event ${type}.${didYouMean(type, eventTypes)} Add --synthetic to send it anyway.`);
}

function resultOf(deliveries: Readonly<Record<string, number>>, merchant: string): string {
  const count = Object.values(deliveries).reduce((sum, each) => sum + each, 0);
  return count === 0 ? `no endpoint of ${merchant} is subscribed to it` : `queued for ${plural(count, "endpoint")}`;
}

function parse(text: string) {
  try {
    const data: unknown = JSON.parse(text);
    if (isObject(data)) return data;
  } catch (error) {
    usageError(`--data is not JSON: ${(error as Error).message}.`);
  }
  usageError(`--data must be a JSON object; received ${text}.`);
}

export const replay = sandboxCommand({
  summary:
    "send again: an attempt (whd_…), an event to all its endpoints (evt_…), or the held deliveries " +
    "that came with a file (waiting)",
  usage: "replay <id|waiting>",
  example: "replay waiting",
  async call({ control }, { positionals: [id = ""] }) {
    if (id === "waiting") return control.deliveries.release();
    const kind =
      /^(whd|evt)_\w+$/.exec(id)?.[1] ??
      usageError(`replay takes the id of an attempt (whd_…) or of an event (evt_…), or waiting; received "${id}".`);
    return (kind === "whd" ? control.deliveries : control.events).replay({ id });
  },
  lines(reply) {
    if ("released" in reply) return [`Delivering ${plural(reply.released, "held delivery")}.`];
    if (reply.deliveries.length === 0) return ["No endpoint is subscribed to its type."];
    return [`Delivering again as ${reply.deliveries.join(", ")}.`];
  },
});
