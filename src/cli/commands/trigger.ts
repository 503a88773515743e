// `trigger`: makes an event of any type happen in a running sandbox, or sends a synthetic one.

import { eventTypes } from "../../areas/index.ts";
import { didYouMean } from "../../kernel/did-you-mean.ts";
import { SandboxError } from "../../kernel/errors.ts";
import { command } from "../command.ts";
import { note, print } from "../output/print.ts";
import { connectionFlags } from "../remote/find-sandbox.ts";
import { connectToSandbox } from "../remote/running-sandbox.ts";

export const trigger = command({
  summary: "make an event happen: trigger payment.succeeded makes a payment that succeeds",
  usage: "trigger <type>",
  words: (given) => (given.length === 0 ? [...eventTypes] : []),
  positionals: 1,
  flags: {
    data: { value: "json", description: "give the record these fields, or a synthetic event this data (default: {})" },
    for: { value: "merchant", description: "send it to endpoints of this merchant (default: the first one)" },
    synthetic: { description: "only send the event, without a record" },
    json: { description: "print the event as JSON" },
    ...connectionFlags,
  },
  async run({ flags, positionals: [type] }) {
    if (type === undefined) throw new SandboxError("The event type is missing: merchant-sandbox trigger payment.succeeded.", "usage");
    if (flags.synthetic === undefined) checkType(type);
    const sandbox = await connectToSandbox(flags, { type: "<type>" });
    const { id: merchant } = await sandbox.merchant(flags.for);
    const given = { type, merchant, data: parse(flags.data ?? "{}"), synthetic: flags.synthetic !== undefined };
    const event = await sandbox.control.events.trigger(given);
    if (event.warning !== null) note(event.warning);
    if (flags.json !== undefined) print(JSON.stringify(event));
    else print(`${event.id} ${event.type}${event.record ? ` of ${event.record.id}` : ""}: ${fateOf(event.deliveries, merchant)}`);
    return undefined;
  },
});

function checkType(type: string): void {
  if (eventTypes.has(type)) return;
  throw new SandboxError(
    `The service sends no event ${type}.${didYouMean(type, eventTypes)} Add --synthetic to send it all the same.`,
    "usage",
  );
}

function fateOf(deliveries: Readonly<Record<string, number>>, merchant: string): string {
  const count = Object.values(deliveries).reduce((sum, each) => sum + each, 0);
  return count === 0 ? `no endpoint of ${merchant} subscribed to it` : `on its way to ${count} ${count === 1 ? "endpoint" : "endpoints"}`;
}

function parse(text: string): Record<string, unknown> {
  try {
    const data: unknown = JSON.parse(text);
    if (typeof data === "object" && data !== null && !Array.isArray(data)) return data as Record<string, unknown>;
  } catch (error) {
    throw new SandboxError(`--data is not JSON: ${(error as Error).message}.`, "usage");
  }
  throw new SandboxError(`--data must be a JSON object; received ${text}.`, "usage");
}
