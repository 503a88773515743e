// The trigger key: makes an event happen, with the record that it is about.

import { controlCalls } from "../../src/client/control-call.ts";
import { parseJson } from "../connection/json-schema.ts";
import type { FormField } from "../overlays/field.ts";
import { type Form, openForm, submission } from "../overlays/form.ts";
import type { KeyBinding } from "../state/state.ts";
import { count } from "../view/format.ts";
import { defaultMerchant, fetchLookups, merchantOptions, selectedAttempt, toOptions } from "./form-fields.ts";

const dataField: FormField = {
  name: "data",
  label: "data",
  help: 'Fields of the record as JSON, such as {"amount": 1200} (default: believable ones)',
  validate(text) {
    if (text === "") return undefined;
    const parsed = parseJson(text, "an object");
    if ("problem" in parsed) return parsed.problem;
    const { value } = parsed;
    return typeof value === "object" && value !== null && !Array.isArray(value) ? undefined : "must be an object, in JSON";
  },
};

const SYNTHETIC = "synthetic";

const wayField: FormField = {
  name: "way",
  label: "with",
  help: "A record that can be fetched by the id in the event, or only the event",
  options: [
    { value: "", label: "its record" },
    { value: SYNTHETIC, label: "no record" },
  ],
};

const form: Form = {
  title: "Trigger an event",
  fields: (_, { state }) => [
    {
      name: "type",
      label: "type",
      help: "Type to search, or enter any event type",
      options: toOptions(state.lookups.eventTypes ?? ["payment.succeeded"]),
      allowOther: true,
      initial: "payment.succeeded",
      validate: (type) => (/^[a-z0-9_]+(\.[a-z0-9_]+)+$/.test(type) ? undefined : "must be like payment.succeeded"),
    },
    {
      name: "merchant",
      label: "merchant",
      help: "The event goes to this merchant's endpoints that are subscribed to its type",
      options: merchantOptions(state),
    },
    dataField,
    wayField,
  ],
  submission({ type = "", merchant = "", data: text = "", way }) {
    const parsed = text === "" ? { value: undefined } : parseJson(text, "an object");
    const data = "value" in parsed ? (parsed.value as Record<string, unknown> | undefined) : undefined;
    const call = controlCalls.events.trigger({ type, merchant, ...(data && { data }), ...(way === SYNTHETIC && { synthetic: true }) });
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
