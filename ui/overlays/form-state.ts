// A form while it is filled in, and what is to be drawn of it.

import type { Call, FieldError } from "../wire/control-calls.ts";
import type { Field, Values } from "./field.ts";

/** A form that is being filled in. */
export interface Draft {
  readonly values: Values;
  readonly answers: Readonly<Record<string, unknown>>;
  /** The name of the field with the keys; the first one unless it is there. */
  readonly focus: string;
  readonly typed: string;
  readonly behind: number;
  /** The call is under way. */
  readonly busy: boolean;
  /** What the last call was refused for. */
  readonly refused: { message: string; fields: readonly FieldError[] } | undefined;
}

/** What is to be drawn of a form. */
export interface Shown {
  fields: readonly Field[];
  held: Values;
  focused: Field | undefined;
  draft: Draft;
  call: Call;
}
