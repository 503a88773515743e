// A merchant of a test's own: what it calls with, and of the control plane what concerns nobody else.

import type {
  ControlPlane,
  EventsListInput,
  Expectation,
  FaultRule,
  FaultsAddInput,
  FaultsClearReply,
  LoggedEvent,
  LoggedRequest,
  RequestsListInput,
  SandboxVerifyInput,
  SandboxVerifyReply,
} from "./control-plane.generated.ts";

export interface OwnMerchant {
  readonly id: string;
  readonly apiKey: string;
  /** What a client is pointed at. */
  readonly baseUrl: string;
  readonly faults: {
    /** Arms a rule that touches this merchant alone. */
    add(rule: FaultsAddInput): Promise<FaultRule>;
    /** Removes the rules that can touch nobody else. */
    clear(): Promise<FaultsClearReply>;
  };
  /** What was asked with its keys, newest first: 100 unless another limit is given. */
  requests(given?: Omit<RequestsListInput, "merchant">): Promise<LoggedRequest[]>;
  /** What happened to it, newest first: 100 unless another limit is given. */
  events(given?: Omit<EventsListInput, "merchant">): Promise<LoggedEvent[]>;
  /** Holds what it did against what is expected, and waits for that as long as `within` says. */
  verify(expected: Expectation[] | Omit<SandboxVerifyInput, "merchant">): Promise<SandboxVerifyReply>;
  /** Removes it with everything it has. */
  remove(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}

const MOST = 100;

/** Mints a merchant with everything that a fixture has, `lodge` unless given, on a sandbox here or elsewhere. */
export async function ownMerchant(sandbox: ControlPlane, given: { fixture?: string } = {}): Promise<OwnMerchant> {
  const { baseUrl } = await sandbox.index();
  const { merchant, apiKey } = await sandbox.merchants.mint(given);
  const remove = async () => void (await sandbox.merchants.remove({ id: merchant }));
  return {
    id: merchant,
    apiKey,
    baseUrl,
    faults: {
      add: (rule) => sandbox.faults.add({ ...rule, match: { ...rule.match, merchant } }),
      clear: () => sandbox.faults.clear({ merchant }),
    },
    requests: async (filter) => (await sandbox.requests.list({ limit: MOST, ...filter, merchant })).data,
    events: async (filter) => (await sandbox.events.list({ limit: MOST, ...filter, merchant })).data,
    verify: (expected) => sandbox.verify({ ...(Array.isArray(expected) ? { all: expected } : expected), merchant }),
    remove,
    [Symbol.asyncDispose]: remove,
  };
}
