// `trigger`: sends a test event of any type from a running sandbox.

import { testEventCall } from "../../client/service-call.ts";
import { TestEvent } from "../../contracts/webhook.ts";
import { SandboxError } from "../../kernel/errors.ts";
import { command } from "../command.ts";
import { print } from "../output/print.ts";
import { connectionFlags, connectToSandbox } from "../remote/running-sandbox.ts";

export const trigger = command({
  summary: "send a test event to the endpoints that subscribed to its type",
  usage: "trigger <type>",
  positionals: 1,
  flags: {
    data: { value: "json", description: "use this JSON object as the event data (default: {})" },
    for: { value: "merchant", description: "send it to endpoints of this merchant (default: the first one)" },
    ...connectionFlags,
  },
  async run({ flags, positionals: [type] }) {
    if (type === undefined) throw new SandboxError("The event type is missing: merchant-sandbox trigger payment.succeeded.", "usage");
    const sandbox = connectToSandbox(flags);
    const merchant = await sandbox.merchant(flags.for);
    const event = await sandbox.service(testEventCall(merchant.key, { type, data: parse(flags.data ?? "{}") }), TestEvent);
    const endpoints = event.deliveries.map(({ endpointId }) => endpointId);
    print(
      `${event.id} ${event.type}: ${endpoints.length === 0 ? `no endpoint of ${merchant.id} subscribed to it` : `on its way to ${endpoints.join(", ")}`}`,
    );
    return undefined;
  },
});

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new SandboxError(`--data is not JSON: ${(error as Error).message}.`, "usage");
  }
}
