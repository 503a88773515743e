// A form: fields under keys, the call that they come to, and what became of it. One engine for every control that asks for something.

import {
  type Action,
  also,
  type Effect,
  just,
  laid,
  lifted,
  type Overlay,
  overlayOf,
  relaid,
  type State,
  type Step,
  say,
} from "../state/state.ts";
import { type Answer, type Call, curlOf, type FieldError, refusalOf } from "../wire/control-calls.ts";
import { confirm } from "./confirm.ts";
import { type Field, fieldAt, heldIn, problemOf, type Values, written } from "./field.ts";
import type { Draft, Shown } from "./form-state.ts";
import { formLines } from "./form-view.ts";

/** What a form knows beside what is written in it. */
export interface Context {
  /** For what is said of an answer: as it was when the call was made. */
  state: State;
  /** Of what was asked when it was opened, by name. */
  answers: Readonly<Record<string, unknown>>;
}

/** What is to be said and kept when the call was made. */
export interface Outcome {
  words: string;
  undo?: Call;
  copy?: string;
  after?(state: State): State;
}

export interface Form {
  title: string;
  asks?: Readonly<Record<string, Call>>;
  fields(values: Values, context: Context): readonly Field[];
  /** Made of what the fields hold now. */
  call(held: Values, context: Context): Call;
  /** The question to ask first, where something is destroyed. */
  question?(held: Values): string | undefined;
  done(answer: Answer, held: Values, context: Context): Outcome;
}

interface FormOverlay extends Overlay {
  readonly id: symbol;
  readonly form: Form;
  readonly draft: Draft;
}

/** Lays a form over the panes. `values` stand in it already; `effects` fetch what it offers. */
export function openForm(state: State, form: Form, values: Values = {}, effects: readonly Effect[] = []): Step {
  const id = Symbol(form.title);
  const draft: Draft = { values, answers: {}, focus: "", typed: "", behind: 0, busy: false, refused: undefined };
  const asks = Object.entries(form.asks ?? {}).map(([name, call]): Effect => {
    const done = (later: State, { body }: Answer) =>
      just(redrafted(later, id, (before) => ({ ...before, answers: { ...before.answers, [name]: body } })));
    return { kind: "call", call, done };
  });
  return also(laid(state, made(id, form, draft)), ...effects, ...asks);
}

const made = (id: symbol, form: Form, draft: Draft): FormOverlay => ({
  id,
  form,
  draft,
  title: form.title,
  scroll: 0,
  lines: (state, width) => formLines(shownOf(state, form, draft), state, width),
  actions: KEYS,
  type: (state, key) => typedKey(state, key),
});

export function shownOf(state: State, form: Form, draft: Draft): Shown {
  const context = { state, answers: draft.answers };
  const fields = form.fields(draft.values, context);
  const held = heldBy(fields, draft.values);
  const focused = fields.find(({ name }) => name === draft.focus) ?? fields[0];
  return { fields, held, focused, draft, call: form.call(held, context) };
}

const heldBy = (fields: readonly Field[], values: Values): Values =>
  Object.fromEntries(fields.map((field) => [field.name, heldIn(field, values)]));

const formOf = (state: State) => overlayOf(state) as FormOverlay;

const shownNow = (state: State): Shown => shownOf(state, formOf(state).form, formOf(state).draft);

/** The form under this id may have been left meanwhile. */
function redrafted(state: State, id: symbol, change: (draft: Draft) => Draft): State {
  const overlays = state.overlays.map((overlay) => {
    const form = overlay as Partial<FormOverlay> & Overlay;
    return form.id === id && form.form && form.draft ? made(id, form.form, change(form.draft)) : overlay;
  });
  return { ...state, overlays };
}

const changed = (state: State, change: Partial<Draft>): Step =>
  just(relaid(state, made(formOf(state).id, formOf(state).form, { ...formOf(state).draft, ...change })));

const PAGE = 5;

const KEYS: readonly Action[] = [
  { keys: ["enter"], label: "do it", words: "make the call that stands at the bottom", run: entered },
  { keys: ["tab", "down"], label: "next", words: "the next field", run: (state) => focused(state, 1) },
  { keys: ["shift-tab", "up"], words: "the field before", run: (state) => focused(state, -1) },
  { keys: ["pagedown"], words: "some fields down", run: (state) => focused(state, PAGE, false) },
  { keys: ["pageup"], words: "some fields up", run: (state) => focused(state, -PAGE, false) },
  { keys: ["ctrl-y"], label: "copy curl", words: "copy the call as curl, without making it", run: copied },
  { keys: ["escape"], words: "leave the form", run: (state) => just(lifted(state)) },
];

function typedKey(state: State, key: string): Step | undefined {
  const action = KEYS.find(({ keys }) => keys.includes(key));
  if (action) return action.run(state);
  const { focused: field, held, draft } = shownNow(state);
  const next = field && written(field, { value: held[field.name] ?? "", typed: draft.typed, behind: draft.behind }, key);
  if (!field || !next) return undefined;
  const { value, typed, behind } = next;
  return changed(state, { values: { ...draft.values, [field.name]: value }, focus: field.name, typed, behind });
}

function focused(state: State, by: number, turns = true): Step {
  const { fields, focused: field } = shownNow(state);
  const to = fields.findIndex(({ name }) => name === field?.name) + by;
  const index = turns ? (to + fields.length) % fields.length : Math.max(0, Math.min(fields.length - 1, to));
  return changed(state, { focus: fields[index]?.name ?? "", typed: "", behind: 0 });
}

function copied(state: State): Step {
  return also(say(state, "Copied as curl"), { kind: "copy", text: curlOf(state.target, shownNow(state).call) });
}

/** Makes the call, unless a field is wrong by its own form or one is under way. */
function entered(state: State): Step {
  const { fields, held, call, draft } = shownNow(state);
  if (draft.busy) return just(say(state, "The call is under way …", "dim"));
  const wrong = fields.find((field) => problemOf(field, held) !== undefined);
  if (wrong) {
    const { state: moved } = changed(state, { focus: wrong.name, typed: "", behind: 0 });
    return just(say(moved, `${wrong.label} ${problemOf(wrong, held)}`, "red"));
  }
  const question = formOf(state).form.question?.(held);
  return question === undefined ? sent(state) : just(laid(state, confirm(question, call, sent)));
}

function sent(state: State): Step {
  const { id, form } = formOf(state);
  const { call, held, fields, draft } = shownNow(state);
  // As it was before the call: what it changes may be heard of sooner than its answer.
  const context = { state, answers: draft.answers };
  const { state: waiting } = changed(state, { busy: true, refused: undefined });
  const refused = (later: State, message: string, errors: readonly FieldError[]): Step => {
    const wrong = fieldAt(fields, errors[0]?.field ?? "");
    const there = wrong ? { focus: wrong.name, typed: "", behind: 0 } : {};
    const told = redrafted(later, id, (draft) => ({ ...draft, ...there, busy: false, refused: { message, fields: errors } }));
    return just(say(told, message, "red"));
  };
  const done = (later: State, answer: Answer): Step => {
    if (answer.status < 400) return finished(later, id, form.done(answer, held, context), call);
    const refusal = refusalOf(call, answer);
    return refused(later, refusal.message, refusal.fields);
  };
  const remembered = { ...say(waiting, `${call.method} ${call.path} …`, "dim"), lastCall: call };
  return also(remembered, { kind: "call", call, done, failed: refused });
}

function finished(state: State, id: symbol, { words, undo, copy, after = (same) => same }: Outcome, call: Call): Step {
  const left = { ...state, lastCall: call, overlays: state.overlays.filter((overlay) => (overlay as Partial<FormOverlay>).id !== id) };
  const kept = undo ? { ...left, undo: [...left.undo, { what: words, call: undo }] } : left;
  const effects: Effect[] = [{ kind: "refresh" }, ...(copy === undefined ? [] : [{ kind: "copy", text: copy } as const])];
  return also(say(after(kept), words), ...effects);
}
