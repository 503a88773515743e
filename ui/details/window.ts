// One rate-limit window: what is left of it, when it begins anew, and what of its merchant's calls was refused lately.

import type { RequestMessage } from "../../src/contracts/live-messages.ts";
import { count, countdown } from "../format-numbers.ts";
import type { Detail } from "../overlays/detail.ts";
import { listOf, type State } from "../state/state.ts";
import { momentOf, remainingOf, timeOfDay, wholeTime } from "../time.ts";
import { fact, part, plain, sentences } from "./detail-lines.ts";

export interface Window {
  merchant: string;
  operation: string | null;
  limit: number;
  remaining: number;
  /** Milliseconds. */
  window: number;
  /** Sandbox time. */
  reset: string;
}

export const windowId = ({ merchant, operation }: Window) => `${merchant} ${operation ?? ""}`;

const MOST_REFUSED = 10;

export const windowDetail = (_: State, chosen: Window): Detail => ({
  title: `The window of ${chosen.merchant}${chosen.operation === null ? "" : ` for ${chosen.operation}`}`,
  asks: {},
  lines(_known, state, width) {
    const { look } = state;
    const row = listOf(state, "limits").rows.find(({ id }) => id === windowId(chosen));
    const { merchant, operation, limit, remaining, window, reset } = (row?.value as Window | undefined) ?? chosen;
    const ends = momentOf(reset);
    const spent = remaining === 0;
    const whose =
      operation === null
        ? "All operations of the merchant share it, but for those that have their own."
        : "This operation has it for itself.";
    return [
      ...fact(look, width, "merchant", merchant),
      ...(operation === null ? [] : fact(look, width, "operation", operation)),
      ...fact(look, width, "left", `${count(remaining)} of ${count(limit)}`, spent ? "red" : "green"),
      ...fact(look, width, "length", `${count(window / 1_000)} s`),
      ...fact(look, width, "ends", `${wholeTime(ends).slice(0, 19)}, in ${countdown(remainingOf(state, ends))}`),
      ...sentences(look, width, `${whose} ${spent ? "Until it ends, every call is answered 429." : ""}`.trim(), "dim"),
      ...part(
        look,
        "Refused lately",
        refused(state, merchant).flatMap((line) => plain(line, width, "  ")),
      ),
    ];
  },
});

const refused = (state: State, merchant: string): string[] =>
  listOf(state, "requests")
    .rows.map(({ value }) => value as RequestMessage)
    .filter((request) => request.status === 429 && request.merchant === merchant)
    .slice(-MOST_REFUSED)
    .map(({ id, at, method, path }) => `${id}  ${timeOfDay(at)}  ${method} ${path}`);
