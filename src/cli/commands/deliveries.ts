// `deliveries`: lists the newest delivery attempts of a running sandbox, one per line.

import type { AttemptsListInput, LoggedAttempt } from "../../../generated/control-api.ts";
import { mask } from "../../kernel/mask.ts";
import { command } from "../command.ts";
import { print } from "../output/print.ts";
import { connectionFlags } from "../remote/find-sandbox.ts";
import { connectToSandbox } from "../remote/running-sandbox.ts";

export const deliveries = command({
  summary: "list the newest delivery attempts",
  usage: "deliveries",
  flags: {
    limit: { value: "n", description: "list this many attempts (default: 25)" },
    for: { value: "merchant", description: "list only attempts of this merchant (default: all)" },
    status: { value: "status", description: "list only attempts that succeeded, failed or aborted" },
    json: { description: "print one JSON object per line" },
    ...connectionFlags,
  },
  async run({ flags }) {
    const sandbox = await connectToSandbox(flags);
    const merchant = flags.for === undefined ? undefined : (await sandbox.merchant(flags.for)).id;
    // The sandbox checks the flags, and quotes them as they were typed.
    const { data } = await sandbox.control.attempts.list({ limit: flags.limit, merchant, status: flags.status } as AttemptsListInput);
    for (const attempt of data) print(flags.json === undefined ? line(attempt) : JSON.stringify(attempt));
    if (data.length === 0 && flags.json === undefined)
      print("No deliveries yet. Try merchant-sandbox receive in another terminal, then merchant-sandbox trigger payment.succeeded.");
    return undefined;
  },
});

function line(attempt: LoggedAttempt): string {
  const result = attempt.responseStatus ?? attempt.errorCode ?? "-";
  return `${attempt.id} ${attempt.eventType} ${attempt.eventId} ${mask(String(attempt.url))} attempt ${attempt.attempt}/${attempt.maxAttempts} ${attempt.status} ${result}`;
}
