// Overlays of text: one to read, select and copy, and the question before a destructive call.

import { type Call, curlOf } from "../../../src/client/curl.ts";
import type { KeyBinding, Overlay, StateUpdate, UiState } from "../../state/state.ts";
import {
  type CallResult,
  closeTopOverlay,
  copyText,
  makeCall,
  openOverlay,
  update,
  withNotice,
} from "../../state/updates.ts";
import { fillLines, sanitize, widthOf, wrap } from "../../text/cells.ts";
import { styled } from "../../text/style.ts";
import { wrapped } from "../details/detail-lines.ts";

/** Shows a command, or a text that was copied, such as a body. */
export const textOverlay = (title: string, text: string): Overlay => ({
  title,
  isBare: true,
  lines: (_, width) => text.split("\n").flatMap((line) => (isJson(text) ? wrap : shellLines)(sanitize(line), width)),
  keys: [{ keys: ["y"], label: "copy", help: "copy the text", run: (state) => copyText(state, text, "the text") }],
});

/** Whether a text is a JSON object or array, complete or not. No command of the dashboard begins like one. */
const isJson = (text: string) => /^\s*[{[]/.test(text);

/** A word of a shell command, with the quoted strings in it, and the option before it. */
const WORD = /(?:--?\w[\w-]* (?=[^-\s]))?(?:"(?:[^"\\]|\\.)*"|'[^']*'|\\.|[^\s"'\\])+/g;
const CONTINUED = " \\";

/**
 * Splits a command into lines of at most `width` cells that a shell reads as one command. Other text is only wrapped.
 */
export function shellLines(command: string, width: number): string[] {
  if (widthOf(command) <= width) return [command];
  const words = command.match(WORD) ?? [];
  const room = width - CONTINUED.length;
  if (words.join(" ") !== command) return wrap(command, width);
  const parts = words.flatMap((word) => pieces(word, room));
  const lines = fillLines(parts, room);
  return lines.map((line, index) => line + (index === lines.length - 1 || line.endsWith("\\") ? "" : CONTINUED));
}

/** Splits a quoted string that is wider than a line into quoted parts, each continued on the next line. */
function pieces(word: string, room: number): string[] {
  if (widthOf(word) <= room) return [word];
  const [, option, rest = word] = /^(--?\S+) (.+)$/s.exec(word) ?? [];
  if (option !== undefined) return [option, ...pieces(rest, room)];
  const inner = /^'([^']*)'$/.exec(word)?.[1];
  if (inner === undefined) return [word];
  const parts = wrap(inner, room - 3);
  return parts.map((part, index) => `'${part}'${index < parts.length - 1 ? "\\" : ""}`);
}

/** A question before a call, and its two answers: the buttons say what each of them does. */
export interface Confirmation {
  question: string;
  /** The answer that makes the call, such as `Reset everything`. */
  action: string;
  /** The answer that makes no call. Default: `Keep it`. */
  refusal?: string;
  /** The text before the call. Default: `The call:`. */
  callCaption?: string;
}

export function confirmCall<Reply>(
  state: UiState,
  confirmation: Confirmation,
  call: Call<Reply>,
  resultOf: (reply: Reply, status: number) => CallResult,
): StateUpdate {
  const onConfirm = (later: UiState) => makeCall(later, call, resultOf);
  return update(openOverlay(state, confirm(confirmation, call, onConfirm)));
}

/** Keys that keep their usual meaning while a question is open: back, quit, redraw and suspend. */
const PASSED_ON = ["escape", "q", "ctrl-l", "ctrl-z"];

/** A text wrapped between words. */
const prose = (text: string, width: number) => fillLines(sanitize(text).split(" "), Math.max(10, width));

/** The cells before the help of an answer: its key between two spaces on each side. */
const ANSWER_INDENT = 5;

/** A question with an answer for each key; Esc goes back, and other keys are ignored. */
export const question = (text: string, answers: readonly KeyBinding[]): Overlay => ({
  title: "Confirm",
  lines: (state, width) => [
    "",
    ...prose(text, width).map((line) => styled(state.theme, line, "bold")),
    "",
    ...answers.flatMap((answer) => {
      const isPossible = answer.isEnabled?.(state) ?? true;
      const lines = prose(isPossible ? answer.help : `needs ${answer.needs?.(state)}`, width - ANSWER_INDENT);
      return lines.map((line, index) => {
        const shown = `${(index === 0 ? `  ${answer.keys[0]}` : "").padEnd(ANSWER_INDENT)}${line}`;
        return isPossible ? shown : styled(state.theme, shown, "dim");
      });
    }),
    "  Esc  go back",
  ],
  keys: answers,
  onKey: (state, key) =>
    PASSED_ON.includes(key) || answers.some(({ keys }) => keys.includes(key)) ? undefined : update(state),
});

export const confirm = (
  { question, action, refusal = "Keep it", callCaption = "The call:" }: Confirmation,
  call: Call | undefined,
  onConfirm: (state: UiState) => StateUpdate,
): Overlay => ({
  title: "Confirm",
  lines: ({ target, theme, isPage }, width) => [
    "",
    ...prose(question, width).map((line) => styled(theme, line, "bold")),
    "",
    // The page has a button for each answer.
    ...(isPage
      ? []
      : [
          `  y              ${action}`,
          ...(call ? ["  Ctrl-Y         copy the call as curl"] : []),
          `  any other key  ${refusal}`,
          "",
        ]),
    ...(call ? [callCaption, curlOf(target, call)] : [])
      .flatMap((text) => wrapped(text, width))
      .map((line) => styled(theme, line, "dim")),
  ],
  keys: [
    { keys: ["y"], label: action, help: action, run: (state) => onConfirm(closeTopOverlay(state)) },
    { keys: ["n"], label: refusal, help: refusal, run: cancel },
    ...(call
      ? [
          {
            keys: ["ctrl-y"],
            label: "copy curl",
            help: "copy the call as curl without making it",
            run: (state: UiState) => copyText(state, curlOf(state.target, call), "the call as curl"),
          },
        ]
      : []),
  ],
  // Ctrl-Y goes to its binding, y confirms, and every other key cancels.
  onKey: (state, key) => {
    if (key === "ctrl-y" && call) return undefined;
    return key === "y" ? onConfirm(closeTopOverlay(state)) : cancel(state);
  },
});

const cancel = (state: UiState): StateUpdate => update(withNotice(closeTopOverlay(state), "Cancelled", "dim"));
