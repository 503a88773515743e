// `deliveries` and `replay`: lists the newest delivery attempts of a running sandbox, and delivers an attempt or an event again.

import type { AttemptsListInput, LoggedAttempt } from "../../../generated/control-api.ts";
import { usageError } from "../../kernel/errors.ts";
import { mask } from "../../kernel/mask.ts";
import { linesOf, sandboxCommand } from "../sandbox-command.ts";

export const deliveries = sandboxCommand({
  summary: "list the newest delivery attempts",
  usage: "deliveries",
  flags: {
    limit: { value: "n", description: "list this many attempts (default: 25)" },
    for: { value: "merchant", description: "list only attempts of this merchant (default: all)" },
    status: { value: "status", description: "list only attempts that succeeded, failed or aborted" },
  },
  async call(sandbox, { flags: { limit, status, for: wanted } }) {
    // The sandbox validates the flags, so that its errors quote them as typed.
    const input = { limit, merchant: await sandbox.merchantId(wanted), status } as AttemptsListInput;
    return sandbox.control.attempts.list(input);
  },
  lines: linesOf(
    lineOf,
    "No deliveries yet. Try merchant-sandbox receive in another terminal, then merchant-sandbox trigger payment.succeeded.",
  ),
});

function lineOf(attempt: LoggedAttempt): string {
  const result = attempt.responseStatus ?? attempt.errorCode ?? "-";
  return `${attempt.id} ${attempt.eventType} ${attempt.eventId} ${mask(String(attempt.url))} attempt ${attempt.attempt}/${attempt.maxAttempts} ${attempt.status} ${result}`;
}

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
