// The traffic key: starts and stops generated background traffic.

import { controlCalls } from "../../src/client/control-call.ts";
import type { Traffic, TrafficListReply, TrafficStopReply } from "../../src/client/control-plane.generated.ts";
import { tryParseDuration } from "../../src/kernel/duration.ts";
import type { FormField, FormValues } from "../overlays/field.ts";
import { type Form, type FormContext, type FormResult, openForm } from "../overlays/form.ts";
import type { KeyBinding } from "../state/state.ts";
import { counted } from "../view/format.ts";
import type { Answer, Call } from "../wire/control-calls.ts";
import { parseJson } from "../wire/json-schema.ts";
import { allOrOneMerchant, defaultMerchant, merchantOptions, toOptions } from "./form-defaults.ts";

const START = "start";

const rateField: FormField = {
  name: "rate",
  label: "rate",
  help: "Records per unit of time, from 1/d to 100/s",
  initial: "2/s",
  validate: (text) => (/^\d+\/\d*(ms|s|m|h|d)$/.test(text) ? undefined : "must be like 2/s or 30/m"),
};

const durationField: FormField = {
  name: "for",
  label: "for",
  help: "Duration, such as 1m (default: until stopped)",
  validate: (text) => (text !== "" && tryParseDuration(text) === undefined ? "must be a duration such as 30s or 1h" : undefined),
};

const mixField: FormField = {
  name: "mix",
  label: "mix",
  help: 'Weights of record kinds, such as {"payment": 3, "booking": 1} (default: a mix of all)',
  validate(text) {
    const parsed = text === "" ? { value: {} } : parseJson(text, "an object of weights");
    return "problem" in parsed ? parsed.problem : undefined;
  },
};

const form: Form = {
  title: "Background traffic",
  fetch: { traffic: controlCalls.traffic.list() },
  fields(values, context) {
    const action: FormField = { name: "do", label: "action", help: runningText(context), options: toOptions([START, "stop"]) };
    const merchant = { name: "merchant", label: "merchant", help: "The merchant that gets the records" };
    if (values.do === "stop") return [action, { ...merchant, options: allOrOneMerchant(context.state, "all merchants") }];
    return [action, { ...merchant, options: merchantOptions(context.state) }, rateField, durationField, mixField];
  },
  call: trafficCall,
  onReply: trafficResult,
};

function runningText({ data }: FormContext): string {
  const running = ((data.traffic as TrafficListReply | undefined)?.data ?? []).filter(({ status }) => status === "running");
  const parts = running.map(({ merchant, rate, happened }) => `${merchant} ${rate}, ${counted(happened, "record")} so far`);
  return parts.length === 0 ? "No traffic is running" : `Running: ${parts.join("; ")}`;
}

const stopTraffic = (merchant: string): Call => controlCalls.traffic.stop(merchant === "" ? {} : { merchant });

function trafficCall({ do: action, merchant = "", rate = "", for: duration = "", mix = "" }: FormValues): Call {
  if (action !== START) return stopTraffic(merchant);
  const weights = mix === "" ? { value: undefined } : parseJson(mix, "an object");
  const body = {
    ...(merchant !== "" && { merchant }),
    ...(rate !== "" && { rate }),
    ...(duration !== "" && { for: duration }),
    ...(mix !== "" && { mix: "value" in weights ? weights.value : mix }),
  };
  return controlCalls.traffic.start(body);
}

function trafficResult({ body }: Answer, values: FormValues, { state }: FormContext): FormResult {
  if (values.do !== START) {
    const stopped = (body as TrafficStopReply).data.map(({ merchant, happened }) => `${merchant} after ${counted(happened, "record")}`);
    return { message: stopped.length === 0 ? "No traffic was running" : `Stopped traffic: ${stopped.join(", ")}` };
  }
  const { merchant, rate } = body as Traffic;
  const frozen = state.sandbox?.clock.mode === "frozen" ? "; the clock is frozen, press c to advance it" : "";
  return { message: `Started traffic for ${merchant} at ${rate}${frozen}`, undo: stopTraffic(merchant) };
}

export const trafficKey: KeyBinding = {
  keys: ["T"],
  label: "traffic",
  help: "start or stop background traffic",
  run: (state) => openForm(state, form, { merchant: defaultMerchant(state) }),
};
