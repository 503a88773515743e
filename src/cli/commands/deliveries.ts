// `deliveries`: the newest delivery attempts of a running sandbox, one a line.

import { escapeControlCharacters } from "../../kernel/escape-control.ts";
import { command, say } from "../command.ts";
import { running, runningFlags } from "../remote/running-sandbox.ts";

interface Attempt {
  id: string;
  created: number;
  merchantId: string;
  eventType: string;
  eventId: string;
  url: string;
  attempt: number;
  maxAttempts: number;
  status: string;
  responseStatus: number | null;
  errorCode: string | null;
}

export const deliveries = command({
  summary: "the newest delivery attempts",
  usage: "deliveries",
  flags: {
    limit: { hint: "N", words: "how many; 25 unless given" },
    for: { hint: "MERCHANT", words: "whose; everybody's unless given" },
    status: { hint: "STATUS", words: "only succeeded, failed or aborted" },
    json: { words: "one JSON object a line" },
    ...runningFlags,
  },
  async act({ own }) {
    const sandbox = running(own);
    const merchant = own.for === undefined ? undefined : (await sandbox.merchant(own.for)).id;
    const wanted = { limit: own.limit, merchant, status: own.status };
    const query = new URLSearchParams(Object.entries(wanted).filter((entry): entry is [string, string] => entry[1] !== undefined));
    const { data } = await sandbox.control<{ data: Attempt[] }>("GET", `/deliveries?${query}`);
    for (const attempt of data) say(own.json === undefined ? line(attempt) : JSON.stringify(attempt));
    if (data.length === 0 && own.json === undefined)
      say("No deliveries yet. Try merchant-sandbox receive in another terminal, then merchant-sandbox trigger payment.succeeded.");
    return undefined;
  },
});

function line(attempt: Attempt): string {
  const result = attempt.responseStatus ?? attempt.errorCode ?? "-";
  return escapeControlCharacters(
    `${attempt.id} ${attempt.eventType} ${attempt.eventId} ${attempt.url} attempt ${attempt.attempt}/${attempt.maxAttempts} ${attempt.status} ${result}`,
  );
}
