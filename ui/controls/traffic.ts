// The key of traffic: business that goes on by itself, begun and ended.

import type { TrafficState } from "../../src/contracts/traffic.ts";
import { tryParseDuration } from "../../src/kernel/duration.ts";
import type { Field, Values } from "../overlays/field.ts";
import { type Context, type Form, openForm } from "../overlays/form.ts";
import type { Action, State } from "../state/state.ts";
import type { Answer, Call } from "../wire/control-calls.ts";
import { readJson } from "../wire/json-schema.ts";
import { merchantHere, merchantOptions, merchantsOrAll, options } from "./form-defaults.ts";

const START = "start";

const rate: Field = {
  name: "rate",
  label: "rate",
  words: "So many in a span, from 1/d to 100/s",
  first: "2/s",
  problem: (text) => (/^\d+\/\d*(ms|s|m|h|d)$/.test(text) ? undefined : "must be like 2/s or 30/m"),
};

const length: Field = {
  name: "for",
  label: "for",
  words: "How long it lasts, such as 1m; until it is stopped unless given",
  problem: (text) => (text !== "" && tryParseDuration(text) === undefined ? "must be a span such as 30s or 1h" : undefined),
};

const mix: Field = {
  name: "mix",
  label: "mix",
  words: 'Weights of kinds of record, such as {"payment": 3, "booking": 1}; a mix of all unless given',
  problem(text) {
    const reading = text === "" ? { value: {} } : readJson(text, "an object of weights");
    return "problem" in reading ? reading.problem : undefined;
  },
};

const form: Form = {
  title: "Traffic",
  asks: { traffic: { method: "GET", path: "/traffic" } },
  fields(values, context) {
    const act: Field = { name: "do", label: "do", words: runningWords(context), options: options([START, "stop"]) };
    const whom = { name: "merchant", label: "merchant", words: "To whom it happens" };
    if (values.do === "stop") return [act, { ...whom, options: merchantsOrAll(context.state, "everybody") }];
    return [act, { ...whom, options: merchantOptions(context.state) }, rate, length, mix];
  },
  call: trafficCall,
  done: trafficDone,
};

const running = ({ answers }: Context) =>
  ((answers.traffic as { data: TrafficState[] } | undefined)?.data ?? []).filter(({ status }) => status === "running");

/** What goes on already. */
function runningWords(context: Context): string {
  const words = running(context).map((one) => `${one.merchant} ${one.rate}, ${one.happened} so far`);
  return words.length === 0 ? "Nothing runs: business of a merchant can go on by itself" : `Running: ${words.join("; ")}`;
}

const stopping = (merchant: string): Call => ({
  method: "DELETE",
  path: merchant === "" ? "/traffic" : `/traffic?merchant=${encodeURIComponent(merchant)}`,
});

function trafficCall({ do: act, merchant = "", rate: often = "", for: span = "", mix: weights = "" }: Values): Call {
  if (act !== START) return stopping(merchant);
  const reading = weights === "" ? { value: undefined } : readJson(weights, "an object");
  const body = {
    ...(merchant !== "" && { merchant }),
    ...(often !== "" && { rate: often }),
    ...(span !== "" && { for: span }),
    ...(weights !== "" && { mix: "value" in reading ? reading.value : weights }),
  };
  return { method: "POST", path: "/traffic", body };
}

function trafficDone({ body }: Answer, held: Values, { state }: Context) {
  if (held.do !== START) {
    const { data } = body as { data: TrafficState[] };
    return {
      words:
        data.length === 0 ? "Nothing ran" : `Stopped: ${data.map(({ merchant, happened }) => `${merchant} after ${happened}`).join(", ")}`,
    };
  }
  const { merchant, rate: often } = body as TrafficState;
  const stands = state.sandbox?.clock.mode === "frozen" ? "; the clock stands, so c plays it" : "";
  return { words: `Business of ${merchant} goes on, ${often}${stands}`, undo: stopping(merchant) };
}

export const trafficKeys: readonly Action[] = [
  {
    keys: ["T"],
    label: "traffic",
    words: "let business go on by itself, or end it",
    run: (state: State) => openForm(state, form, { merchant: merchantHere(state) }),
  },
];
