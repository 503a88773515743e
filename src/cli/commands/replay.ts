// `replay`: delivers again, by the id of an attempt (one endpoint) or of an event (all that subscribed).

import { SandboxError } from "../../kernel/errors.ts";
import { command, print } from "../command.ts";
import { running, runningFlags } from "../remote/running-sandbox.ts";

export const replay = command({
  summary: "deliver again: a whd_… id to its endpoint, an evt_… id to all that subscribed",
  usage: "replay ID",
  positionals: 1,
  flags: runningFlags,
  async run({ flags, positionals: [id = ""] }) {
    const kind = /^(whd|evt)_\w+$/.exec(id)?.[1];
    if (!kind) throw new SandboxError(`replay takes the id of an attempt (whd_…) or of an event (evt_…); received "${id}".`, "usage");
    const path = kind === "whd" ? `/deliveries/${id}/replay` : `/events/${id}/replay`;
    const { deliveries } = await running(flags).control<{ deliveries: string[] }>("POST", path, {});
    print(deliveries.length === 0 ? "No endpoint wants it." : `Delivering again as ${deliveries.join(", ")}.`);
    return undefined;
  },
});
