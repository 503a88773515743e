// A form as a terminal and a browser show it: its fields, their values, and the call that they make.

import type { Call } from "../../../src/client/curl.ts";
import type { FieldError } from "../../../src/kernel/errors.ts";
import type { UiState } from "../../state/state.ts";
import type { CallResult } from "../../state/updates.ts";
import { type FieldEdit, type FormField, type FormValues, fieldValue } from "./field.ts";
import type { Confirmation } from "./text-view.ts";

interface FormContext<Data> {
  state: UiState;
  /** The replies to the calls of `fetch`, by name. */
  data: Readonly<Partial<Data>>;
}

export interface Submission<Reply = unknown> {
  call: Call<Reply>;
  /** Declared as a method, so that TypeScript accepts a submission with any type of reply as a `Submission`. */
  onReply(reply: Reply): CallResult;
}

/** The type of the reply follows from the call. */
export const submission = <Reply>(call: Call<Reply>, onReply: (reply: Reply) => CallResult): Submission =>
  ({ call, onReply }) satisfies Submission<Reply>;

/** `Data` has the replies to the calls of `fetch`, by name. */
export interface Form<Data extends object = object> {
  title: string;
  fetch?: { readonly [Name in keyof Data]: Call<Data[Name]> };
  fields(values: FormValues, context: FormContext<Data>): readonly FormField[];
  /** The call that the form shows and sends, built from the state before the call. */
  submission(values: FormValues, context: FormContext<Data>): Submission;
  /** The text of the button that sends the form, a verb such as Arm. */
  verb(values: FormValues): string;
  /** A sentence that says what the call does, shown above it. Default: none. */
  sentence?(call: Call, context: FormContext<Data>): string;
  /** The question to confirm before a destructive call. */
  confirm?(values: FormValues, context: FormContext<Data>): Confirmation | undefined;
}

export interface FormState extends Readonly<Omit<FieldEdit, "value">> {
  readonly values: FormValues;
  readonly data: Readonly<Record<string, unknown>>;
  /** The name of the focused field; the first field if no field has this name. */
  readonly focus: string;
  /** A text typed into the focused field that matches none of its options; empty if it matches. */
  readonly unmatched: string;
  /** Whether rare fields without a value are shown. */
  readonly isUnfolded: boolean;
  readonly isSending: boolean;
  readonly rejection: { message: string; fields: readonly FieldError[] } | undefined;
}

/** A form with its fields, their values, the call and the handling of its reply. */
export type FormView = ReturnType<typeof viewOf>;

export function viewOf(state: UiState, form: Form, input: FormState) {
  const context = { state, data: input.data };
  const allFields = form.fields(input.values, context);
  const values = Object.fromEntries(allFields.map((field) => [field.name, fieldValue(field, input.values)]));
  const fields = allFields.filter(
    ({ name, isRare }) => !isRare || input.isUnfolded || values[name] !== "" || name === input.focus,
  );
  const focused = fields.find(({ name }) => name === input.focus) ?? fields[0];
  const submitted = form.submission(values, context);
  const sentence = form.sentence?.(submitted.call, context) ?? "";
  const verb = form.verb(values);
  const confirmation = form.confirm?.(values, context);
  return { allFields, fields, values, focused, input, sentence, verb, confirmation, ...submitted };
}
