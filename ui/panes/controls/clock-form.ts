// The form of the sandbox's clock, and the list of what an advance has changed.

import type { ClockAdvanceReply, ClockSetInput } from "../../../generated/control-api.ts";
import { controlCalls } from "../../../src/client/control-call.ts";
import { describeClock, isoTime } from "../../../src/kernel/clock.ts";
import { count, plural } from "../../../src/kernel/text.ts";
import { sandboxNow, type UiState } from "../../state/state.ts";
import { openOverlay } from "../../state/updates.ts";
import { dateTimeToSecond, milliseconds } from "../../text/format.ts";
import { symbols } from "../../text/style.ts";
import { linkTo } from "../details/detail-lines.ts";
import { recordReference } from "../details/record-links.ts";
import { openDetail } from "../overlays/detail.ts";
import { type FieldOption, type FormField, optionalHelp } from "../overlays/field.ts";
import { type Form, submission } from "../overlays/form-view.ts";
import { filledIn } from "./form-fields.ts";

const ADVANCE = "advance ";
const OTHER_DURATION = `${ADVANCE}by`;

const CLOCK_OPTIONS: readonly FieldOption[] = [
  ...["1m", "1h", "24h"].map((by) => ({ value: ADVANCE + by, help: "run everything that falls due, in order" })),
  { value: OTHER_DURATION, label: "advance by …", help: "advance by another duration" },
  { value: "frozen", label: "freeze", help: "stop the clock, now or at a given time" },
  { value: "offset", label: "set and run", help: "run from a given time" },
  { value: "real", label: "real", help: "follow the machine's clock" },
];

/** A text that matches no option is a duration. */
const isAdvance = (action: string) =>
  action.startsWith(ADVANCE) || !CLOCK_OPTIONS.some(({ value }) => value === action);

export const clockForm: Form = {
  title: "Sandbox clock",
  verb: ({ do: action = "" }) => (isAdvance(action) ? "Advance" : "Set the clock"),
  fields({ do: action }, { state }) {
    const more: Record<string, FormField> = {
      [OTHER_DURATION]: { name: "by", help: "Duration, such as 30s, 5m or 7d" },
      frozen: timeField,
      offset: timeField,
    };
    return [
      {
        name: "do",
        label: "action",
        help: `How to change the clock${state.isPage ? "" : "; or a duration to advance it by, such as 3d"}`,
        options: CLOCK_OPTIONS,
        // The page has a list to choose from.
        allowOther: !state.isPage,
      },
      ...[more[action ?? ""] ?? []].flat(),
    ];
  },
  submission({ do: action = "", by = "", now = "" }, { state }) {
    const mode = state.sandbox?.clock.mode;
    // Undoing sets the clock back, but does not undo the events in between.
    const undo = mode && {
      undo: controlCalls.clock.set(mode === "real" ? { mode } : { mode, now: isoTime(sandboxNow(state)) }),
    };
    if (!isAdvance(action)) {
      const call = controlCalls.clock.set({ mode: action as ClockSetInput["mode"], ...filledIn({ now }) });
      return submission(call, (clock) => ({ message: `Clock set to ${describeClock(clock)}`, ...undo }));
    }
    const call = controlCalls.clock.advance({ by: action === OTHER_DURATION ? by : action.replace(ADVANCE, "") });
    return submission(call, (reply) => ({
      message: advancedText(reply),
      ...undo,
      updateState: (later) => withChanges(later, reply),
    }));
  },
};

const timeField = {
  name: "now",
  ...optionalHelp("Time, such as 2026-01-05T09:00:00Z", "the current sandbox time"),
};

const advancedText = ({ now, happened, omitted, attempts }: ClockAdvanceReply) =>
  `Clock advanced to ${now}: ${plural(happened.length + omitted, "change")}, ` +
  `${plural(attempts.length, "delivery attempt")}`;

const MOST_LISTED = 500;

/** Lists the changes that time has made, each a link to its record. An advance without changes lists nothing. */
function withChanges(state: UiState, { happened, omitted }: ClockAdvanceReply): UiState {
  const [first] = happened;
  if (!first) return state;
  const more = Math.max(0, happened.length - MOST_LISTED) + omitted;
  const { overlay } = openDetail(
    {
      title: "Changes by the clock",
      lines: (_data, { band, text }, { theme }) => [
        ...band(`${symbols(theme).good} ${plural(happened.length + omitted, "change")} in order`, false),
        "",
        ...happened.slice(0, MOST_LISTED).flatMap(({ at, merchant, kind, id, from, to, event }) => {
          const { pane, id: reference } = recordReference(id, merchant);
          const states = [from, to].filter((status) => status !== null).join(" to ");
          const time = dateTimeToSecond(milliseconds(at));
          const line = [time, `${kind} ${id}`, states, event, merchant].filter(Boolean).join("  ");
          return linkTo(pane, reference, text(line));
        }),
        ...(more > 0 ? text(`${count(more)} more are not listed.`, "dim") : []),
      ],
    },
    { ...recordReference(first.id, first.merchant), value: first },
    [],
  );
  return openOverlay(state, overlay);
}
