// A field of a form: its label, its input, and its help or what is wrong with it.

import type { ComponentChildren, HTMLAttributes } from "preact";
import { type FormField, labelOf } from "../panes/overlays/field.ts";
import { WithCode } from "./shared-parts.tsx";

interface FieldProps extends Pick<HTMLAttributes<HTMLDivElement>, "onFocusIn" | "onClick"> {
  field: FormField;
  id: string;
  value: string;
  onWrite(text: string): void;
  /** Shown instead of the help. */
  problem?: string | undefined;
  isRequired?: boolean | undefined;
  /** The height of an input for several lines. Default: an input for one line. */
  rows?: number;
  /** Shown below the help. */
  children?: ComponentChildren;
}

export function Field({ field, id, value, onWrite, problem, isRequired, rows, children, ...events }: FieldProps) {
  const { options, label, name } = field;
  const help = options?.find((option) => option.value === value)?.help || field.help;
  return (
    <div class="field" {...events}>
      <label for={id}>
        {label ?? name}
        {isRequired && <span class="red"> *</span>}
      </label>
      <div>
        <Input {...{ field, id, value, onWrite, problem, isRequired, rows }} />
        <p class={problem === undefined ? "hint" : "problem"} id={`${id}-help`}>
          {problem ?? <WithCode text={help} />}
        </p>
        {children}
      </div>
    </div>
  );
}

/** A list to choose from; an input with suggestions where other text is accepted too; otherwise an input. */
function Input({ field, id, value, onWrite, problem, isRequired, rows }: FieldProps) {
  const { options, allowOther, name } = field;
  const onInput = ({ currentTarget }: { currentTarget: { value: string } }) => onWrite(currentTarget.value);
  const common = {
    id,
    name,
    value,
    required: isRequired,
    "aria-invalid": problem !== undefined,
    "aria-describedby": `${id}-help`,
  };
  const text = {
    ...common,
    placeholder: field.fallback ?? "",
    autocomplete: "off",
    spellcheck: false,
    onInput,
  } as const;
  if (rows !== undefined) return <textarea {...text} rows={rows} />;
  const choices = options?.map((option) => (
    <option key={option.value} value={option.value}>
      {labelOf(option)}
    </option>
  ));
  if (choices && !allowOther)
    return (
      <select {...common} onChange={onInput}>
        {choices}
      </select>
    );
  return (
    <>
      <input {...text} list={options && `${id}-options`} />
      {choices && <datalist id={`${id}-options`}>{choices}</datalist>}
    </>
  );
}
