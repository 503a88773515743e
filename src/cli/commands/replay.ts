// `replay`: delivers an attempt again to its endpoint, or an event again to all endpoints that subscribed to its type.

import { SandboxError } from "../../kernel/errors.ts";
import { command } from "../command.ts";
import { print } from "../output/print.ts";
import { connectionFlags } from "../remote/find-sandbox.ts";
import { connectToSandbox } from "../remote/running-sandbox.ts";

export const replay = command({
  summary: "deliver again: an attempt (whd_…) or an event to all its endpoints (evt_…)",
  usage: "replay <id>",
  positionals: 1,
  flags: connectionFlags,
  async run({ flags, positionals: [id = ""] }) {
    const kind = /^(whd|evt)_\w+$/.exec(id)?.[1];
    if (!kind) throw new SandboxError(`replay takes the id of an attempt (whd_…) or of an event (evt_…); received "${id}".`, "usage");
    const { attempts, events } = (await connectToSandbox(flags)).control;
    const { deliveries } = await (kind === "whd" ? attempts : events).replay({ id });
    print(deliveries.length === 0 ? "No endpoint is subscribed to its type." : `Delivering again as ${deliveries.join(", ")}.`);
    return undefined;
  },
});
