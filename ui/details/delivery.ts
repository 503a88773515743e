// One delivery attempt and every other of the same event: what was sent, what came back, what comes next.

import type { AttemptMessage } from "../../src/kernel/messages.ts";
import { openDetail } from "../overlays/detail.ts";
import type { State } from "../state/state.ts";
import { fact, plain } from "./text.ts";

export const deliveryDetail = (_: State, attempt: AttemptMessage) =>
  openDetail<{ whole: { attempt: unknown; attempts: unknown[] } }>({
    title: `${attempt.eventType} to ${attempt.url}`,
    asks: { whole: { method: "GET", path: `/deliveries/${encodeURIComponent(attempt.id)}` } },
    lines: ({ whole }, { look }, width) => [
      ...fact(look, width, "event", attempt.eventId),
      ...(whole ? plain(JSON.stringify(whole.attempt, null, 2), width) : ["", "Fetching …"]),
    ],
  });
