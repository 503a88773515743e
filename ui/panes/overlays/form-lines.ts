// Draws a form in the terminal: the help, the fields, the options of the focused field, a sentence that says what the
// form does, and its call as curl.

import { curlOf } from "../../../src/client/curl.ts";
import { plural } from "../../../src/kernel/text.ts";
import { layoutOf, textSize } from "../../state/layout.ts";
import type { UiState } from "../../state/state.ts";
import { cut, fitTo, sanitize, widthOf, wrap } from "../../text/cells.ts";
import { styled, symbols, type Theme } from "../../text/style.ts";
import { paragraph } from "../details/detail-lines.ts";
import { type FormField, type FormValues, fieldAt, labelOf, matchingOptions, withCaret } from "./field.ts";
import type { FormState, FormView } from "./form-view.ts";

/** Why Enter sends nothing: the typed text matches none of the options. */
export const unmatchedText = ({ label, name }: FormField, text: string) => `${text}: no match for ${label ?? name}`;

/**
 * How many options or fields Page Up and Page Down move by. A screen that is high enough shows at least as many
 * options.
 */
export const PAGE = 9;

/** Offers the folded fields; empty if all fields are shown. */
export function moreText({ allFields, fields }: FormView): string {
  const folded = allFields.length - fields.length;
  return folded === 0 ? "" : `${plural(folded, "more field")} …`;
}

const LABEL_WIDTH = 15;

/** Fills the overlay's height exactly. The curl line stays at the bottom while the fields scroll. */
export function formLines(view: FormView, state: UiState, width: number): string[] {
  const height = Math.max(1, textSize(layoutOf(state).overlay).height);
  const help = view.input.isSending ? "Sending …" : (view.focused?.help ?? "Loading …");
  const foot = footLines(view, state, width, Math.max(1, Math.floor(height * 0.5)));
  const body = fieldLines(view, state.theme, width, Math.max(1, height - foot.length - 1));
  const gap = Math.max(0, height - body.length - 1 - foot.length);
  return [styled(state.theme, cut(sanitize(help), width), "dim"), ...body, ...Array<string>(gap).fill(""), ...foot];
}

function footLines(
  { input, fields, call, sentence }: FormView,
  state: UiState,
  width: number,
  height: number,
): string[] {
  const { theme, target } = state;
  const { rejection } = input;
  const isGeneral = !fields.some((field) => rejectionOf(field, fields, rejection));
  const message = rejection && (isGeneral || height > 5) ? wrap(sanitize(rejection.message), width).slice(0, 2) : [];
  const curl = wrap(sanitize(curlOf(target, call)), width);
  const said = sentence === "" || height <= 5 ? [] : wrap(sanitize(sentence), width).slice(0, 2);
  const room = Math.max(1, height - message.length - said.length);
  const shown = curl.length > room ? [...curl.slice(0, room - 1), cut(`${curl[room - 1] ?? ""} `, width)] : curl;
  return [
    ...message.map((line) => styled(theme, line, "failure")),
    ...said,
    ...shown.map((line) => styled(theme, line, "cyan")),
  ];
}

/** The fields, scrolled so that the focused one and its options are visible. */
function fieldLines(view: FormView, theme: Theme, width: number, height: number): string[] {
  const { fields, focused } = view;
  const more = moreText(view) && styled(theme, cut(`  ${moreText(view)} Ctrl-O`, width), "dim");
  const room = Math.max(PAGE + 1, height - fields.length - (more ? 1 : 0));
  const options = focused ? optionLines(view, focused, theme, width, Math.max(0, Math.min(height - 2, room))) : [];
  const index = Math.max(0, focused ? fields.indexOf(focused) : 0);
  const lines = fields.map((field) => fieldLine(view, field, theme, width));
  const all = [...lines.slice(0, index + 1), ...options, ...lines.slice(index + 1), ...(more ? [more] : [])];
  const top = Math.max(0, Math.min(index - 1, all.length - height), index + options.length + 1 - height);
  return all.slice(top, top + height);
}

function fieldLine(
  { focused, values, input, fields }: FormView,
  field: FormField,
  theme: Theme,
  width: number,
): string {
  const isFocused = field === focused;
  const problem = rejectionOf(field, fields, input.rejection);
  const label = `${isFocused ? symbols(theme).cursor : " "} ${fitTo(field.label ?? field.name, LABEL_WIDTH)} `;
  const room = width - widthOf(label);
  const note =
    problem === undefined ? "" : cut(`${symbols(theme).bad} ${sanitize(problem)}`, Math.max(0, Math.floor(room * 0.7)));
  const space = room - (note === "" ? 0 : widthOf(note) + 1);
  const { fallback } = field;
  const isDefault =
    (values[field.name] ?? "") === "" &&
    fallback !== undefined &&
    !field.options?.some(({ value, label }) => value === "" && label !== "-");
  const value =
    isDefault && !isFocused
      ? cut(`default: ${fallback}`, space)
      : valueText(field, values, isFocused ? input : undefined, space);
  const end = note === "" ? "" : ` ${styled(theme, note, "failure")}`;
  if (isFocused) return styled(theme, label, "bold") + styled(theme, value, "inverse") + end;
  return label + (isDefault ? styled(theme, value, "dim") : value) + end;
}

/** The value of a field; `input` is given only for the focused field, which shows the caret of a text input. */
function valueText(field: FormField, values: FormValues, input: FormState | undefined, room: number): string {
  const value = values[field.name] ?? "";
  if (field.options) {
    const option = field.options.find((one) => one.value === value);
    const text = sanitize(option ? labelOf(option) : value);
    if (input === undefined) return cut(text, room);
    return cut(input.unmatched === "" ? `< ${text} >` : ` ${sanitize(unmatchedText(field, input.unmatched))} `, room);
  }
  if (input === undefined) return cut(sanitize(value) || "-", room);
  if (input.isSelected && value !== "") return cut(` ${sanitize(value)} `, room);
  return cut(` ${withCaret({ value, caretFromEnd: input.caretFromEnd }, "_", Math.max(1, room - 4))} `, room);
}

/**
 * Shows the options side by side, because Right chooses the next one. Below them is the help of the chosen option. If
 * not all options fit, shows the lines around the chosen option and their range, such as `4-9 of 20`.
 */
function optionLines(
  { values, input }: FormView,
  field: FormField,
  theme: Theme,
  width: number,
  height: number,
): string[] {
  const options = matchingOptions(field, input.search);
  if (options.length < 2) return [];
  const chosen = options.findIndex(({ value }) => value === values[field.name]);
  const rows = rowsOf(
    options.map((option) => sanitize(labelOf(option))),
    width - INDENT.length,
  );
  const help = options[chosen]?.help;
  const below = help === undefined ? [] : paragraph(theme, width - INDENT.length, help).slice(0, 2);
  const isCut = rows.length > height - below.length;
  const count = Math.max(1, height - below.length - (isCut ? 1 : 0));
  const current = rows.findIndex((row) => row.some(({ index }) => index === chosen));
  const top = Math.max(0, Math.min(current - Math.floor(count / 2), rows.length - count));
  const shown = rows.slice(top, top + count);
  const drawn = shown.map(
    (row) =>
      INDENT +
      row.map(({ label, index }) => (index === chosen ? styled(theme, `[${label}]`, "bold") : ` ${label} `)).join(""),
  );
  const part = isCut
    ? [`${INDENT}${(shown[0]?.[0]?.index ?? 0) + 1}-${(shown.at(-1)?.at(-1)?.index ?? 0) + 1} of ${options.length}`]
    : [];
  const notes = [...part, ...below.map((line) => INDENT + line.trimStart())];
  return [...drawn, ...notes.map((line) => styled(theme, cut(line, width), "dim"))].slice(0, height);
}

const INDENT = "    ";

interface OptionLabel {
  label: string;
  index: number;
}

/** Fills each row with as many labels as fit, with a blank before and after each. */
function rowsOf(labels: readonly string[], width: number): OptionLabel[][] {
  const rows: OptionLabel[][] = [];
  let used = width;
  for (const [index, text] of labels.entries()) {
    const label = cut(text, width - 2);
    const cells = widthOf(label) + 2;
    if (used + cells > width) {
      rows.push([]);
      used = 0;
    }
    rows.at(-1)?.push({ label, index });
    used += cells;
  }
  return rows;
}

/** The control API's error for a field; an error inside a value belongs to the field that holds the value. */
export const rejectionOf = (
  field: FormField,
  fields: readonly FormField[],
  rejection: FormState["rejection"],
): string | undefined => rejection?.fields.find((error) => fieldAt(fields, error.field) === field)?.message;
