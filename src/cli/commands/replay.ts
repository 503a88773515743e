// `replay`: delivers an attempt or an event again.

import { usageError } from "../../kernel/errors.ts";
import { sandboxCommand } from "../sandbox-command.ts";

export const replay = sandboxCommand({
  summary: "deliver again: an attempt (whd_…) or an event to all its endpoints (evt_…)",
  usage: "replay <id>",
  async call({ control: { attempts, events } }, { positionals: [id = ""] }) {
    const kind =
      /^(whd|evt)_\w+$/.exec(id)?.[1] ?? usageError(`replay takes the id of an attempt (whd_…) or of an event (evt_…); received "${id}".`);
    return (kind === "whd" ? attempts : events).replay({ id });
  },
  lines: ({ deliveries }) => [
    deliveries.length === 0 ? "No endpoint is subscribed to its type." : `Delivering again as ${deliveries.join(", ")}.`,
  ],
});
