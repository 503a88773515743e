// A form of the dashboard: its fields as inputs, why it was rejected, and the call that it sends as curl.

import { useEffect, useRef } from "preact/hooks";
import { curlOf } from "../../src/client/curl.ts";
import type { FormField } from "../panes/overlays/field.ts";
import { focusField, topFormView, writeField } from "../panes/overlays/form.ts";
import { moreText, rejectionOf } from "../panes/overlays/form-lines.ts";
import type { FormView } from "../panes/overlays/form-view.ts";
import { sanitizeLines } from "../text/cells.ts";
import type { DashboardProps } from "./browser-dashboard.ts";
import { Field } from "./form-field.tsx";
import { CHOICE_KEYS } from "./keyboard.ts";

export function FormDialog({ dashboard }: DashboardProps) {
  const { state } = dashboard;
  const form = useRef<HTMLFormElement>(null);
  const view = topFormView(state);
  const { fields, input, call, sentence, verb } = view;
  // A rejected field gets the focus.
  useEffect(() => {
    if (input.rejection) form.current?.querySelector<HTMLElement>(`[name="${CSS.escape(input.focus)}"]`)?.focus();
  }, [input.rejection]);
  const onSubmit = (event: SubmitEvent) => {
    event.preventDefault();
    dashboard.press("enter");
  };
  const isGeneral = input.rejection && !fields.some((field) => rejectionOf(field, fields, input.rejection));
  return (
    <form ref={form} class="form" onSubmit={onSubmit} noValidate>
      <div class="fields">
        {fields.length === 0 && <p class="hint">Loading …</p>}
        {fields.map((field) => (
          <DialogField key={field.name} dashboard={dashboard} view={view} field={field} />
        ))}
        {moreText(view) !== "" && (
          <button type="button" onClick={() => dashboard.press("ctrl-o")}>
            {moreText(view)}
          </button>
        )}
        {isGeneral && <p class="problem">{input.rejection?.message}</p>}
      </div>
      {sentence !== "" && <p class="sentence">{sentence}</p>}
      <pre class="curl" tabIndex={0}>
        {sanitizeLines(curlOf(state.target, call))}
      </pre>
      <div class="actions">
        <button type="submit" class="primary" disabled={input.isSending}>
          {input.isSending ? "Sending …" : verb}
        </button>
        <button type="button" onClick={() => dashboard.press("ctrl-y")}>
          Copy curl
        </button>
      </div>
    </form>
  );
}

function DialogField({ dashboard, view, field }: DashboardProps & { view: FormView; field: FormField }) {
  const { values, fields, input } = view;
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
    <Field
      field={field}
      id={`field-${field.name}`}
      value={values[field.name] ?? ""}
      problem={rejectionOf(field, fields, input.rejection)}
      onWrite={(text) => dashboard.change((before) => writeField(before, field, text))}
      onFocusIn={focus}
      onClick={selectNew}
      data-keys={field.options && !field.allowOther ? CHOICE_KEYS : "escape"}
    />
  );
}
