// Commands and their arbitraries. A command names records, keys and calls by number; the runner resolves them at run
// time, so any subset of a trace is valid.

import fc from "fast-check";
import { knownFields, operations } from "../operations.ts";
import { type KindName, kindOf } from "../record-kinds.ts";
import { type Change, changesOf } from "./body-arbitraries.ts";
import { type FaultCommand, faults } from "./fault-commands.ts";

/** A record or a list item, by index modulo the length of the list. */
export interface Pick {
  nth: number;
  /** `ready` picks a record in a state that the operation accepts, if there is one. */
  whose: "own" | "ready" | "other" | "nobody";
}

export interface CallCommand {
  type: "call";
  operation: string;
  who: Who;
  picks: Pick[];
  changes: Change[];
  /** The endpoint's address: a receiver, or an index into the rejected ADDRESSES. */
  address: { receiver: string } | { address: number };
  query: Query;
  key: string | undefined;
  oddity: string | undefined;
}

/** The credentials sent with a call. */
export interface Who {
  as: "key" | "session" | "none" | "unknown" | "malformed" | "live";
  nth: number;
}

export interface Query {
  limit?: string;
  after?: Pick;
  before?: Pick;
  filter?: string;
  unknown?: boolean;
}

export type Command =
  | CallCommand
  /** Repeats an earlier call, byte for byte. */
  | { type: "again"; nth: number; keyed: boolean }
  | { type: "astray"; method: string; path: string; who: Who }
  | { type: "reset"; nth: number | undefined }
  | { type: "save" }
  | { type: "restore" }
  | { type: "add-merchant"; nth: number }
  | { type: "remove"; nth: number }
  | { type: "record"; kind: KindName; state: number | undefined; merchant: number }
  | { type: "move"; kind: KindName; nth: number; state: number; merchant: number }
  | { type: "window"; merchant: number; remaining: number; resetIn: string | undefined }
  | FaultCommand
  | { type: "disarm" }
  | { type: "advance"; by: string }
  | { type: "set"; by: number; thaw: boolean }
  | { type: "replay"; nth: number; attempt: boolean }
  | { type: "enable"; nth: number }
  | { type: "crash"; during: boolean; nth: number };

const nth = fc.nat({ max: 40 });
const few = fc.oneof({ weight: 5, arbitrary: fc.constant(0) }, { weight: 2, arbitrary: fc.nat({ max: 6 }) });
const rarely = <T>(arbitrary: fc.Arbitrary<T>, freq = 8) => fc.option(arbitrary, { freq, nil: undefined });
const seldom = <T>(usual: T, weight: number, ...others: T[]) =>
  fc.oneof({ weight, arbitrary: fc.constant(usual) }, { weight: 1, arbitrary: fc.constantFrom(...others) });

const who: fc.Arbitrary<Who> = fc.record({
  as: fc.oneof(
    { weight: 24, arbitrary: fc.constant<Who["as"]>("key") },
    { weight: 2, arbitrary: fc.constant<Who["as"]>("session") },
    { weight: 1, arbitrary: fc.constantFrom<Who["as"]>("none", "unknown", "malformed", "live") },
  ),
  nth: few,
});

const pick: fc.Arbitrary<Pick> = fc.record({
  nth,
  whose: fc.constantFrom<Pick["whose"]>("own", "ready", "ready", "ready", "ready", "other", "nobody"),
});

const sent = <T>(arbitrary: fc.Arbitrary<T>) => fc.option(arbitrary, { freq: 1, nil: undefined });

const query = fc
  .record({
    limit: sent(seldom("2", 8, "1", "3", "100", "25", "0", "101", "x", "1.5")),
    after: fc.option(pick, { freq: 2, nil: undefined }),
    before: fc.option(pick, { freq: 1, nil: undefined }),
    filter: sent(
      fc.constantFrom(
        "status=succeeded",
        "status=failed",
        "status=lost",
        "type=payment.succeeded",
        "event",
        "endpoint",
      ),
    ),
    unknown: seldom(undefined, 9, true),
  })
  .map((drawn) => Object.fromEntries(Object.entries(drawn).filter(([, value]) => value !== undefined)) as Query);

/** A silent receiver is drawn rarely, because it costs real time. All other receivers respond at once. */
const receiver = fc.oneof(
  { weight: 8, arbitrary: fc.constant("ok") },
  { weight: 32, arbitrary: fc.constantFrom("ok", "ok", "down", "again", "later", "gone", "moved", "broken", "closed") },
  { weight: 1, arbitrary: fc.constant("silent") },
);

const address = fc.oneof(
  { weight: 8, arbitrary: receiver.map((name) => ({ receiver: name })) },
  { weight: 1, arbitrary: nth.map((place) => ({ address: place })) },
);

const key = fc.oneof(
  { weight: 6, arbitrary: fc.constant(undefined) },
  { weight: 6, arbitrary: fc.constantFrom("k1", "k2", "k3") },
  { weight: 1, arbitrary: fc.constantFrom("", "two words", "k".repeat(256), "k".repeat(255)) },
);

const ODDITIES = ["text/plain", "no type", "charset", "gzip", "no json", "list", "nothing"];

const callOf = (operation: (typeof operations)[number]): fc.Arbitrary<CallCommand> => {
  const isRead = operation.method === "GET";
  return fc.record({
    type: fc.constant("call" as const),
    operation: fc.constant(operation.id),
    who,
    picks: fc.tuple(pick, pick),
    changes: isRead ? fc.constant([]) : changesOf(knownFields(operation)),
    address: operation.id === "webhooks.create" ? address : fc.constant({ address: 0 }),
    query: isRead ? query : fc.constant({}),
    key: isRead ? fc.constant(undefined) : key,
    oddity: isRead ? fc.constant(undefined) : seldom<string | undefined>(undefined, 20, ...ODDITIES),
  });
};

/** Operations on which other operations depend are generated more often. */
const OFTEN: Record<string, number> = {
  "webhooks.create": 8,
  "events.test": 4,
  "deliveries.list": 4,
  "webhooks.list": 4,
  "merchants.create": 4,
  "bookings.decline": 4,
};

const call = fc.oneof(
  ...operations.map((operation) => ({ weight: OFTEN[operation.id] ?? 2, arbitrary: callOf(operation) })),
);

const astray: fc.Arbitrary<Command> = fc.record({
  type: fc.constant("astray" as const),
  method: fc.constantFrom("GET", "POST", "PUT", "DELETE", "PATCH"),
  path: fc.constantFrom(
    "/v1/nothing",
    "/v1/payments/",
    "/v1/payments",
    "/v1/customers/cus_ines",
    "/v1/statutory/settings",
    "/v1/webhooks",
    "/v1/employees/payroll/pyr_draft/items",
  ),
  who,
});

/** Kinds of records that are drawn more often. Operations check the state of most of them. */
const STEERED: KindName[] = [
  "booking",
  "remittance",
  "gov_payment",
  "payroll",
  "payment",
  "product",
  "payout",
  "marketplace_order",
];
const LISTED: KindName[] = [
  "membership_renewal",
  "sync_log",
  "disciplinary_record",
  "appraisal",
  "customer",
  "event_organizer",
];
const kind = fc.oneof(
  { weight: 3, arbitrary: fc.constantFrom(...STEERED) },
  { weight: 1, arbitrary: fc.constantFrom(...LISTED) },
);

const states = fc.nat({ max: 6 });
const SPANS = ["0s", "1s", "5s", "20s", "2m", "10m", "1h", "23h", "25h"];
const HOUR = 3_600;

const controlCommands: fc.Arbitrary<Command> = fc.oneof(
  {
    weight: 2,
    arbitrary: fc.record({ type: fc.constant("reset" as const), nth: fc.option(few, { freq: 3, nil: undefined }) }),
  },
  { weight: 1, arbitrary: fc.constant<Command>({ type: "save" }) },
  { weight: 1, arbitrary: fc.constant<Command>({ type: "restore" }) },
  { weight: 1, arbitrary: fc.record({ type: fc.constant("add-merchant" as const), nth: fc.nat({ max: 3 }) }) },
  { weight: 1, arbitrary: fc.record({ type: fc.constant("remove" as const), nth: fc.nat({ max: 6 }) }) },
  {
    weight: 4,
    arbitrary: fc.record({ type: fc.constant("record" as const), kind, state: rarely(states, 1), merchant: few }),
  },
  { weight: 4, arbitrary: fc.record({ type: fc.constant("move" as const), kind, nth, state: states, merchant: few }) },
  {
    weight: 1,
    arbitrary: fc.record({
      type: fc.constant("move" as const),
      kind: fc.constant<KindName>("merchant"),
      nth,
      state: states,
      merchant: few,
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      type: fc.constant("window" as const),
      merchant: few,
      remaining: fc.nat({ max: 4 }),
      resetIn: rarely(fc.constantFrom("3s", "2m"), 1),
    }),
  },
  { weight: 6, arbitrary: faults },
  { weight: 1, arbitrary: fc.constant<Command>({ type: "disarm" }) },
  { weight: 6, arbitrary: fc.record({ type: fc.constant("advance" as const), by: fc.constantFrom(...SPANS) }) },
  {
    weight: 2,
    arbitrary: fc.record({
      type: fc.constant("set" as const),
      by: fc.constantFrom(-26 * HOUR, -60, -1, 0, 5, 61, HOUR, 25 * HOUR),
      thaw: fc.boolean(),
    }),
  },
  { weight: 2, arbitrary: fc.record({ type: fc.constant("replay" as const), nth, attempt: fc.boolean() }) },
  { weight: 1, arbitrary: fc.record({ type: fc.constant("enable" as const), nth }) },
);

const crash: fc.Arbitrary<Command> = fc.record({ type: fc.constant("crash" as const), during: fc.boolean(), nth });

const commandArbitrary = (crashes: boolean): fc.Arbitrary<Command> =>
  fc.oneof(
    { weight: 30, arbitrary: call },
    {
      weight: 4,
      arbitrary: fc.record({ type: fc.constant("again" as const), nth: fc.nat({ max: 6 }), keyed: fc.boolean() }),
    },
    { weight: 1, arbitrary: astray },
    { weight: 12, arbitrary: controlCommands },
    ...(crashes ? [{ weight: 2, arbitrary: crash }] : []),
  );

/** A generated run: its configuration and its commands. */
export interface Trace {
  rateLimit: string;
  bodies: "checked" | "open";
  commands: Command[];
}

const trace = (options: { most: number; crashes: boolean }): fc.Arbitrary<Trace> =>
  fc.record({
    rateLimit: fc.constantFrom("none", "none", "30/10s", "6000/60s"),
    bodies: fc.constantFrom("checked", "checked", "open"),
    commands: fc.array(commandArbitrary(options.crashes), {
      minLength: Math.ceil(options.most / 2),
      maxLength: options.most,
    }),
  });

/** Generates a trace; the same seed gives the same trace. Without `silent`, every receiver responds at once. */
export function generateTrace(
  seed: number,
  { silent = false, ...options }: { most: number; crashes: boolean; silent?: boolean },
): Trace {
  const [drawn] = fc.sample(trace(options), { seed, numRuns: 1 });
  const { commands, ...rest } = drawn as Trace;
  return { ...rest, commands: silent ? commands : commands.map(withoutSilence) };
}

const withoutSilence = (command: Command): Command =>
  command.type === "call" && "receiver" in command.address && command.address.receiver === "silent"
    ? { ...command, address: { receiver: "broken" } }
    : command;

export const statesOf = (kind: KindName): string[] => Object.keys(kindOf(kind).transitions);
