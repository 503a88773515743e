// Every option once: its flag, its variable, its default, its words, and how its text is read.

import { parseTime } from "../kernel/clock.ts";
import { didYouMean } from "../kernel/did-you-mean.ts";
import { parseDuration, tryParseDuration } from "../kernel/duration.ts";
import { SandboxError } from "../kernel/errors.ts";

/** How many requests a window admits. */
export interface RateRule {
  limit: number;
  /** Milliseconds. */
  window: number;
}

interface Fact<V> {
  /** The group under which the help shows it. */
  group: "Where" | "World" | "Behaviour" | "Webhooks" | "Safety";
  /** What stands for the value in the help; none for a switch. */
  hint?: string;
  words: string;
  /** May be given more than once. */
  many?: true;
  fallback: V;
  /** Reads the text of a flag or variable; for `many`, one of its texts at a time. */
  read(text: string, flag: string): unknown;
}

const UNLIMITED: RateRule = { limit: 1_000_000_000, window: 60_000 };

/** Every option as its value. */
export interface Options {
  port: number;
  host: string | undefined;
  db: string;
  memory: boolean;
  fixtures: string | undefined;
  lessons: string | undefined;
  snapshot: string | undefined;
  seed: number;
  clock: number | undefined;
  bodies: "checked" | "open";
  rateLimit: Record<string, RateRule>;
  faults: string | undefined;
  scenario: string[];
  retrySchedule: RetrySchedule;
  webhookTimeout: number;
  webhookInsecureTls: boolean;
  allowWebhookHost: string[];
  allowedHost: string[];
  allowedOrigin: string[];
  controlToken: string | undefined;
}

export type RetrySchedule = "fast" | "realistic" | number[];

export type OptionName = keyof Options;

export const optionFacts: { readonly [Name in OptionName]: Fact<Options[Name]> } = {
  port: {
    group: "Where",
    hint: "N",
    words: "port to listen on, 4747 unless given; 0 takes any that is free",
    fallback: 4747,
    read: wholeNumber(0, 65_535),
  },
  host: {
    group: "Where",
    hint: "ADDRESS",
    words: "address to listen on; both loopback addresses unless given",
    fallback: undefined,
    read: asIs,
  },
  db: {
    group: "Where",
    hint: "FILE",
    words: "SQLite file that keeps everything; .merchant-sandbox/sandbox.db unless given",
    fallback: ".merchant-sandbox/sandbox.db",
    read: asIs,
  },
  memory: { group: "Where", words: "keep everything in memory instead", fallback: false, read: yesNo },
  fixtures: {
    group: "World",
    hint: "DIR",
    words: "folder with merchants of your own, instead of lodge, market, stage and blank",
    fallback: undefined,
    read: asIs,
  },
  lessons: {
    group: "World",
    hint: "DIR",
    words: "folder with lessons of your own, instead of those of the package",
    fallback: undefined,
    read: asIs,
  },
  snapshot: {
    group: "World",
    hint: "FILE",
    words: "start from a snapshot: what the database held is replaced by it",
    fallback: undefined,
    read: asIs,
  },
  seed: {
    group: "World",
    hint: "N",
    words: "ids, keys and secrets are made from it; 1 unless given",
    fallback: 1,
    read: wholeNumber(0, 2 ** 32),
  },
  clock: {
    group: "World",
    hint: "TIME",
    words: "freeze the clock at a time such as 2026-01-05T09:00:00Z; it runs unless given",
    fallback: undefined,
    read: readClock,
  },
  bodies: {
    group: "Behaviour",
    hint: "checked|open",
    words: "refuse bodies of another shape than assumed (the default), or take any object",
    fallback: "checked",
    read: oneOf("checked", "open"),
  },
  rateLimit: {
    group: "Behaviour",
    hint: "N/SPAN",
    many: true,
    words: "requests per window and merchant, 6000/60s unless given; none; or OPERATION=5/1m for one",
    fallback: { all: { limit: 6_000, window: 60_000 } },
    read: readRate,
  },
  faults: {
    group: "Behaviour",
    hint: "FILE",
    words: "fault rules to arm at the start, as JSON; until a reset",
    fallback: undefined,
    read: asIs,
  },
  scenario: {
    group: "Behaviour",
    hint: "NAME|FILE",
    many: true,
    words: "scenario to arm at the start, such as lost-response; until a reset",
    fallback: [],
    read: asIs,
  },
  retrySchedule: {
    group: "Webhooks",
    hint: "SCHEDULE",
    words: "fast (gaps 0 1 5 15 30 60 s, the default), realistic (over a day), or your own: 1s,10s,1m",
    fallback: "fast",
    read: readSchedule,
  },
  webhookTimeout: {
    group: "Webhooks",
    hint: "SPAN",
    words: "how long a receiver may take, all in all; 10s unless given",
    fallback: 10_000,
    read: parseDuration,
  },
  webhookInsecureTls: {
    group: "Webhooks",
    words: "deliver to https receivers with a self-signed certificate",
    fallback: false,
    read: yesNo,
  },
  allowWebhookHost: {
    group: "Webhooks",
    hint: "NAME",
    many: true,
    words: "deliver to this name too, such as host.docker.internal",
    fallback: [],
    read: asIs,
  },
  allowedHost: {
    group: "Safety",
    hint: "NAME",
    many: true,
    words: "answer to this host name too, or to NAME:PORT",
    fallback: [],
    read: asIs,
  },
  allowedOrigin: {
    group: "Safety",
    hint: "ORIGIN",
    many: true,
    words: "let web pages of this origin call",
    fallback: [],
    read: asIs,
  },
  controlToken: {
    group: "Safety",
    hint: "TOKEN",
    words: "what the control plane asks for; made up and printed when --host opens the network",
    fallback: undefined,
    read: asIs,
  },
};

/** What `createSandbox` takes: each option as its value, or as the text that the flag would have. */
export type GivenOptions = { [Name in OptionName]?: Options[Name] | string | string[] | undefined };

export const flagOf = (name: string) => `--${name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
export const variableOf = (name: string) => `MERCHANT_SANDBOX_${name.replace(/[A-Z]/g, (letter) => `_${letter}`).toUpperCase()}`;

/** Whole options from what was given over what holds otherwise; texts are read as the flags' are. */
export function completeOptions(given: GivenOptions, base: Partial<Options> = {}): Options {
  const names = Object.keys(optionFacts) as OptionName[];
  for (const name of Object.keys(given))
    if (!names.includes(name as OptionName)) throw new SandboxError(`There is no option ${name}.${didYouMean(name, names)}`, "usage");
  const entries = names.map((name) => [
    name,
    given[name] === undefined ? (base[name] ?? optionFacts[name].fallback) : valueGiven(name, given[name]),
  ]);
  return Object.fromEntries(entries) as Options;
}

function valueGiven(name: OptionName, given: unknown): unknown {
  const facts: Fact<unknown> = optionFacts[name];
  const texts = [given].flat();
  if (!texts.every((text) => typeof text === "string")) return given;
  const values = texts.map((text) => facts.read(text as string, flagOf(name)));
  if (!facts.many) return values.at(-1);
  return name === "rateLimit" ? Object.assign({}, facts.fallback, ...(values as object[])) : values;
}

function asIs(text: string, flag: string): string {
  if (text === "") throw new SandboxError(`${flag} needs a value.`, "usage");
  return text;
}

function yesNo(text: string, flag: string): boolean {
  if (["", "1", "true", "yes", "on"].includes(text)) return true;
  if (["0", "false", "no", "off"].includes(text)) return false;
  throw new SandboxError(`${flag} is a switch; "${text}" is neither yes nor no.`, "usage");
}

function wholeNumber(least: number, most: number) {
  return (text: string, flag: string): number => {
    const value = Number(text);
    if (!/^\d+$/.test(text) || value < least || value > most)
      throw new SandboxError(`${flag} takes a whole number from ${least} to ${most}; received "${text}".`, "usage");
    return value;
  };
}

function oneOf<const V extends string>(...values: V[]) {
  return (text: string, flag: string): V => {
    if (!values.includes(text as V)) throw new SandboxError(`${flag} takes ${values.join(" or ")}; received "${text}".`, "usage");
    return text as V;
  };
}

function readClock(text: string, flag: string): number | undefined {
  if (text === "real") return undefined;
  const time = parseTime(text);
  if (time === undefined) throw new SandboxError(`${flag} takes real or a time such as 2026-01-05T09:00:00Z; received "${text}".`, "usage");
  return time;
}

function readRate(text: string, flag: string): Record<string, RateRule> {
  const [operation, rule] = text.includes("=") ? (text.split("=", 2) as [string, string]) : ["all", text];
  if (rule === "none") return { [operation]: UNLIMITED };
  const [, limit = "", span = ""] = /^(\d+)\/(.+)$/.exec(rule) ?? [];
  const window = tryParseDuration(span);
  if (!window || Number(limit) < 1 || Number(limit) > UNLIMITED.limit)
    throw new SandboxError(
      `${flag} takes requests per span, from 1 to ${UNLIMITED.limit}, such as 10/10s, or none; received "${text}".`,
      "usage",
    );
  return { [operation]: { limit: Number(limit), window } };
}

function readSchedule(text: string, flag: string): RetrySchedule {
  if (text === "fast" || text === "realistic") return text;
  return [0, ...text.split(",").map((gap) => parseDuration(gap, flag))];
}
