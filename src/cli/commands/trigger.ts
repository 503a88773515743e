// `trigger`: sends a synthetic event of any type through a running sandbox.

import { SandboxError } from "../../kernel/errors.ts";
import { command, print } from "../command.ts";
import { running, runningFlags } from "../remote/running-sandbox.ts";

interface Sent {
  id: string;
  type: string;
  deliveries: { endpointId: string }[];
}

export const trigger = command({
  summary: "send a synthetic event to the endpoints that subscribed to its type",
  usage: "trigger TYPE",
  positionals: 1,
  flags: {
    data: { value: "json", description: "what the event says; {} unless given" },
    for: { value: "merchant", description: "whose endpoints; the first merchant's unless given" },
    ...runningFlags,
  },
  async run({ flags, positionals: [type] }) {
    if (type === undefined) throw new SandboxError("Say which type: merchant-sandbox trigger payment.succeeded.", "usage");
    const sandbox = running(flags);
    const merchant = await sandbox.merchant(flags.for);
    const event = await sandbox.service<Sent>(merchant.key, "POST", "/webhook-events/test", { type, data: parse(flags.data ?? "{}") });
    const told = event.deliveries.map(({ endpointId }) => endpointId);
    print(
      `${event.id} ${event.type}: ${told.length === 0 ? `no endpoint of ${merchant.id} subscribed to it` : `on its way to ${told.join(", ")}`}`,
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
