// A form of the dashboard: its fields as inputs, why it was rejected, and the call that it sends as curl.

import { useEffect, useRef } from "preact/hooks";
import { curlOf } from "../connection/calls.ts";
import { defaultOf, type FormField, labelOf } from "../overlays/field.ts";
import { type FormView, focusField, rejectionOf, topFormView, writeField } from "../overlays/form.ts";
import { sanitizeLines } from "../view/cells.ts";
import type { BrowserDashboard, DashboardProps } from "./browser-dashboard.ts";
import { keyName } from "./keyboard.ts";

export function FormDialog({ dashboard }: DashboardProps) {
  const { state } = dashboard;
  const form = useRef<HTMLFormElement>(null);
  const view = topFormView(state);
  const { fields, input, call } = view;
  // A rejected field gets the focus.
  useEffect(() => {
    if (input.rejection) form.current?.querySelector<HTMLElement>(`[name="${CSS.escape(input.focus)}"]`)?.focus();
  }, [input.rejection]);
  const onSubmit = (event: SubmitEvent) => {
    event.preventDefault();
    dashboard.press("enter");
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key !== "Escape") return;
    event.preventDefault();
    dashboard.press("escape");
  };
  const isGeneral = input.rejection && !fields.some((field) => rejectionOf(field, fields, input.rejection));
  return (
    <form ref={form} class="form" onSubmit={onSubmit} onKeyDown={onKeyDown} noValidate>
      <div class="fields">
        {fields.length === 0 && <p class="hint">Loading …</p>}
        {fields.map((field) => (
          <Field key={field.name} dashboard={dashboard} view={view} field={field} />
        ))}
        {isGeneral && <p class="problem">{input.rejection?.message}</p>}
      </div>
      <pre class="curl">{sanitizeLines(curlOf(state.target, call))}</pre>
      <div class="actions">
        <button type="submit" class="primary" disabled={input.isSending}>
          {input.isSending ? "Sending …" : "Send"}
        </button>
        <button type="button" onClick={() => dashboard.press("ctrl-y")}>
          Copy curl
        </button>
      </div>
    </form>
  );
}

function Field({ dashboard, view, field }: DashboardProps & { view: FormView; field: FormField }) {
  const { values, fields, input } = view;
  const value = values[field.name] ?? "";
  const problem = rejectionOf(field, fields, input.rejection);
  const id = `field-${field.name}`;
  const write = (text: string) => dashboard.change((before) => writeField(before, field, text));
  const isNew = useRef(false);
  const focus = () => {
    isNew.current = true;
    dashboard.change((before) => focusField(before, field));
  };
  // Selects the value of a field that a click has just reached, as Tab does, so that typing replaces it.
  const selectNew = ({ target }: MouseEvent) => {
    if (isNew.current && target instanceof HTMLInputElement) target.select();
    isNew.current = false;
  };
  return (
    <div class="field" onFocusIn={focus} onClick={selectNew} onKeyDown={(event) => chooseByKey(event, dashboard)}>
      <label for={id}>{field.label ?? field.name}</label>
      <div>
        <FieldInput field={field} id={id} value={value} isInvalid={problem !== undefined} onWrite={write} />
        <p class={problem === undefined ? "hint" : "problem"} id={`${id}-help`}>
          {problem ?? helpOf(field, value)}
        </p>
      </div>
    </div>
  );
}

/** Handles the keys that search a list as in the terminal, because the browser searches only the beginnings of labels. */
function chooseByKey(event: KeyboardEvent, dashboard: BrowserDashboard): void {
  const key = keyName(event);
  const isChosen = key !== undefined && ([...key].length === 1 || ["left", "right", "backspace", "enter"].includes(key));
  if (!isChosen || !(event.target instanceof HTMLSelectElement)) return;
  event.preventDefault();
  dashboard.press(key);
}

/** The help of the chosen option, or else of the field. */
const helpOf = (field: FormField, value: string) => field.options?.find((option) => option.value === value)?.help || field.help;

interface FieldInputProps {
  field: FormField;
  id: string;
  value: string;
  isInvalid: boolean;
  onWrite(text: string): void;
}

/** A list to choose from; an input with suggestions where other text is accepted too; otherwise an input. */
function FieldInput({ field, id, value, isInvalid, onWrite }: FieldInputProps) {
  const { options, allowOther, name } = field;
  const common = { id, name, value, "aria-invalid": isInvalid, "aria-describedby": `${id}-help` };
  const choices = options?.map((option) => (
    <option key={option.value} value={option.value}>
      {labelOf(option)}
    </option>
  ));
  if (choices && !allowOther)
    return (
      <select {...common} onChange={({ currentTarget }) => onWrite(currentTarget.value)}>
        {choices}
      </select>
    );
  return (
    <>
      <input
        {...common}
        list={options && `${id}-options`}
        placeholder={defaultOf(field) ?? ""}
        autocomplete="off"
        spellcheck={false}
        onInput={({ currentTarget }) => onWrite(currentTarget.value)}
      />
      {choices && <datalist id={`${id}-options`}>{choices}</datalist>}
    </>
  );
}
