// The key of snapshots: the state under a name, and the way back to it.

import type { Field, Values } from "../overlays/field.ts";
import { type Context, type Form, openForm } from "../overlays/form.ts";
import type { Action, State } from "../state/state.ts";
import type { Answer, Call } from "../wire/control-calls.ts";
import { options } from "./form-defaults.ts";

const namesOf = ({ answers }: Context) =>
  ((answers.snapshots as { data: { name: string }[] } | undefined)?.data ?? []).map(({ name }) => name);

const pathOf = (name: string) => `/snapshots/${encodeURIComponent(name)}`;

const form: Form = {
  title: "Snapshots",
  asks: { snapshots: { method: "GET", path: "/snapshots" } },
  fields(values, context) {
    const names = namesOf(context);
    const act: Field = {
      name: "do",
      label: "do",
      words: names.length === 0 ? "There is none yet" : `There are ${names.join(", ")}`,
      options: options(["save", "restore", "delete"]),
    };
    const name = { name: "name", label: "name", problem: (text: string) => (text === "" ? "is required" : undefined) };
    if ((values.do ?? "save") === "save")
      return [act, { ...name, words: "Letters, digits, - and _; an earlier one of this name is replaced", first: "before" }];
    return [act, { ...name, words: "Which one: type to find it", options: options(names), free: true }];
  },
  call: snapshotCall,
  question(held) {
    if (held.do === "restore") return `Go back to ${held.name}? What happened since is gone, unless it is saved.`;
    return held.do === "delete" ? `Delete the snapshot ${held.name}?` : undefined;
  },
  done: snapshotDone,
};

function snapshotCall({ do: act, name = "" }: Values): Call {
  if (act === "restore") return { method: "POST", path: `${pathOf(name)}/restore` };
  return { method: act === "delete" ? "DELETE" : "PUT", path: pathOf(name) };
}

function snapshotDone({ body }: Answer, { do: act, name = "" }: Values, context: Context) {
  if (act === "restore") return { words: `Everything is as it was in ${name}`, after: (state: State) => ({ ...state, undo: [] }) };
  if (act === "delete") return { words: `The snapshot ${name} is deleted` };
  const replaced = namesOf(context).includes(name);
  const words = `Saved as ${name}, in ${(body as { file: string }).file}`;
  return replaced ? { words } : { words, undo: { method: "DELETE", path: pathOf(name) } as const };
}

export const snapshotKeys: readonly Action[] = [
  { keys: ["b"], label: "snapshot", words: "save the state under a name, or go back to it", run: (state: State) => openForm(state, form) },
];
