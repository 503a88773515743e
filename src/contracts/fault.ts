// What the rooms say to one another about faults: what can be done to a call or to a delivery, which rule did it, and when.

export type FaultTarget = "api" | "delivery";

/** Where on the way of a call a fault steps in, in the order in which a call gets there. Latency is apart: it composes with all. */
export const API_PHASES = ["outage", "auth", "limit", "recall", "before", "read", "effect", "after", "latency", "body"] as const;
export type ApiPhase = (typeof API_PHASES)[number];

/** What of a delivery a fault changes: when it is sent, what is sent, how, and what follows from the answer. */
export const DELIVERY_PHASES = ["schedule", "content", "transport", "retry"] as const;
export type DeliveryPhase = (typeof DELIVERY_PHASES)[number];

/** A call as far as it is known in a phase. */
export interface CallSubject {
  requestId: string;
  merchant: string | undefined;
  key: string | undefined;
  operation: string | undefined;
  /** Tells calls without an Idempotency-Key apart: method and target. */
  address: string;
  header(name: string): string | undefined;
  /** The parsed body; empty where there is none, or none was read yet. */
  body: unknown;
}

/** One attempt of a delivery that is about to be planned. */
export interface DeliverySubject {
  merchant: string;
  endpoint: string;
  eventType: string;
  eventId: string;
  /** Counts from one. */
  attempt: number;
  attemptId?: string;
  /** The parsed event: asked for only when a rule looks into it. */
  event?: () => unknown;
  /** When the endpoint's secret was last rotated, in sandbox milliseconds; undefined where it never was. */
  rotatedAt?: () => number | undefined;
}

/** What an answer says of the time to wait. */
export type RetryAfter = number | "absent" | "zero" | "past" | "invalid" | { form: "http_date"; seconds: number };

export type CutForm = "reset" | "empty" | "hang" | "garbage" | "malformed_chunk";
export type MangleForm = "truncate" | "invalid_json" | "html" | "wrong_content_type" | "drip";

/** All that can be done to a call. Each action of the grammar comes to one of these. */
export type ApiEffect =
  /** Answers instead of the service. Without a code, the status says which one it is. */
  | { kind: "refuse"; status: number; code?: string; message?: string; retryAfter?: RetryAfter; headers?: Record<string, string> }
  /** Leaves nothing of the merchant's real window, which ends in so many milliseconds, or when it would anyway. */
  | { kind: "exhaust"; resetIn?: number }
  /** Real milliseconds before the headers, or between the headers and the body. */
  | { kind: "delay"; milliseconds: number; before: "headers" | "body" }
  /** No answer at all. */
  | { kind: "cut"; as: CutForm }
  /** The answer, spoilt. */
  | { kind: "mangle"; as: MangleForm; bytesPerSecond: number }
  /** The answer remembered for the Idempotency-Key is forgotten. */
  | { kind: "forget" }
  /** Reads answer what was true so many sandbox milliseconds ago. */
  | { kind: "lag"; milliseconds: number }
  /** The service's clock is wrong by so many milliseconds. */
  | { kind: "skew"; milliseconds: number };

/** All that can be done to an attempt of a delivery. Spans are milliseconds. */
export type DeliveryEffect =
  | { kind: "duplicate"; copies: number; gap: number; concurrent: boolean }
  | { kind: "reorder"; batch: number; order: "reverse" | "shuffle"; hold: number | undefined }
  | { kind: "delay"; by: number }
  | { kind: "delay"; until: "before_response" | { after: string } }
  | { kind: "drop" }
  | { kind: "signature"; as: "missing" | "wrong_secret" | "previous_secret" | "body_changed" | "malformed" }
  | {
      kind: "payload";
      as: "patch" | "truncate" | "unknown_type" | "extra_field" | "invalid_json";
      /** JSON Pointers into the event, and what stands there instead. */
      patch: Readonly<Record<string, unknown>>;
    }
  | { kind: "transport"; as: "slow_send" | "wrong_content_type" | "abort_mid_body" }
  | { kind: "retry_policy"; as: "ignore_2xx" | "give_up" | "compress"; factor: number };

/** That a rule did something. */
export interface Firing {
  ruleId: string;
  name: string | null;
  target: FaultTarget;
  action: string;
  /** Which of its forms the action took, such as `previous_secret`; null where it has none, or none was given. */
  form: string | null;
  /** The judge's rules that this rule was set up to try. */
  expect: readonly string[];
  merchant: string | null;
  /** The one or the other says what was hit. */
  requestId: string | null;
  attemptId: string | null;
  eventId: string | null;
  endpointId: string | null;
  /** When the secret of the endpoint that was hit was rotated, in sandbox milliseconds; null where it never was. */
  rotatedAt: number | null;
  /** Sandbox milliseconds. */
  at: number;
}

export interface Injection<Effect> {
  effect: Effect;
  firing: Firing;
  /** Whether the answer may say which rule touched it. */
  label: boolean;
}

export type ApiInjection = Injection<ApiEffect>;
export type DeliveryInjection = Injection<DeliveryEffect> & { phase: DeliveryPhase };

/** A fault that a request brought along for itself. */
export interface InlineFault {
  phase: ApiPhase;
  action: string;
  effect: ApiEffect;
}

/** What the pipe asks. */
export interface ApiFaults {
  /** False while no rule could touch any call: then nothing else need be asked. */
  readonly armed: boolean;
  /** False where no rule of this phase could touch a call of this operation: then it need not be asked. */
  concerns(phase: ApiPhase, operation: string | undefined): boolean;
  /** Reads what a request asks to be done to itself; 400 where that is no action on a call. */
  read(text: string): InlineFault[];
  /** What to do to a call in this phase. Asking counts: to be asked once in each phase. */
  decide(phase: ApiPhase, call: CallSubject, brought?: readonly InlineFault[]): ApiInjection | undefined;
}

/** What the dispatcher asks. */
export interface DeliveryFaults {
  /** False while no rule could touch any delivery. */
  readonly armed: boolean;
  /** What to do to an attempt: one injection for each phase at most. Asking counts: to be asked once for each attempt. */
  forDelivery(delivery: DeliverySubject): DeliveryInjection[];
  /** Tells whoever listens that what a rule did has touched one more attempt; it is counted no second time. */
  repeat(firing: Firing): void;
}

export type RuleStatus = "armed" | "spent" | "expired" | "removed";

/** A rule as the control plane shows it. */
export interface RuleState {
  id: string;
  name: string | null;
  target: FaultTarget;
  match: Readonly<Record<string, unknown>>;
  trigger: Readonly<Record<string, unknown>>;
  action: Readonly<Record<string, unknown>> & { readonly type: string };
  expect: readonly string[];
  ttl: string | null;
  priority: number;
  label: boolean;
  enabled: boolean;
  status: RuleStatus;
  /** How many calls or attempts it matched. */
  seen: number;
  fired: number;
  /** How often it may still fire; null where that has no bound, or each of its budgets has its own. */
  remaining: number | null;
  /** Sandbox time; null when it never fired. */
  lastFiredAt: string | null;
  /** Sandbox time at which it will have lived; null when only a reset ends it. */
  endsAt: string | null;
}

/** The rules there are: what the control plane works with. */
export interface RuleRegistry {
  /** Refuses a rule that could not be added. */
  check(rule: unknown): void;
  add(rule: unknown): RuleState;
  /** In the order in which they are tried. */
  list(): RuleState[];
  find(id: string): RuleState;
  change(id: string, changes: unknown): RuleState;
  remove(id: string): RuleState;
  /** Removes every rule, or those that can only touch one merchant; answers how many. */
  clear(merchant?: string): number;
  /** The JSON Schema of a rule. */
  schema(): Record<string, unknown>;
}
