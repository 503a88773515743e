// The latency action: delays a response by a time drawn for each call.

import { type Static, type TObject, Type } from "../schema/shapes.ts";
import { type FiringContext, onCalls } from "./action.ts";
import { choice, milliseconds, span } from "./fields.ts";

const DISTRIBUTIONS = ["fixed", "uniform", "lognormal", "ramp"] as const;

/** Maximum delay in milliseconds. */
const LONGEST = 600_000;

/** The fields that each distribution requires. Other distributions do not allow them. */
const FIELDS_OF: Record<(typeof DISTRIBUTIONS)[number], readonly (keyof Parameters)[]> = {
  fixed: ["ms"],
  uniform: ["min", "max"],
  lognormal: ["median", "sigma"],
  ramp: ["from", "to"],
};

const parameters = {
  ms: Type.Optional(Type.Number({ description: "fixed: milliseconds", minimum: 0, maximum: LONGEST })),
  min: Type.Optional(span("uniform: the shortest")),
  max: Type.Optional(span("uniform: the longest")),
  median: Type.Optional(span("lognormal: half of the delays are shorter")),
  sigma: Type.Optional(Type.Number({ description: "lognormal: how wide, such as 0.5", minimum: 0, maximum: 5 })),
  from: Type.Optional(span("ramp: the first delay")),
  to: Type.Optional(span("ramp: the last delay, when the rule's `times` or `for` is used up")),
};

type Parameters = Static<TObject<typeof parameters>>;

export const latency = onCalls({
  type: "latency",
  phase: "latency",
  description: "Delays the response, in real time. The operation still takes effect, and any other fault can act too.",
  example: "latency=600ms payments.list --times 5",
  main: "ms",
  onlyWith: Object.fromEntries(Object.entries(FIELDS_OF).flatMap(([value, names]) => names.map((name) => [name, ["distribution", value]]))),
  outcome: "normal",
  fields: {
    distribution: choice(DISTRIBUTIONS, "How the delay is drawn (default: `fixed`)"),
    ...parameters,
    in: choice(["headers", "body"], "Before the headers, or between headers and body (default: `headers`)"),
  },
  check({ distribution = "fixed", ...given }, trigger) {
    const needed = FIELDS_OF[distribution];
    const missing = needed.find((name) => given[name] === undefined);
    if (missing !== undefined) return `action.${missing} is required: a ${distribution} latency has ${needed.join(" and ")}.`;
    const { min = "0ms", max = "0ms" } = given;
    if (distribution === "uniform" && milliseconds(min) > milliseconds(max))
      return `action.max must not be shorter than action.min; received ${max} and ${min}.`;
    if (distribution === "ramp" && (trigger.times ?? 0) < 2 && trigger.for === null)
      return "A ramp must have an end: set trigger.times, 2 or more, or trigger.for.";
    return undefined;
  },
  prepare({ distribution = "fixed", in: before = "headers", ...given }) {
    const draw = DRAWS[distribution](given);
    return (moment) => ({ kind: "delay", milliseconds: Math.min(LONGEST, Math.round(draw(moment))), before });
  },
});

type Draw = (moment: FiringContext) => number;

const read = (written = "0ms") => milliseconds(written);

const DRAWS: Record<(typeof DISTRIBUTIONS)[number], (given: Parameters) => Draw> = {
  fixed({ ms = 0 }) {
    return () => ms;
  },
  uniform({ min, max }) {
    const [least, most] = [read(min), read(max)];
    return ({ chance }) => least + chance("latency") * (most - least);
  },
  lognormal({ median, sigma = 0 }) {
    const middle = read(median);
    return ({ chance }) => middle * Math.exp(sigma * normal(chance("radius"), chance("angle")));
  },
  ramp({ from, to }) {
    const [first, last] = [read(from), read(to)];
    return ({ progress }) => first + progress * (last - first);
  },
};

/** Box-Muller: turns two uniform numbers into one that is normally distributed. */
const normal = (radius: number, angle: number) => Math.sqrt(-2 * Math.log(1 - radius)) * Math.cos(2 * Math.PI * angle);
