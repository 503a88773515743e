// The snapshot key: save, restore or delete a snapshot of the sandbox.

import type { SnapshotsListReply } from "../../generated/control-api.ts";
import { controlCalls } from "../../src/client/control-call.ts";
import type { FormField, FormValues } from "../overlays/field.ts";
import { type Form, openForm, type Submission, submission } from "../overlays/form.ts";
import type { KeyBinding, UiState } from "../state/state.ts";
import { toOptions } from "./form-fields.ts";

const namesIn = (listed: SnapshotsListReply | undefined) => (listed?.data ?? []).map(({ name }) => name);

const form: Form<{ snapshots: SnapshotsListReply }> = {
  title: "Snapshots",
  fetch: { snapshots: controlCalls.snapshots.list() },
  fields(values, { data }) {
    const names = namesIn(data.snapshots);
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
  submission: (values, { data }) => snapshotSubmission(values, namesIn(data.snapshots)),
  confirm({ do: action, name }) {
    if (action === "restore") return `Restore ${name}? Everything since then is lost unless you save it first.`;
    return action === "delete" ? `Delete the snapshot ${name}?` : undefined;
  },
};

function snapshotSubmission({ do: action, name = "" }: FormValues, names: readonly string[]): Submission {
  const remove = controlCalls.snapshots.remove({ name });
  if (action === "delete") return submission(remove, ({ removed }) => ({ message: `Deleted ${removed}` }));
  if (action === "restore")
    return submission(controlCalls.snapshots.restore({ name }), ({ restored }) => ({
      message: `Restored ${restored}`,
      updateState: (state: UiState) => ({ ...state, undo: [] }),
    }));
  return submission(controlCalls.snapshots.save({ name }), ({ file }) => ({
    message: `Saved ${name} to ${file}`,
    // A replaced snapshot cannot be restored, so saving over one has no undo.
    ...(!names.includes(name) && { undo: remove }),
  }));
}

export const snapshotKey: KeyBinding = {
  keys: ["b"],
  label: "snapshot",
  help: "save, restore or delete a snapshot",
  run: (state) => openForm(state, form),
};
