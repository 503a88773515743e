// Options of a live hub that has no sandbox.

import { NO_COUNTS } from "../../src/contracts/live-messages.ts";
import type { HubOptions } from "../../src/live/hub.ts";

export const hubOptions = (changes: Partial<HubOptions> = {}): HubOptions => ({
  snapshot: () => ({}),
  report: () => {},
  stored: () => ({ requests: new Map(), attempts: new Map(), lastAttempt: 0 }),
  verdicts: () => NO_COUNTS.verdicts,
  responseHeaders: {},
  ...changes,
});
