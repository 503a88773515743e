// Bounds the memory of long responses of the control API, such as reports, that clients have not read yet. Responses in
// parts need no bound, because each part is made when the client has read the parts before it.

import type { ServerResponse } from "node:http";
import { fail } from "../kernel/errors.ts";
import { count } from "../kernel/text.ts";

/** Limit for the characters of long responses that clients have not read yet. One report may have millions. */
const MAX_UNREAD = 33_554_432;
const LONG_RESPONSE = 65_536;
/** Real milliseconds without progress after which the reader of a long response is disconnected. */
export const READ_TIMEOUT = 30_000;

export type UnreadBound = ReturnType<typeof createUnreadBound>;

/** Bounds the memory of responses that clients request and do not read. */
export function createUnreadBound() {
  let unread = 0;
  const check = () => {
    if (unread > MAX_UNREAD)
      fail(
        "sandbox_unavailable",
        `Other clients have not read ${count(unread)} characters of their responses yet. Try again in a moment.`,
      );
  };
  return {
    check,
    add(response: ServerResponse, length: number) {
      if (length < LONG_RESPONSE) return;
      // Checks again, because other calls may have begun meanwhile.
      check();
      unread += length;
      response.setTimeout(READ_TIMEOUT, () => response.destroy());
      response.once("close", () => {
        unread -= length;
      });
    },
  };
}
