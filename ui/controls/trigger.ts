// The key of events: triggers one through the service, as a merchant would.

import type { Field } from "../overlays/field.ts";
import { type Form, openForm } from "../overlays/form.ts";
import type { Action, State, Step } from "../state/state.ts";
import { readJson } from "../wire/json-schema.ts";
import { learning } from "./cached-lookups.ts";
import { attemptChosen, merchantHere, merchantOptions, options } from "./form-defaults.ts";

const data: Field = {
  name: "data",
  label: "data",
  words: 'The event\'s data as JSON, such as {"amount": 1200}; none unless given',
  problem: dataProblem,
};

function dataProblem(text: string): string | undefined {
  if (text === "") return undefined;
  const reading = readJson(text, "an object");
  if ("problem" in reading) return reading.problem;
  const { value } = reading;
  return typeof value === "object" && value !== null && !Array.isArray(value) ? undefined : "must be an object, in JSON";
}

const keyOf = ({ sandbox }: State, merchant: string) => sandbox?.merchants.find(({ id }) => id === merchant)?.apiKeys[0];

const form: Form = {
  title: "Trigger an event",
  fields: (_, { state }) => [
    {
      name: "type",
      label: "type",
      words: "The type of event: type to find it; any other may be written too",
      options: options(state.known.eventTypes ?? ["payment.succeeded"]),
      free: true,
      problem: (type) => (/^[a-z0-9_]+(\.[a-z0-9_]+)+$/.test(type) ? undefined : "must be like payment.succeeded"),
    },
    {
      name: "merchant",
      label: "merchant",
      words: "Whose event it is: every endpoint of this merchant that wants its type gets it",
      options: merchantOptions(state),
      problem: (merchant) => (keyOf(state, merchant) === undefined ? "has no API key to call with" : undefined),
    },
    data,
  ],
  call({ type, merchant = "", data: text = "" }, { state }) {
    const reading = text === "" ? { value: undefined } : readJson(text, "an object");
    const given = "value" in reading ? reading.value : text;
    const body = { type, ...(given !== undefined && { data: given }) };
    return { method: "POST", path: "/v1/webhook-events/test", key: keyOf(state, merchant) ?? "", body };
  },
  done({ body }) {
    const { id, type, deliveries } = body as { id: string; type: string; deliveries: unknown[] };
    const hint = deliveries.length === 0 ? ": no endpoint of this merchant wants it" : "";
    return { words: `${type} is ${id}, deliveries: ${deliveries.length}${hint}` };
  },
};

function triggering(state: State): Step {
  const attempt = attemptChosen(state);
  const values = { merchant: merchantHere(state), ...(attempt && { type: attempt.eventType }) };
  return openForm(state, form, values, learning(state));
}

export const triggerKeys: readonly Action[] = [{ keys: ["t"], label: "trigger", words: "trigger an event", run: triggering }];
