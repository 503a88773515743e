// The snapshot key: save, restore or delete a snapshot of the sandbox.

import type { SnapshotsListReply } from "../../generated/control-api.ts";
import { controlCalls } from "../../src/client/control-call.ts";
import type { FormValues } from "../overlays/field.ts";
import { type Form, openForm, type Submission, submission } from "../overlays/form.ts";
import type { KeyBinding } from "../state/state.ts";
import { toOptions, withoutUndo } from "./form-fields.ts";

const form: Form<{ snapshots: SnapshotsListReply }> = {
  title: "Snapshots",
  fetch: { snapshots: controlCalls.snapshots.list() },
  fields({ do: action = "save" }, { data }) {
    const names = namesIn(data.snapshots);
    const help = names.length === 0 ? "No snapshots yet" : `Snapshots: ${names.join(", ")}`;
    return [
      { name: "do", label: "action", help, options: toOptions(["save", "restore", "delete"]) },
      action === "save"
        ? { name: "name", help: "Letters, digits, - and _; replaces a snapshot of the same name", initial: "before" }
        : { name: "name", help: "Type to search", options: toOptions(names), allowOther: true },
    ];
  },
  submission: (values, { data }) => snapshotSubmission(values, namesIn(data.snapshots)),
  confirm({ do: action, name }) {
    if (action === "restore") return `Restore ${name}? Everything since then is lost unless you save it first.`;
    return action === "delete" ? `Delete the snapshot ${name}?` : undefined;
  },
};

const namesIn = (listed: SnapshotsListReply | undefined) => (listed?.data ?? []).map(({ name }) => name);

function snapshotSubmission({ do: action, name = "" }: FormValues, names: readonly string[]): Submission {
  const remove = controlCalls.snapshots.remove({ name });
  if (action === "delete") return submission(remove, ({ removed }) => ({ message: `Deleted ${removed}` }));
  if (action === "restore")
    return submission(controlCalls.snapshots.restore({ name }), ({ restored }) => ({
      message: `Restored ${restored}`,
      updateState: withoutUndo,
    }));
  // A replaced snapshot cannot be restored, so saving over one has no undo.
  return submission(controlCalls.snapshots.save({ name }), ({ file }) => ({
    message: `Saved ${name} to ${file}`,
    ...(!names.includes(name) && { undo: remove }),
  }));
}

export const snapshotKey: KeyBinding = {
  keys: ["b"],
  label: "snapshot",
  help: "save, restore or delete a snapshot",
  run: (state) => openForm(state, form),
};
