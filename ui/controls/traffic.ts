// The traffic key: starts and stops generated background traffic.

import type { TrafficListReply, TrafficStartInput } from "../../generated/control-api.ts";
import { controlCalls } from "../../src/client/control-call.ts";
import { tryParseDuration } from "../../src/kernel/duration.ts";
import { parseJson } from "../connection/json-schema.ts";
import type { FormField, FormValues } from "../overlays/field.ts";
import { type Form, openForm, type Submission, submission } from "../overlays/form.ts";
import type { KeyBinding, UiState } from "../state/state.ts";
import { counted } from "../view/format.ts";
import { allOrOneMerchant, defaultMerchant, merchantOptions, toOptions } from "./form-fields.ts";

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
  help: 'Weights of record kinds, such as {"payment": 3, "booking": 1} (default: the kinds that the merchant has)',
  validate(text) {
    const parsed = text === "" ? { value: {} } : parseJson(text, "an object of weights");
    return "problem" in parsed ? parsed.problem : undefined;
  },
};

const form: Form<{ traffic: TrafficListReply }> = {
  title: "Background traffic",
  fetch: { traffic: controlCalls.traffic.list() },
  fields(values, { state, data }) {
    const action: FormField = { name: "do", label: "action", help: runningText(data.traffic), options: toOptions([START, "stop"]) };
    const merchant = { name: "merchant", label: "merchant", help: "The merchant that gets the records" };
    if (values.do === "stop") return [action, { ...merchant, options: allOrOneMerchant(state, "all merchants") }];
    return [action, { ...merchant, options: merchantOptions(state) }, rateField, durationField, mixField];
  },
  submission: (values, { state }) => (values.do === START ? startSubmission(values, state) : stopSubmission(values)),
};

function runningText(listed: TrafficListReply | undefined): string {
  const running = (listed?.data ?? []).filter(({ status }) => status === "running");
  const parts = running.map(({ merchant, rate, happened }) => `${merchant} ${rate}, ${counted(happened, "record")} so far`);
  return parts.length === 0 ? "No traffic is running" : `Running: ${parts.join("; ")}`;
}

const stopTraffic = (merchant: string) => controlCalls.traffic.stop(merchant === "" ? {} : { merchant });

function startSubmission({ merchant = "", rate = "", for: duration = "", mix = "" }: FormValues, state: UiState): Submission {
  const weights = mix === "" ? { value: undefined } : parseJson(mix, "an object");
  const call = controlCalls.traffic.start({
    ...(merchant !== "" && { merchant }),
    ...(rate !== "" && { rate }),
    ...(duration !== "" && { for: duration }),
    // The control API checks what was typed.
    ...(mix !== "" && { mix: ("value" in weights ? weights.value : mix) as NonNullable<TrafficStartInput["mix"]> }),
  });
  const frozen = state.sandbox?.clock.mode === "frozen" ? "; the clock is frozen, press c to advance it" : "";
  return submission(call, (started) => ({
    message: `Started traffic for ${started.merchant} at ${started.rate}${frozen}`,
    undo: stopTraffic(started.merchant),
  }));
}

const stopSubmission = ({ merchant = "" }: FormValues): Submission =>
  submission(stopTraffic(merchant), ({ data }) => {
    const stopped = data.map((traffic) => `${traffic.merchant} after ${counted(traffic.happened, "record")}`);
    return { message: stopped.length === 0 ? "No traffic was running" : `Stopped traffic: ${stopped.join(", ")}` };
  });

export const trafficKey: KeyBinding = {
  keys: ["T"],
  label: "traffic",
  help: "start or stop background traffic",
  run: (state) => openForm(state, form, { merchant: defaultMerchant(state) }),
};
