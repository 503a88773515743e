// Draws a form in the terminal: help, fields with the options of the focused one, the sentence and the call as curl.

import { curlOf } from "../../../src/client/curl.ts";
import { plural } from "../../../src/kernel/text.ts";
import { layoutOf, textSize } from "../../state/layout.ts";
import type { UiState } from "../../state/state.ts";
import { cut, fitTo, sanitize, widthOf, wrap } from "../../text/cells.ts";
import { styled, symbols, type Theme } from "../../text/style.ts";
import { type FormField, type FormValues, fieldAt, labelOf, matchingOptions, withCaret } from "./field.ts";
import type { FormState, FormView } from "./form-view.ts";

/** The lines that Page Up and Page Down move by: as many options stay visible where the screen has room. */
export const PAGE = 9;

/** Offers the folded fields; empty if all fields are shown. */
export function moreText({ allFields, fields }: FormView): string {
  const folded = allFields.length - fields.length;
  return folded === 0 ? "" : `${plural(folded, "more field")} …`;
}

const LABEL_WIDTH = 15;

/** As many lines as the overlay has. The curl line stays at the bottom while the fields scroll. */
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
    return input === undefined ? cut(text, room) : cut(`< ${text} >`, room);
  }
  if (input === undefined) return cut(sanitize(value) || "-", room);
  if (input.isSelected && value !== "") return cut(` ${sanitize(value)} `, room);
  return cut(` ${withCaret({ value, caretFromEnd: input.caretFromEnd }, "_", Math.max(1, room - 4))} `, room);
}

/** The options around the chosen one, followed by a line that says which part of all options they are. */
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
  const isCut = options.length > height;
  const count = isCut ? Math.max(1, height - 1) : options.length;
  const top = Math.max(0, Math.min(chosen - Math.floor(count / 2), options.length - count));
  const maxLabel = options.some(({ help }) => help) ? 30 : width - 8;
  const labelWidth = Math.min(maxLabel, Math.max(...options.map((option) => widthOf(sanitize(labelOf(option))))));
  const lines = options.slice(top, top + count).map((option, index) => {
    const isChosen = top + index === chosen;
    const label = fitTo(sanitize(labelOf(option)), labelWidth);
    const help = cut(sanitize(option.help ?? ""), Math.max(0, width - labelWidth - 8));
    return (
      `    ${isChosen ? symbols(theme).cursor : " "} ${isChosen ? styled(theme, label, "bold") : label}  ` +
      `${styled(theme, help, "dim")}`
    );
  });
  const part = isCut ? [cut(`      ${top + 1}-${top + count} of ${options.length}`, width)] : [];
  return [...lines, ...part.map((line) => styled(theme, line, "dim"))].slice(0, height);
}

/** The control API's error for a field; an error inside a value belongs to the field that holds the value. */
export const rejectionOf = (
  field: FormField,
  fields: readonly FormField[],
  rejection: FormState["rejection"],
): string | undefined => rejection?.fields.find((error) => fieldAt(fields, error.field) === field)?.message;
