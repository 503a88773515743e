// Forms: every key that asks for input opens one. A form turns its fields into one call, shows and sends it, and
// applies the result.

import { type Call, curlOf } from "../../../src/client/curl.ts";
import type { HttpReply } from "../../../src/client/http-transport.ts";
import type { FieldError } from "../../../src/kernel/errors.ts";
import { refusalOf } from "../../connection/calls.ts";
import type { Effect, KeyBinding, Overlay, StateUpdate, UiState } from "../../state/state.ts";
import {
  callEffect,
  closeTopOverlay,
  copyText,
  finishCall,
  openOverlay,
  startCall,
  topOverlay,
  update,
  withNotice,
} from "../../state/updates.ts";
import { editField, type FieldEdit, type FormField, type FormValues, fieldAt, stepOption, textOf } from "./field.ts";
import { formLines, PAGE, unmatchedText } from "./form-lines.ts";
import { type Form, type FormState, type FormView, viewOf } from "./form-view.ts";
import { confirm } from "./text-view.ts";

interface FormOverlay extends Overlay {
  readonly id: symbol;
  readonly form: Form;
  readonly input: FormState;
}

/** Opens a form. `values` prefill its fields; `effects` fetch cached lookups that it uses. */
export function openForm(
  state: UiState,
  form: Form,
  values: FormValues = {},
  effects: readonly Effect[] = [],
): StateUpdate {
  const id = Symbol(form.title);
  const input: FormState = {
    values,
    data: {},
    ...focusOn(""),
    isUnfolded: false,
    isSending: false,
    rejection: undefined,
  };
  const fetches = Object.entries<Call>({ ...form.fetch }).map(([name, call]) =>
    callEffect(call, (later, { body }) =>
      update(changeForm(later, id, (before) => ({ ...before, data: { ...before.data, [name]: body } }))),
    ),
  );
  return update(openOverlay(state, formOverlay(id, form, input)), ...effects, ...fetches);
}

const formOverlay = (id: symbol, form: Form, input: FormState): FormOverlay => ({
  id,
  form,
  input,
  title: form.title,
  lines: (state, width) => formLines(viewOf(state, form, input), state, width),
  keys: KEYS,
  onKey: handleFormKey,
});

export const isForm = (overlay: Overlay | undefined): overlay is FormOverlay =>
  overlay !== undefined && "form" in overlay;

/** Sets the value of a field in the topmost form, as when a user types into an input of the page. */
export function writeField(state: UiState, field: FormField, value: string): StateUpdate {
  return update(withEdit(state, field, { value, search: "", caretFromEnd: 0, isSelected: false }));
}

export const focusField = (state: UiState, { name }: FormField): StateUpdate =>
  update(topForm(state).input.focus === name ? state : changeTopForm(state, focusOn(name)));

const topForm = (state: UiState) => topOverlay(state) as FormOverlay;

export const topFormView = (state: UiState): FormView => viewOf(state, topForm(state).form, topForm(state).input);

function changeForm(state: UiState, id: symbol, change: (input: FormState) => FormState): UiState {
  const changed = (overlay: Overlay) =>
    isForm(overlay) && overlay.id === id ? formOverlay(id, overlay.form, change(overlay.input)) : overlay;
  return { ...state, overlays: state.overlays.map(changed) };
}

const changeTopForm = (state: UiState, change: Partial<FormState>): UiState =>
  changeForm(state, topForm(state).id, (input) => ({ ...input, ...change }));

const focusOn = (name: string) => ({ focus: name, search: "", unmatched: "", caretFromEnd: 0, isSelected: true });

const KEYS: readonly KeyBinding[] = [
  {
    keys: ["enter"],
    label: (state) => topFormView(state).verb.toLowerCase(),
    help: "send the call shown at the bottom",
    run: submit,
  },
  { keys: ["right"], label: "choose", help: "next option", isEnabled: hasOptions, run: (state) => choose(state, 1) },
  { keys: ["left"], help: "previous option", isEnabled: hasOptions, run: (state) => choose(state, -1) },
  { keys: ["pagedown"], help: `${PAGE} options or fields down`, run: (state) => turnPage(state, 1) },
  { keys: ["pageup"], help: `${PAGE} options or fields up`, run: (state) => turnPage(state, -1) },
  {
    keys: ["down", "tab"],
    label: "next field",
    help: "next field",
    isEnabled: (state) => topFormView(state).fields.length > 1,
    run: (state) => moveFocus(state, 1),
  },
  { keys: ["up", "shift-tab"], help: "previous field", run: (state) => moveFocus(state, -1) },
  {
    keys: ["ctrl-o"],
    label: "more",
    help: "show the rare fields, or fold those without a value",
    isEnabled: (state) => topFormView(state).allFields.some(({ isRare }) => isRare),
    run: unfold,
  },
  {
    keys: ["ctrl-y"],
    label: "copy curl",
    help: "copy the call as curl without sending it",
    run: (state) => copyText(state, curlOf(state.target, topFormView(state).call), "the call as curl"),
  },
  { keys: ["escape"], help: "close the form", run: (state) => update(closeTopOverlay(state)) },
];

/** Edits the focused field. Keys that edit nothing are left to the bindings in `KEYS`. */
function handleFormKey(state: UiState, key: string): StateUpdate | undefined {
  const { focused, values, input } = topFormView(state);
  if (!focused) return undefined;
  if (input.unmatched !== "" && key === "backspace") {
    const unmatched = [...input.unmatched].slice(0, -1).join("");
    return update(changeTopForm(state, { unmatched: unmatched === input.search ? "" : unmatched }));
  }
  const text = textOf(key);
  if (input.unmatched !== "" && text !== undefined) return refuseText(state, focused, input.unmatched + text);
  const edit = editField(focused, { ...input, value: values[focused.name] ?? "" }, key);
  if (!edit) return undefined;
  if (edit === "refused") return refuseText(state, focused, `${input.search}${text}`);
  return update(withEdit(state, focused, edit));
}

/** Keeps a text that matches no option, so that Enter does not send the option that was chosen before. */
function refuseText(
  state: UiState,
  field: FormField,
  unmatched: string,
  style: "yellow" | "failure" = "yellow",
): StateUpdate {
  const refused = changeTopForm(state, { unmatched });
  return update(withNotice(refused, unmatchedText(field, unmatched), style), { kind: "bell" });
}

function withEdit(state: UiState, { name }: FormField, { value, ...edit }: FieldEdit): UiState {
  const { search, caretFromEnd, isSelected } = edit;
  return changeTopForm(state, {
    values: { ...topForm(state).input.values, [name]: value },
    focus: name,
    search,
    unmatched: "",
    caretFromEnd,
    isSelected,
  });
}

function hasOptions(state: UiState): boolean {
  return (topFormView(state).focused?.options ?? []).length > 1;
}

/** Chooses the option that comes `by` options after the selected one. At the ends, the choice wraps around or stops. */
function choose(state: UiState, by: number, atEnd: "wrap" | "stop" = "wrap"): StateUpdate {
  const { focused, values, input } = topFormView(state);
  if (!focused) return update(state);
  const edit = { ...input, value: values[focused.name] ?? "" };
  const value = stepOption(focused, edit, by, atEnd);
  return update(value === undefined ? state : withEdit(state, focused, { ...edit, value }));
}

const turnPage = (state: UiState, direction: 1 | -1): StateUpdate =>
  hasOptions(state) ? choose(state, direction * PAGE, "stop") : moveFocus(state, direction * PAGE, "stop");

/**
 * Unfolds the rare fields and focuses the first of them, because it may be below the screen. If they are unfolded,
 * folds them.
 */
function unfold(state: UiState): StateUpdate {
  const { allFields, fields, input } = topFormView(state);
  const rare = allFields.find((field) => !fields.includes(field));
  return update(changeTopForm(state, { isUnfolded: !input.isUnfolded, ...(rare && focusOn(rare.name)) }));
}

function moveFocus(state: UiState, by: number, atEnd: "wrap" | "stop" = "wrap"): StateUpdate {
  const { fields, focused, input } = topFormView(state);
  if (focused && input.unmatched !== "") return refuseText(state, focused, input.unmatched);
  const to = fields.findIndex(({ name }) => name === focused?.name) + by;
  const index = atEnd === "wrap" ? (to + fields.length) % fields.length : Math.max(0, Math.min(fields.length - 1, to));
  return update(changeTopForm(state, focusOn(fields[index]?.name ?? "")));
}

function submit(state: UiState): StateUpdate {
  const { call, input, confirmation, focused } = topFormView(state);
  if (focused && input.unmatched !== "") return refuseText(state, focused, input.unmatched, "failure");
  if (input.isSending) return update(withNotice(state, "Sending …", "dim"));
  return confirmation === undefined ? send(state) : update(openOverlay(state, confirm(confirmation, call, send)));
}

function send(state: UiState): StateUpdate {
  const { id } = topForm(state);
  // Built from the state before the call, because the stream may report the change before the reply arrives.
  const { call, allFields, onReply } = topFormView(state);
  const reject = (later: UiState, message: string, errors: readonly FieldError[]): StateUpdate => {
    const invalid = fieldAt(allFields, errors[0]?.field ?? "");
    const focus = invalid ? focusOn(invalid.name) : {};
    const rejected = changeForm(later, id, (before) => ({
      ...before,
      ...focus,
      isSending: false,
      rejection: { message, fields: errors },
    }));
    return update(withNotice(rejected, message, "failure"));
  };
  const apply = (later: UiState, reply: HttpReply): StateUpdate => {
    if (reply.status < 400)
      return finishCall(later, call, onReply(reply.body), {
        close: (one) => ({ ...one, overlays: one.overlays.filter((overlay) => !isForm(overlay) || overlay.id !== id) }),
        reject: (one, message) => reject(one, message, []),
      });
    const refusal = refusalOf(call, reply);
    return reject(later, refusal.message, refusal.fields);
  };
  const sending = startCall(changeTopForm(state, { isSending: true, rejection: undefined }), call);
  return update(sending, callEffect(call, apply, reject));
}
