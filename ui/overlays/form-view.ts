// How a form looks: its fields with the options of the one that has the keys, what is wrong, and the call that it comes to, in the room there is.

import { layoutOf } from "../layout.ts";
import type { State } from "../state/state.ts";
import { cut, fill, harmless, widthOf, wrap } from "../terminal/cells.ts";
import { type Look, signs, tint } from "../terminal/style.ts";
import { curlOf, type FieldError } from "../wire/control-calls.ts";
import { type Field, fieldAt, labelOf, narrowed, problemOf, type Values } from "./field.ts";
import type { Shown } from "./form-state.ts";

const LABEL = 15;
/** The border above and below. */
const BORDER = 2;
const MOST_OPTIONS = 9;

/** How many lines there are for what lies over the panes. */
const roomOf = (state: State) => Math.max(1, layoutOf(state).overlay.height - BORDER);

/** Exactly as many lines as there is room for: the call stands at the bottom, whatever is scrolled above. */
export function formLines(shown: Shown, state: State, width: number): string[] {
  const room = roomOf(state);
  const foot = footLines(shown, state, width, Math.max(1, Math.floor(room * 0.5)));
  const head = wordLine(shown, state.look, width);
  const body = fieldLines(shown, state.look, width, Math.max(1, room - foot.length - 1));
  const gap = Math.max(0, room - body.length - 1 - foot.length);
  return [head, ...body, ...Array<string>(gap).fill(""), ...foot];
}

/** What the field with the keys means. */
function wordLine({ focused, draft }: Shown, look: Look, width: number): string {
  const words = draft.busy ? "The call is under way …" : (focused?.words ?? "Asking the sandbox …");
  return tint(look, cut(harmless(words), width), "dim");
}

function footLines({ draft, fields, call }: Shown, state: State, width: number, most: number): string[] {
  const { look, target } = state;
  const general = draft.refused && !fields.some((field) => refusalOfField(field, fields, draft.refused?.fields ?? []));
  const said = draft.refused && (general || most > 5) ? wrap(harmless(draft.refused.message), width).slice(0, 2) : [];
  const curl = wrap(harmless(curlOf(target, call)), width);
  const room = Math.max(1, most - said.length);
  const kept = curl.length > room ? [...curl.slice(0, room - 1), cut(`${curl[room - 1] ?? ""} `, width)] : curl;
  return [...said.map((line) => tint(look, line, "red")), ...kept.map((line) => tint(look, line, "cyan"))];
}

/** The fields, scrolled so that the one with the keys and its options are seen. */
function fieldLines(shown: Shown, look: Look, width: number, room: number): string[] {
  const { fields, focused } = shown;
  const options = focused ? optionLines(shown, focused, { look, width, room: Math.min(MOST_OPTIONS, Math.max(0, room - 2)) }) : [];
  const at = Math.max(0, focused ? fields.indexOf(focused) : 0);
  const lines = fields.map((field) => fieldLine(shown, field, look, width));
  const all = [...lines.slice(0, at + 1), ...options, ...lines.slice(at + 1)];
  const top = Math.max(0, Math.min(at - 1, all.length - room), at + options.length + 1 - room);
  return all.slice(top, top + room);
}

function fieldLine({ focused, held, draft, fields }: Shown, field: Field, look: Look, width: number): string {
  const isFocused = field === focused;
  const wrong = problemOf(field, held) ?? refusalOfField(field, fields, draft.refused?.fields ?? []);
  const label = `${isFocused ? signs(look).cursor : " "} ${fill(field.label, LABEL)} `;
  const room = width - widthOf(label);
  const note = wrong === undefined ? "" : cut(` ${signs(look).bad} ${harmless(wrong)}`, Math.max(0, Math.floor(room * 0.7)));
  const value = valueText(field, held, isFocused ? draft.behind : undefined, room - widthOf(note));
  const drawn = isFocused ? tint(look, value, "inverse") : value;
  return `${isFocused ? tint(look, label, "bold") : label}${drawn}${tint(look, note, "red")}`;
}

/** What a field holds; while text is written, with the caret in it. */
function valueText(field: Field, held: Values, behind: number | undefined, room: number): string {
  const value = held[field.name] ?? "";
  if (field.options) {
    const option = field.options.find((one) => one.value === value);
    const text = harmless(option ? labelOf(option) : value);
    return behind === undefined ? cut(text, room) : cut(`< ${text} >`, room);
  }
  if (behind === undefined) return cut(harmless(value) || "-", room);
  const letters = [...value];
  const caret = Math.max(0, letters.length - behind);
  const before = harmless(letters.slice(0, caret).join(""));
  const after = harmless(letters.slice(caret).join(""));
  const over = Math.max(0, widthOf(before) - Math.max(1, room - 4));
  return cut(` ${[...before].slice(over).join("")}_${after} `, room);
}

interface Room {
  look: Look;
  width: number;
  room: number;
}

/** Some of the options, around the one that is chosen. */
function optionLines({ held, draft }: Shown, field: Field, { look, width, room }: Room): string[] {
  const options = narrowed(field, draft.typed);
  if (options.length < 2) return [];
  const at = options.findIndex(({ value }) => value === held[field.name]);
  const seen = Math.min(room, options.length);
  const top = Math.max(0, Math.min(at - Math.floor(seen / 2), options.length - seen));
  const most = options.some(({ words }) => words) ? 30 : width - 8;
  const label = Math.min(most, Math.max(...options.map((option) => widthOf(harmless(labelOf(option))))));
  return options.slice(top, top + seen).map((option, index) => {
    const isChosen = top + index === at;
    const name = fill(harmless(labelOf(option)), label);
    const words = cut(harmless(option.words ?? ""), Math.max(0, width - label - 8));
    return `    ${isChosen ? signs(look).cursor : " "} ${isChosen ? tint(look, name, "bold") : name}  ${tint(look, words, "dim")}`;
  });
}

/** What the control plane said of a field; of one inside a value, to the field that holds the value. */
const refusalOfField = (field: Field, fields: readonly Field[], errors: readonly FieldError[]): string | undefined =>
  errors.find((error) => fieldAt(fields, error.field) === field)?.message;
