// A merchant for one test: its API key, and the control API limited to this merchant.

import type {
  EventsListInput,
  FaultRule,
  FaultsAddInput,
  FaultsClearReply,
  LoggedEvent,
  LoggedRequest,
  RequestsListInput,
  SandboxVerifyReply,
  TriggeredEvent,
} from "../../generated/control-api.ts";
import { baggageOf } from "../kernel/baggage.ts";
import type { CountedExpectation, SandboxApi, VerifyOptions } from "./effects.ts";

export interface OwnMerchant {
  readonly id: string;
  readonly apiKey: string;
  /**
   * The W3C header `baggage`. With `--isolation on`, a call with this header and the key of the fixture's own merchant
   * acts as this merchant.
   */
  readonly baggage: string;
  /** The base URL for the client under test, including `/v1`. */
  readonly baseUrl: string;
  readonly faults: {
    /** Arms a fault rule for this merchant only. */
    add(rule: FaultsAddInput): Promise<FaultRule>;
    /** Removes the fault rules that are limited to this merchant. */
    clear(): Promise<FaultsClearReply>;
  };
  /** Creates a record of the merchant, in any status. Missing fields get realistic values. */
  make(kind: string, fields?: Record<string, unknown>): Promise<Record<string, unknown>>;
  /** Changes the status or the fields of one of the merchant's records. */
  move(kind: string, id: string, changes: Record<string, unknown>): Promise<Record<string, unknown>>;
  /** Triggers an event of the merchant, together with its record. */
  trigger(type: string, data?: Record<string, unknown>): Promise<TriggeredEvent>;
  /** The requests sent with the merchant's keys, newest first (default limit: 100). */
  requests(given?: Omit<RequestsListInput, "merchant">): Promise<LoggedRequest[]>;
  /** The events of the merchant, newest first (default limit: 100). */
  events(given?: Omit<EventsListInput, "merchant">): Promise<LoggedEvent[]>;
  /** Checks expectations about this merchant, and waits up to `within` for them to hold. */
  verify(expected: CountedExpectation[] | Omit<VerifyOptions, "merchant">): Promise<SandboxVerifyReply>;
  /** Removes the merchant with all its records, once its webhooks in flight have been received and judged. */
  remove(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}

const DEFAULT_LIMIT = 100;

/**
 * Creates a merchant with the records of a fixture, on a sandbox in this process or another. `fixture` is its name or a
 * merchant created from it (default: the first fixture). With a `name`, such as the name of the test, its ids, keys and
 * secrets are the same in every run.
 */
export async function ownMerchant(
  sandbox: SandboxApi,
  { fixture, name }: { fixture?: string | undefined; name?: string | undefined } = {},
): Promise<OwnMerchant> {
  const {
    id: merchant,
    apiKey,
    baseUrl,
  } = await sandbox.merchants.add({
    ...(fixture !== undefined && { fixture }),
    ...(name !== undefined && { name }),
  });
  const remove = async () => void (await sandbox.merchants.remove({ id: merchant }));
  return {
    id: merchant,
    apiKey,
    baggage: baggageOf(merchant),
    baseUrl,
    faults: {
      add: (rule) => sandbox.faults.add({ ...rule, match: { ...rule.match, merchant } }),
      clear: () => sandbox.faults.clear({ merchant }),
    },
    make: (kind, fields) => sandbox.records.make({ ...fields, kind, merchant }),
    move: (kind, id, changes) => sandbox.records.move({ ...changes, kind, id, merchant }),
    trigger: (type, data) => sandbox.events.trigger({ type, merchant, ...(data && { data }) }),
    requests: async (filter) => (await sandbox.requests.list({ limit: DEFAULT_LIMIT, ...filter, merchant })).data,
    events: async (filter) => (await sandbox.events.list({ limit: DEFAULT_LIMIT, ...filter, merchant })).data,
    verify: (expected) => sandbox.verify({ ...(Array.isArray(expected) ? { all: expected } : expected), merchant }),
    remove,
    [Symbol.asyncDispose]: remove,
  };
}
