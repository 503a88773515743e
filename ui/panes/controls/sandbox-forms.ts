// The keys that open a form about the sandbox: its clock, merchants, rate limits, reset, events and snapshots.

import type { SnapshotsListReply } from "../../../generated/control-api.ts";
import { controlCalls } from "../../../src/client/control-call.ts";
import { count, plural } from "../../../src/kernel/text.ts";
import { valueOfJson } from "../../connection/json-schema.ts";
import {
  apiKeysOf,
  type KeyBinding,
  type RowKey,
  type StateUpdate,
  shortMerchant,
  type UiState,
} from "../../state/state.ts";
import { type CallResult, copyText } from "../../state/updates.ts";
import { type FieldOption, type FormValues, optionalHelp } from "../overlays/field.ts";
import { openForm } from "../overlays/form.ts";
import { type Form, submission } from "../overlays/form-view.ts";
import { confirmCall } from "../overlays/text-view.ts";
import { clockForm } from "./clock-form.ts";
import {
  allOrOneMerchant,
  fetchLookups,
  filledIn,
  merchantOptions,
  selectedAttempt,
  selectedMerchant,
  sharedWindow,
  toOptions,
  withMerchant,
  withoutUndo,
} from "./form-fields.ts";

/** The merchants that came from a fixture: their API key has the fixture's name. */
const fixtureOptions = ({ sandbox }: UiState): FieldOption[] =>
  (sandbox?.merchants ?? [])
    .filter(({ id, apiKeys }) => apiKeys.includes(`sk_test_${shortMerchant(id)}`))
    .map(({ id, name }) => ({ value: shortMerchant(id), help: name ?? "" }));

const createMerchantForm: Form = {
  title: "Create a merchant",
  verb: () => "Create",
  fields: (_, { state }) => [
    { name: "fixture", help: "The fixture to copy records from", options: fixtureOptions(state), allowOther: true },
  ],
  submission: ({ fixture = "" }) =>
    submission(controlCalls.merchants.add(filledIn({ fixture })), ({ id: merchant, apiKey }) => ({
      message: `Created ${merchant} with its API key; copied the key. Press ! to show it`,
      copy: apiKey,
      undo: controlCalls.merchants.remove({ id: merchant }),
      undoLabel: `${merchant} is removed`,
    })),
};

const resetForm: Form = {
  title: "Reset",
  verb: () => "Reset",
  fields: (_, { state }) => [
    {
      name: "merchant",
      help: "Resetting everything includes the clock; resetting one merchant leaves the others unchanged",
      options: allOrOneMerchant(state, "everything"),
    },
  ],
  confirm: ({ merchant = "" }) =>
    merchant === ""
      ? {
          question: "Reset everything: data, endpoints, clock, faults and verdicts?",
          action: "Reset everything",
          refusal: "Keep everything",
        }
      : {
          question: `Reset ${merchant}? Everything that happened to it since the start is lost.`,
          action: `Reset ${merchant}`,
        },
  submission: ({ merchant = "" }) =>
    submission(controlCalls.reset(filledIn({ merchant })), ({ reset }) => ({
      message: merchant === "" ? "Reset data, clock, faults and verdicts" : `Reset ${reset}`,
      ...(merchant === "" && { updateState: withoutUndo }),
    })),
};

const rateLimitForm: Form = {
  title: "Change a rate limit",
  verb: () => "Change",
  fields(values, { state }) {
    const current = sharedWindow(state, values.merchant ?? "");
    return [
      {
        name: "merchant",
        help: current
          ? `Now: ${current.remaining} of ${current.limit} left, window ${current.window / 1_000} s`
          : "The merchant to limit",
        options: merchantOptions(state),
      },
      {
        name: "remaining",
        ...optionalHelp("Requests left in the current window", "unchanged"),
        initial: String(current?.remaining ?? ""),
      },
      { name: "resetIn", ...optionalHelp("Time until the current window resets, such as 10s", "unchanged") },
      { name: "limit", ...optionalHelp("Requests per window", "unchanged") },
      { name: "window", ...optionalHelp("Length of a window, such as 10s", "unchanged") },
    ];
  },
  submission({ merchant = "", ...fields }, { state }) {
    const body = Object.fromEntries(
      Object.entries(filledIn(fields)).map(([name, text = ""]) => [name, valueOfJson(text)]),
    );
    return submission(controlCalls.rateLimits.set({ merchant, ...body }), ({ remaining, limit }) => ({
      message: leftText(merchant, remaining, limit),
      ...undoOfWindow(state, merchant),
    }));
  },
};

/** The undo of a change: restores the current window of the operations without a limit of their own. */
export function undoOfWindow(state: UiState, merchant: string): Pick<CallResult, "undo" | "undoLabel"> {
  const before = sharedWindow(state, merchant);
  if (!before) return {};
  const { limit, window, remaining } = before;
  const undo = controlCalls.rateLimits.set({ merchant, limit, window: `${window}ms`, remaining });
  return { undo, undoLabel: `${leftText(merchant, remaining, limit)} again` };
}

const leftText = (merchant: string, left: number, limit: number) =>
  `${merchant} has ${count(left)} of ${plural(limit, "request")} left`;

/** `a` copies the API key of a row's merchant. */
export const copyApiKey = <Value>(merchantOf: (row: Value) => string | null): RowKey<Value> => ({
  keys: ["a"],
  help: "copy the merchant's API key",
  isEnabled: (state, row) => apiKeysOf(state, merchantOf(row)).length > 0,
  run: (state, row) => copyText(state, apiKeysOf(state, merchantOf(row))[0] ?? "", `the API key of ${merchantOf(row)}`),
});

const SYNTHETIC = "synthetic";

const triggerForm: Form = {
  title: "Trigger an event",
  verb: () => "Trigger",
  fields: (_, { state }) => [
    {
      name: "type",
      help: "Type to search, or enter any event type",
      // The most used type is first, so that the list opens at its top.
      options: toOptions([...new Set(["payment.succeeded", ...(state.lookups.eventTypes ?? [])])]),
      allowOther: true,
    },
    {
      name: "merchant",
      help: "The event goes to this merchant's endpoints that are subscribed to its type",
      options: merchantOptions(state),
    },
    { name: "data", ...optionalHelp('Fields of the record as JSON, such as {"amount": 1200}', "generated") },
    {
      name: "way",
      label: "create record",
      help: "Whether to create the record that the event is about",
      options: [
        { value: "", label: "yes" },
        { value: SYNTHETIC, label: "no" },
      ],
    },
  ],
  submission({ type = "", merchant = "", data = "", way }) {
    const call = controlCalls.events.trigger({
      ...{ type, merchant },
      ...(data !== "" && { data: valueOfJson(data) as Record<string, unknown> }),
      ...(way === SYNTHETIC && { synthetic: true }),
    });
    return submission(call, ({ id, record, deliveries, warnings }) => {
      const total = Object.values(deliveries).reduce((sum, each) => sum + each, 0);
      const event = `${type} ${record ? `of ${record.id} ` : ""}as ${id}`;
      const queued = `Triggered ${event}: ${plural(total, "delivery")}`;
      const outcome = total === 0 ? `No endpoint is subscribed: triggered ${event}` : queued;
      return { message: [...warnings, outcome].join(" ") };
    });
  },
};

const snapshotForm: Form<{ snapshots: SnapshotsListReply }> = {
  title: "Snapshots",
  verb: ({ do: action = "save" }) => `${action[0]?.toUpperCase()}${action.slice(1)}`,
  fetch: { snapshots: controlCalls.snapshots.list() },
  fields({ do: action = "save" }, { data }) {
    const names = namesIn(data.snapshots);
    const help = names.length === 0 ? "No snapshots yet" : `Snapshots: ${names.join(", ")}`;
    // Until the list is loaded, any snapshot may exist.
    const actions = data.snapshots && names.length === 0 ? ["save"] : ["save", "restore", "delete"];
    return [
      { name: "do", label: "action", help, options: toOptions(actions) },
      action === "save"
        ? { name: "name", help: "Letters, digits, - and _", initial: "before" }
        : { name: "name", help: "Type to search", options: toOptions(names), allowOther: true },
    ];
  },
  submission({ do: action, name = "" }, { data }) {
    const remove = controlCalls.snapshots.remove({ name });
    if (action === "delete")
      return submission(remove, ({ removed }) => ({ message: `Deleted the snapshot ${removed}` }));
    if (action === "restore")
      return submission(controlCalls.snapshots.restore({ name }), ({ restored }) => ({
        message: `Restored the snapshot ${restored}. Fault rules, scenarios, verdicts and trends are removed`,
        updateState: withoutUndo,
      }));
    // A replaced snapshot cannot be restored, so saving over a snapshot cannot be undone.
    const undo = !namesIn(data.snapshots).includes(name) && { undo: remove };
    return submission(controlCalls.snapshots.save({ name }), ({ file }) => ({
      message: `Saved the snapshot ${name} to ${file}`,
      ...undo,
    }));
  },
  confirm({ do: action, name = "" }, { data }) {
    if (action === "restore")
      return {
        question:
          `Restore the snapshot ${name}? Everything since then is lost unless you save it first. ` +
          "The clock is not set back: time-driven changes since then happen again.",
        action: `Restore ${name}`,
        refusal: "Keep everything",
      };
    if (action === "delete") return { question: `Delete the snapshot ${name}?`, action: `Delete ${name}` };
    return namesIn(data.snapshots).includes(name)
      ? { question: `Replace the snapshot ${name}? Its records are lost.`, action: `Replace ${name}` }
      : undefined;
  },
};

const namesIn = (listed: SnapshotsListReply | undefined) => (listed?.data ?? []).map(({ name }) => name);

const opens =
  (form: Form, valuesOf: (state: UiState) => FormValues = () => ({})) =>
  (state: UiState) =>
    openForm(state, form, valuesOf(state), fetchLookups(state));

function valuesFromAttempt(state: UiState): FormValues {
  const attempt = selectedAttempt(state);
  return { ...withMerchant(state), ...(attempt && { type: attempt.eventType }) };
}

/** Whether deliveries of a file or snapshot of unknown origin are held. */
export const isHolding = ({ sandbox }: UiState): boolean =>
  sandbox !== undefined && sandbox.heldDeliveries + sandbox.heldEndpoints.length > 0;

/** A question lists at most this many addresses, and counts the others. */
const MOST_NAMED = 5;

function sendHeld(state: UiState): StateUpdate {
  const { heldDeliveries = 0, heldEndpoints = [], heldFaults = [] } = state.sandbox ?? {};
  const urls = [...new Set(heldEndpoints)];
  const more = urls.length > MOST_NAMED ? ` and ${urls.length - MOST_NAMED} more` : "";
  const to = urls.length === 0 ? "" : ` to ${urls.slice(0, MOST_NAMED).join(", ")}${more}`;
  const deliveries = plural(heldDeliveries, "delivery");
  const faults = heldFaults.length === 0 ? "" : ` Its faults affect them: ${heldFaults.join(", ")}.`;
  return confirmCall(
    state,
    {
      question: `Send ${deliveries} that came with the file, and later ones${to}?${faults}`,
      action: "Send them",
      refusal: "Keep holding them",
    },
    controlCalls.deliveries.release(),
    ({ released }) => ({ message: `Sending ${plural(released, "delivery")} that were held`, undo: null }),
  );
}

export const sandboxKeys: readonly KeyBinding[] = [
  {
    keys: ["W"],
    label: "send held",
    help: "send the held deliveries, which came with a file",
    isEnabled: isHolding,
    needs: () => "deliveries that came with a file",
    run: sendHeld,
  },
  {
    keys: ["t"],
    label: "trigger",
    help: "trigger an event, and create its record",
    run: opens(triggerForm, valuesFromAttempt),
  },
  { keys: ["c"], label: "clock", help: "advance, freeze or set the sandbox clock", run: opens(clockForm) },
  {
    keys: ["M"],
    label: "new merchant",
    help: "create a merchant and copy its API key",
    run: opens(createMerchantForm),
  },
  { keys: ["w"], label: "rate limit", help: "change a rate limit", run: opens(rateLimitForm, withMerchant) },
  {
    keys: ["X"],
    label: "reset",
    help: "reset everything, or one merchant",
    run: opens(resetForm, (state) => ({ merchant: selectedMerchant(state)?.id ?? "" })),
  },
  { keys: ["b"], label: "snapshot", help: "save, restore or delete a snapshot", run: opens(snapshotForm) },
];
