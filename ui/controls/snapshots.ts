// The snapshot key: save, restore or delete a snapshot of the sandbox.

import { controlCalls } from "../../src/client/control-call.ts";
import type { Snapshot, SnapshotsListReply } from "../../src/client/control-plane.generated.ts";
import type { FormField, FormValues } from "../overlays/field.ts";
import { type Form, type FormContext, type FormResult, openForm } from "../overlays/form.ts";
import type { KeyBinding } from "../state/state.ts";
import type { Answer, Call } from "../wire/control-calls.ts";
import { toOptions } from "./form-defaults.ts";

const snapshotNames = ({ data }: FormContext) => ((data.snapshots as SnapshotsListReply | undefined)?.data ?? []).map(({ name }) => name);

const form: Form = {
  title: "Snapshots",
  fetch: { snapshots: controlCalls.snapshots.list() },
  fields(values, context) {
    const names = snapshotNames(context);
    const action: FormField = {
      name: "do",
      label: "action",
      help: names.length === 0 ? "No snapshots yet" : `Snapshots: ${names.join(", ")}`,
      options: toOptions(["save", "restore", "delete"]),
    };
    const name = { name: "name", label: "name", validate: (text: string) => (text === "" ? "is required" : undefined) };
    if ((values.do ?? "save") === "save")
      return [action, { ...name, help: "Letters, digits, - and _; replaces a snapshot of the same name", initial: "before" }];
    return [action, { ...name, help: "Type to search", options: toOptions(names), allowOther: true }];
  },
  call: snapshotCall,
  confirm({ do: action, name }) {
    if (action === "restore") return `Restore ${name}? Everything since then is lost unless you save it first.`;
    return action === "delete" ? `Delete the snapshot ${name}?` : undefined;
  },
  onReply: snapshotResult,
};

function snapshotCall({ do: action, name = "" }: FormValues): Call {
  if (action === "restore") return controlCalls.snapshots.restore({ name });
  return action === "delete" ? controlCalls.snapshots.remove({ name }) : controlCalls.snapshots.save({ name });
}

function snapshotResult({ body }: Answer, { do: action, name = "" }: FormValues, context: FormContext): FormResult {
  if (action === "restore") return { message: `Restored ${name}`, updateState: (state) => ({ ...state, undo: [] }) };
  if (action === "delete") return { message: `Deleted ${name}` };
  const message = `Saved ${name} to ${(body as Snapshot).file}`;
  const isReplaced = snapshotNames(context).includes(name);
  return isReplaced ? { message } : { message, undo: controlCalls.snapshots.remove({ name }) };
}

export const snapshotKey: KeyBinding = {
  keys: ["b"],
  label: "snapshot",
  help: "save, restore or delete a snapshot",
  run: (state) => openForm(state, form),
};
