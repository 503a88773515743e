// The trigger key: triggers an event through the API, as a merchant would.

import { testEventCall } from "../../src/client/service-call.ts";
import type { FormField } from "../overlays/field.ts";
import { type Form, openForm, submission } from "../overlays/form.ts";
import type { KeyBinding, UiState } from "../state/state.ts";
import { count } from "../view/format.ts";
import { parseJson } from "../wire/json-schema.ts";
import { fetchLookups } from "./cached-lookups.ts";
import { defaultMerchant, merchantOptions, selectedAttempt, toOptions } from "./form-defaults.ts";

const dataField: FormField = {
  name: "data",
  label: "data",
  help: 'The event\'s data as JSON, such as {"amount": 1200} (default: none)',
  validate(text) {
    if (text === "") return undefined;
    const parsed = parseJson(text, "an object");
    if ("problem" in parsed) return parsed.problem;
    const { value } = parsed;
    return typeof value === "object" && value !== null && !Array.isArray(value) ? undefined : "must be an object, in JSON";
  },
};

const apiKeyOf = ({ sandbox }: UiState, merchant: string) => sandbox?.merchants.find(({ id }) => id === merchant)?.apiKeys[0];

const form: Form = {
  title: "Trigger an event",
  fields: (_, { state }) => [
    {
      name: "type",
      label: "type",
      help: "Type to search, or enter any event type",
      options: toOptions(state.lookups.eventTypes ?? ["payment.succeeded"]),
      allowOther: true,
      validate: (type) => (/^[a-z0-9_]+(\.[a-z0-9_]+)+$/.test(type) ? undefined : "must be like payment.succeeded"),
    },
    {
      name: "merchant",
      label: "merchant",
      help: "The event goes to this merchant's endpoints that are subscribed to its type",
      options: merchantOptions(state),
      validate: (merchant) => (apiKeyOf(state, merchant) === undefined ? "has no API key to call with" : undefined),
    },
    dataField,
  ],
  submission({ type = "", merchant = "", data: text = "" }, { state }) {
    const parsed = text === "" ? { value: undefined } : parseJson(text, "an object");
    const data = "value" in parsed ? parsed.value : text;
    const call = testEventCall(apiKeyOf(state, merchant) ?? "", { type, ...(data !== undefined && { data }) });
    return submission(call, ({ id, deliveries }) => {
      const total = deliveries.length;
      const outcome = total === 0 ? "no endpoint is subscribed to it" : `${count(total)} ${total === 1 ? "delivery" : "deliveries"}`;
      return { message: `Triggered ${type} as ${id}: ${outcome}` };
    });
  },
};

export const triggerKey: KeyBinding = {
  keys: ["t"],
  label: "trigger",
  help: "trigger an event",
  run(state) {
    const attempt = selectedAttempt(state);
    const values = { merchant: defaultMerchant(state), ...(attempt && { type: attempt.eventType }) };
    return openForm(state, form, values, fetchLookups(state));
  },
};
