// The traffic key: starts and stops generated background traffic.

import type { TrafficListReply, TrafficStartInput } from "../../generated/control-api.ts";
import { controlCalls } from "../../src/client/control-call.ts";
import { valueOfJson } from "../connection/json-schema.ts";
import type { FormValues } from "../overlays/field.ts";
import { type Form, openForm, type Submission, submission } from "../overlays/form.ts";
import type { KeyBinding, UiState } from "../state/state.ts";
import { counted } from "../view/format.ts";
import { allOrOneMerchant, defaultMerchant, filledIn, merchantOptions, toOptions } from "./form-fields.ts";

const START = "start";

const form: Form<{ traffic: TrafficListReply }> = {
  title: "Background traffic",
  fetch: { traffic: controlCalls.traffic.list() },
  fields({ do: action = START }, { state, data }) {
    const merchants = action === START ? merchantOptions(state) : allOrOneMerchant(state, "all merchants");
    const fields = [
      { name: "do", label: "action", help: runningText(data.traffic), options: toOptions([START, "stop"]) },
      { name: "merchant", help: "The merchant that gets the records", options: merchants },
    ];
    if (action !== START) return fields;
    return [
      ...fields,
      { name: "rate", help: "Records per unit of time, from 1/d to 100/s", initial: "2/s" },
      { name: "for", help: "Duration, such as 1m (default: until stopped)" },
      { name: "mix", help: 'Weights of record kinds, such as {"payment": 3, "booking": 1} (default: the kinds that the merchant has)' },
    ];
  },
  submission: (values, { state }) => (values.do === START ? startSubmission(values, state) : stopSubmission(values)),
};

function runningText(listed: TrafficListReply | undefined): string {
  const running = (listed?.data ?? []).filter(({ status }) => status === "running");
  const parts = running.map(({ merchant, rate, happened }) => `${merchant} ${rate}, ${counted(happened, "record")} so far`);
  return parts.length === 0 ? "No traffic is running" : `Running: ${parts.join("; ")}`;
}

function startSubmission({ merchant = "", rate = "", for: duration = "", mix = "" }: FormValues, state: UiState): Submission {
  const call = controlCalls.traffic.start({
    ...filledIn({ merchant, rate, for: duration }),
    ...(mix !== "" && { mix: valueOfJson(mix) as NonNullable<TrafficStartInput["mix"]> }),
  });
  const frozen = state.sandbox?.clock.mode === "frozen" ? "; the clock is frozen, press c to advance it" : "";
  return submission(call, (started) => ({
    message: `Started traffic for ${started.merchant} at ${started.rate}${frozen}`,
    undo: controlCalls.traffic.stop({ merchant: started.merchant }),
  }));
}

const stopSubmission = ({ merchant = "" }: FormValues): Submission =>
  submission(controlCalls.traffic.stop(filledIn({ merchant })), ({ data }) => {
    const stopped = data.map((traffic) => `${traffic.merchant} after ${counted(traffic.happened, "record")}`);
    return { message: stopped.length === 0 ? "No traffic was running" : `Stopped traffic: ${stopped.join(", ")}` };
  });

export const trafficKey: KeyBinding = {
  keys: ["T"],
  label: "traffic",
  help: "start or stop background traffic",
  run: (state) => openForm(state, form, { merchant: defaultMerchant(state) }),
};
