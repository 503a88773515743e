// The trigger key: makes an event happen, with the record that it is about.

import { controlCalls } from "../../src/client/control-call.ts";
import { valueOfJson } from "../connection/json-schema.ts";
import { type Form, openForm, submission } from "../overlays/form.ts";
import type { KeyBinding } from "../state/state.ts";
import { count } from "../view/format.ts";
import { defaultMerchant, fetchLookups, merchantOptions, selectedAttempt, toOptions } from "./form-fields.ts";

const SYNTHETIC = "synthetic";

const form: Form = {
  title: "Trigger an event",
  fields: (_, { state }) => [
    {
      name: "type",
      help: "Type to search, or enter any event type",
      options: toOptions(state.lookups.eventTypes ?? ["payment.succeeded"]),
      allowOther: true,
      initial: "payment.succeeded",
    },
    {
      name: "merchant",
      help: "The event goes to this merchant's endpoints that are subscribed to its type",
      options: merchantOptions(state),
    },
    { name: "data", help: 'Fields of the record as JSON, such as {"amount": 1200} (default: generated)' },
    {
      name: "way",
      label: "create record",
      help: "Whether to create the record, so that the id in the event can be fetched",
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
    return submission(call, ({ id, record, deliveries, warning }) => {
      const total = Object.values(deliveries).reduce((sum, each) => sum + each, 0);
      const outcome = total === 0 ? "no endpoint is subscribed to it" : `${count(total)} ${total === 1 ? "delivery" : "deliveries"}`;
      return { message: `${warning ?? `Triggered ${type}`} ${record ? `of ${record.id} ` : ""}as ${id}: ${outcome}` };
    });
  },
};

export const triggerKey: KeyBinding = {
  keys: ["t"],
  label: "trigger",
  help: "trigger an event, with its record",
  run(state) {
    const attempt = selectedAttempt(state);
    const values = { merchant: defaultMerchant(state), ...(attempt && { type: attempt.eventType }) };
    return openForm(state, form, values, fetchLookups(state));
  },
};
