// Every option of a sandbox: its type, flag, environment variable, default, help and checks; and the schema of
// merchant-sandbox.json.

import { resolve } from "node:path";
import type { AssumptionValues } from "../../generated/control-api.ts";
import { NewEndpoint } from "../contracts/webhook.ts";
import type { RateLimit } from "../http/rate-limit-window.ts";
import { didYouMean } from "../kernel/did-you-mean.ts";
import { parseDuration } from "../kernel/duration.ts";
import { usageError } from "../kernel/errors.ts";
import { randomToken } from "../kernel/random.ts";
import { kebab } from "../kernel/text.ts";
import { lessonFiles } from "../lessons/lesson-files.ts";
import { annotate } from "../schema/assumed.ts";
import { PATTERNS } from "../schema/patterns.ts";
import { oneOf, type TSchema, Type } from "../schema/shapes.ts";
import { fieldErrors } from "../schema/validator.ts";
import {
  assumption,
  clockTime,
  databaseFile,
  hostName,
  nonEmpty,
  onOrOff,
  type RetryScheduleOption,
  rateRule,
  retrySchedule,
  textLike,
  webOrigin,
  wholeNumber,
} from "./option-values.ts";

/** The values of all options. The doc comments in types/ are the descriptions below. */
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
  life: "on" | "off";
  bodies: "checked" | "open";
  isolation: "off" | "on" | "strict";
  rateLimit: Record<string, RateLimit>;
  assumptions: AssumptionValues;
  faults: string | undefined;
  scenario: string[];
  retrySchedule: RetryScheduleOption | undefined;
  webhookTimeout: number | undefined;
  webhookInsecureTls: boolean;
  allowWebhookHost: string[];
  allowLoopbackWebhooks: boolean;
  traceDeliveries: boolean;
  allowedHost: string[];
  allowedOrigin: string[];
  endpoints: NewEndpoint[];
  webhookSecret: string | undefined;
  controlToken: string | undefined;
  trust: boolean;
}

export type OptionName = keyof Options;

/** The options of `createSandbox()`: each as its value, or as the text of its flag. */
export type GivenOptions = { [Name in OptionName]?: Options[Name] | string | string[] | undefined };

interface OptionDefinition<V> {
  /** The heading under which the help lists the option. */
  group: "Address and storage" | "Data" | "Behaviour" | "Webhooks" | "Security";
  /** The flag (default: the name of the option, as in `--rate-limit`). */
  flag?: string;
  /** The placeholder of the value in the help; a switch has none. */
  value?: string;
  description: string;
  /** The default as the help words it. */
  defaultText?: string | undefined;
  /** Whether the flag may be repeated. */
  multiple?: true;
  default: V;
  /** Reads the text of a flag or variable; for `multiple`, one text at a time. */
  parse(text: string, flag: string): unknown;
  /**
   * The option's schema in merchant-sandbox.json (default: a boolean for a switch, else text, or a list of texts for
   * `multiple`).
   */
  schema?: TSchema;
}

/** An option that is off without its flag. */
const switchOption = (description: string) => ({ description, default: false, parse: onOrOff });

const textOption = (value: string, description: string, defaultText?: string) => ({
  value,
  description,
  defaultText,
  default: undefined,
  parse: nonEmpty,
});

/** An option with a list of texts, whose flag may be repeated. */
const textsOption = (value: string, description: string, parse = nonEmpty) => ({
  value,
  description,
  multiple: true as const,
  default: [] as string[],
  parse,
});

/** An option that takes one of several words (default: the first). */
const choiceOption = <const V extends string>(words: readonly [V, ...V[]], description: string) => ({
  value: words.join("|"),
  description,
  defaultText: words[0],
  default: words[0],
  parse: (text: string, flag: string) =>
    words.find((word) => word === text) ?? usageError(`${flag} takes ${words.join(" or ")}; received "${text}".`),
  schema: oneOf(words, ""),
});

const numberOption = (description: string, usual: number, maximum: number) => ({
  value: "n",
  description,
  defaultText: String(usual),
  default: usual,
  parse: wholeNumber(0, maximum),
  schema: Type.Integer({ minimum: 0, maximum }),
});

type Definitions = { readonly [Name in OptionName]: OptionDefinition<Options[Name]> };

const inGroup = <const D>(group: OptionDefinition<unknown>["group"], definitions: D) =>
  Object.fromEntries(
    Object.entries(definitions as object).map(([name, definition]) => [name, { group, ...definition }]),
  ) as {
    [Name in keyof D]: D[Name] & { group: typeof group };
  };

export const optionDefinitions: Definitions = {
  ...inGroup("Address and storage", {
    port: numberOption("listen on this port; 0 selects any free port", 4747, 65_535),
    host: textOption("address", "listen on this address", "both loopback addresses"),
    db: {
      ...textOption("file", "keep all data in this SQLite file", ".merchant-sandbox/sandbox.db"),
      parse: databaseFile,
      default: ".merchant-sandbox/sandbox.db",
    },
    memory: switchOption("keep all data in memory instead of a file"),
  }),
  ...inGroup("Data", {
    fixtures: textOption("path", "load merchants from this folder or file instead of lodge, market, stage and blank"),
    lessons: textOption("dir", "load lessons from this folder instead of the built-in ones"),
    snapshot: textOption("file", "start from this snapshot, which replaces the data in the database"),
    seed: numberOption("generate ids, keys and secrets from this seed", 1, 2 ** 32),
    clock: {
      ...textOption("time", "freeze the clock at this time, such as 2026-01-05T09:00:00Z", "real"),
      parse: clockTime,
    },
  }),
  ...inGroup("Behaviour", {
    life: choiceOption(
      ["on", "off"],
      "change records on their dates, such as payouts that arrive, or leave them as they are",
    ),
    bodies: choiceOption(["checked", "open"], "reject body fields of an unexpected shape, or keep them as sent"),
    isolation: choiceOption(
      ["off", "on", "strict"],
      "let a call act as the test's merchant that its `baggage` header names; strict requires one",
    ),
    rateLimit: {
      value: "limit",
      multiple: true,
      description: "limit requests per merchant: 10/10s, none, or OPERATION=5/1m for one",
      defaultText: "6000/60s",
      default: {},
      parse: rateRule,
    },
    assumptions: {
      value: "id=value",
      multiple: true,
      flag: "--assume",
      description: "set an assumption, such as bookings.decline.status=202; `assumptions` lists those that can be set",
      default: {},
      parse: assumption,
      schema: Type.Record(Type.Unknown()),
    },
    faults: {
      ...textOption("file", "arm the fault rules of this JSON file at start and after each reset"),
      schema: Type.Union([Type.String(), Type.Array(Type.Record(Type.Unknown()))]),
    },
    scenario: textsOption("name|file", "arm this scenario, such as lost-response, at start and after each reset"),
  }),
  ...inGroup("Webhooks", {
    endpoints: {
      value: "url",
      multiple: true,
      description:
        "register this webhook endpoint of the first merchant, for all events, at start and after each reset",
      default: [],
      parse: (text: string, flag: string) => ({ url: nonEmpty(text, flag) }),
      schema: Type.Array(NewEndpoint),
    },
    webhookSecret: {
      ...textOption(
        "secret",
        "sign deliveries to the given endpoints with this secret, such as whsec_local",
        "generated",
      ),
      parse: textLike(new RegExp(PATTERNS.webhookSecret.pattern), "whsec_ and a text of your own, such as whsec_local"),
      schema: Type.String({ pattern: PATTERNS.webhookSecret.pattern }),
    },
    retrySchedule: {
      ...textOption(
        "schedule",
        "retry fast (after 1 5 15 30 60 s), realistic (over a day) or with own gaps: 1s,10s,1m",
        "fast",
      ),
      parse: retrySchedule,
    },
    webhookTimeout: {
      value: "duration",
      description: "limit the total time for a webhook response",
      defaultText: "10s",
      default: undefined,
      parse: parseDuration,
    },
    webhookInsecureTls: switchOption("accept self-signed certificates of https receivers"),
    allowWebhookHost: textsOption("name", "allow deliveries to this host too, such as host.docker.internal", hostName),
    allowLoopbackWebhooks: switchOption(
      "deliver to services on this machine's loopback even if --host opens the network",
    ),
    traceDeliveries: switchOption("send deliveries with the `traceparent` of the call that caused them"),
  }),
  ...inGroup("Security", {
    allowedHost: textsOption("name", "accept requests for this host name too; NAME:PORT for one port"),
    allowedOrigin: textsOption("origin", "accept requests from web pages of this origin", webOrigin),
    controlToken: textOption("token", "require this token on the control API", "generated if --host opens the network"),
    trust: switchOption(
      "send the webhooks of a database, a snapshot and a merchant-sandbox.json that were not written here",
    ),
  }),
};

/** The description of an option or a flag, with its default. */
export const withDefault = ({ description, defaultText }: Described): string =>
  defaultText === undefined ? description : `${description} (default: ${defaultText})`;

interface Described {
  description: string;
  defaultText?: string | undefined;
}

export const optionNames = Object.keys(optionDefinitions) as OptionName[];

/**
 * Options that only flags and variables set: merchant-sandbox.json may come with a folder that a stranger has written.
 */
export const NOT_IN_FILE: readonly string[] = [
  ...["webhookInsecureTls", "allowWebhookHost", "allowLoopbackWebhooks"],
  ...optionNames.filter((name) => optionDefinitions[name].group === "Security"),
];
/** Options that name a file or a folder. In merchant-sandbox.json, the path must be below the folder of that file. */
export const PATHS = ["db", "fixtures", "lessons", "snapshot", "faults", "scenario"];

const defaults = Object.fromEntries(optionNames.map((name) => [name, optionDefinitions[name].default]));

export const flagOf = (name: string) =>
  (optionDefinitions[name as OptionName] as OptionDefinition<unknown> | undefined)?.flag ?? `--${kebab(name)}`;
export const variableOf = (name: string) =>
  `MERCHANT_SANDBOX_${name.replace(/[A-Z]/g, (letter) => `_${letter}`).toUpperCase()}`;

/** Parses options given as text, and completes the others from `base`, then from the defaults. */
export function completeOptions(given: GivenOptions, base: Partial<Options> = {}): Options {
  for (const name of Object.keys(given))
    if (!optionNames.includes(name as OptionName))
      usageError(`There is no option ${name}.${didYouMean(name, optionNames)}`);
  const options: Record<string, unknown> = { ...defaults };
  for (const name of Object.keys(base) as OptionName[]) options[name] = base[name] ?? defaults[name];
  for (const name of optionNames) if (given[name] !== undefined) options[name] = parseOption(name, given[name]);
  return options as unknown as Options;
}

/** The value of an option that is given as text, one or several, or as a value already. Errors call it `label`. */
export function parseOption(name: OptionName, given: unknown, label = flagOf(name)): unknown {
  const definition: OptionDefinition<unknown> = optionDefinitions[name];
  const texts = [given].flat();
  if (!texts.every((text) => typeof text === "string")) return checkedValue(name, given);
  const values = texts.map((text) => definition.parse(text as string, label));
  if (!definition.multiple) return values.at(-1);
  // Not Object.assign: it would set the prototype for --rate-limit __proto__=….
  return name === "rateLimit" || name === "assumptions"
    ? Object.fromEntries((values as object[]).flatMap(Object.entries))
    : values;
}

/** Schemas of values that differ from the text in merchant-sandbox.json, or whose parts are checked at the start. */
const VALUES: Partial<Record<OptionName, TSchema>> = {
  assumptions: Type.Record(Type.Unknown()),
  clock: Type.Number(),
  endpoints: Type.Array(Type.Unknown()),
  faults: Type.String(),
  rateLimit: Type.Record(Type.Unknown()),
  retrySchedule: Type.Array(Type.Number()),
  webhookTimeout: Type.Number(),
};

/** A value that a program gave instead of text. */
function checkedValue(name: OptionName, value: unknown): unknown {
  const [error] = fieldErrors(Type.Object({ [name]: VALUES[name] ?? schemaOf(name) }), { [name]: value });
  return error ? usageError(error.message) : value;
}

/** Checks options against each other. Returns them with the control token in use. */
export function checkOptions(options: Options, operations: readonly string[]): Options {
  const controlToken = controlTokenOf(options);
  const unknown = Object.keys(options.rateLimit).find((name) => name !== "all" && !operations.includes(name));
  if (unknown !== undefined)
    usageError(`--rate-limit: there is no operation ${unknown}.${didYouMean(unknown, ["all", ...operations])}`);
  // The pages are read at the first lesson; a folder without any is reported now.
  if (options.lessons !== undefined) lessonFiles(resolve(options.lessons));
  return { ...options, controlToken };
}

/** A sandbox that other machines can reach requires a control token, and a host name that it accepts. */
function controlTokenOf({ host, allowedHost, controlToken }: Options): string | undefined {
  if (!opensNetwork({ host })) return controlToken;
  if (allowedHost.length > 0) return controlToken ?? randomToken();
  return usageError(
    `--host ${host} opens the sandbox to the network: add --allowed-host <name> with the host name that clients use.`,
  );
}

/** Whether other machines can reach the sandbox. */
export const opensNetwork = ({ host }: Pick<Options, "host">) =>
  host !== undefined && !/^(localhost|127(\.\d+){3}|::1)$/.test(host);

/** The host in the sandbox's own URL: one that it accepts. */
export function ownHost({ host = "127.0.0.1", allowedHost }: Options): string {
  const isEveryAddress = host === "0.0.0.0" || host === "::";
  if (isEveryAddress) return allowedHost.find((name) => !/:\d+$/.test(name)) ?? host;
  return host.includes(":") ? `[${host}]` : host;
}

/** The file in a folder that sets the options of the sandboxes started there. */
export const CONFIG_FILE = "merchant-sandbox.json";

function schemaOf(name: OptionName): TSchema {
  const { value, multiple, schema } = optionDefinitions[name];
  const description = withDefault(optionDefinitions[name]);
  if (schema) return annotate(schema, { description });
  if (value === undefined) return Type.Boolean({ description });
  return multiple
    ? Type.Union([Type.String(), Type.Array(Type.String())], { description })
    : Type.String({ description });
}

export const configSchema = Type.Object(
  {
    $schema: Type.Optional(Type.String({ description: "The address of this schema, for editors" })),
    ...Object.fromEntries(
      optionNames.filter((name) => !NOT_IN_FILE.includes(name)).map((name) => [name, Type.Optional(schemaOf(name))]),
    ),
  },
  {
    title: "merchant-sandbox.json",
    description: "Options of the sandboxes that are started in this folder",
    additionalProperties: false,
  },
);
