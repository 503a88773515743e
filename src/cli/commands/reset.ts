// `reset`: returns a running sandbox, or one of its merchants, to its start.

import type { SandboxResetReply } from "../../../generated/control-api.ts";
import { describeClock } from "../../kernel/clock.ts";
import { sandboxCommand } from "../sandbox-command.ts";

export const reset = sandboxCommand({
  summary: "return to the start: data, clock, faults, scenarios and endpoints; or only one merchant, without the clock",
  usage: "reset [merchant]",
  async call(sandbox, { positionals: [wanted] }) {
    const merchant = await sandbox.merchantId(wanted);
    return sandbox.control.reset(merchant === undefined ? {} : { merchant });
  },
  lines,
});

function lines({ reset, clock, faults, scenarios, endpoints }: SandboxResetReply): string[] {
  const again = [
    ...faults.map((id) => `fault rule ${id}`),
    ...scenarios.map((name) => `scenario ${name}`),
    ...endpoints.map((id) => `endpoint ${id}`),
  ];
  const kept = again.length === 0 ? "" : ` Set up again, as the options say: ${again.join(", ")}.`;
  if (clock === null) return [`Reset the data, faults and verdicts of ${reset}; the clock and other merchants are unchanged.${kept}`];
  return [`Reset everything: data, faults, verdicts, and the clock to ${describeClock(clock)}.${kept}`];
}
