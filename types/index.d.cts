// Written from the sources by `npm run docs`: change those, not this.
/// <reference lib="esnext.disposable" />

/** The control API of a sandbox. */
export interface ControlApi {
  /** Get an overview of the sandbox. Version, address, merchants with their keys, and links. */
  overview(): Promise<SandboxOverviewReply>;
  /** Check whether the sandbox is ready. Replies 200 once the database is seeded and the sandbox listens; before that, connections are refused. Replies 503 if the SQLite file was deleted or replaced after the start. */
  health(): Promise<SandboxHealthReply>;
  /** List operations and event types with how often each was called, emitted and delivered. */
  operations(given?: SandboxOperationsInput): Promise<SandboxOperationsReply>;
  /** Get requests, errors and 95th percentile latency of the last five minutes, in total and by operation. In 60 spans of 5 s of real time. A reset of everything clears it. */
  trends(): Promise<SandboxTrendsReply>;
  /** Get the OpenAPI document of the service. */
  openapi(given?: SandboxOpenapiInput): Promise<OpenapiDocument>;
  /** Get the OpenAPI document of the control API. */
  controlOpenapi(given?: SandboxControlOpenapiInput): Promise<OpenapiDocument>;
  /** Get every fact about the service that the sandbox is built on, documented or assumed. */
  assumptions(given?: SandboxAssumptionsInput): Promise<SandboxAssumptionsReply>;
  /** Wait until no delivery is due or in flight. Use this in tests instead of sleeping. `settled` does not mean that everything was delivered: retries that are due later and held deliveries are not waited for. `pending` counts both. */
  drain(given?: SandboxDrainInput): Promise<SandboxDrainReply>;
  /** Check expectations on the run, and wait for them if needed. Replies as soon as all expectations hold at one moment, the result can no longer change, or `within` is over. A scenario about receivers holds only after the receivers had 3 seconds to act on the last delivery. Covers everything since the last reset. */
  verify(given: SandboxVerifyInput): Promise<SandboxVerifyReply>;
  /** Get a report of the run: coverage, verdicts, requests and deliveries. `json` has all the data, `har` the traffic as HAR 1.2, `junit` a test case for each rule and operation that the judge decided, each scenario and each audit, `markdown` a summary for a CI job, `html` a page in one file. Secrets are masked in every format. */
  report(given: SandboxReportInput & {
    format: "junit" | "markdown" | "html";
  }): Promise<string>;
  /** Get a report of the run: coverage, verdicts, requests and deliveries. `json` has all the data, `har` the traffic as HAR 1.2, `junit` a test case for each rule and operation that the judge decided, each scenario and each audit, `markdown` a summary for a CI job, `html` a page in one file. Secrets are masked in every format. */
  report(given?: SandboxReportInput): Promise<RunReport | HarLog>;
  /** Test a webhook receiver with genuine, repeated, malformed and forged events. Sends about 220 synthetic payment events to the receiver, which takes a few seconds. They belong to no merchant, are not logged as deliveries, and are not retried. Their `created` is the sandbox time, or the machine's time if the receiver accepts only that. The verdict is never `pass`, because this call does not check whether the receiver acts once on each event: `POST /audits` does. */
  audit(given: SandboxAuditInput): Promise<AuditResult>;
  /** Reset to the start of the sandbox, including ids. Resets, of one merchant or all: records, keys, endpoints, events, deliveries, stored Idempotency-Key responses, rate-limit windows, the request log, faults, scenarios and verdicts. The data returns to the fixtures, or to the snapshot of the options. Faults, scenarios and endpoints of the options are set up again. Without `merchant`, the clock also returns to the start, and merchants that were created are removed. With `merchant`, the clock and the other merchants stay as they are. */
  reset(given?: SandboxResetInput): Promise<SandboxResetReply>;
  readonly requests: {
    /** List requests, newest first. The log keeps the newest 10,000 requests. Calls of /_sandbox are not logged. */
    list(given?: RequestsListInput): Promise<RequestsListReply>;
    /** Get a request with its headers, bodies and events. */
    get(given: {
      id: string;
    }): Promise<RequestDetail>;
  };
  readonly traces: {
    /** Get what one action caused: requests, events, deliveries, and the calls that receivers made back. `id` is a trace id of 32 hex digits, or the id of a request, an event or a delivery attempt. Each step follows its cause. If the logged request has a `traceparent` header, the action is the whole trace; otherwise it starts with that request. The calls of a receiver that are matched by time alone are not followed further. */
    get(given: {
      id: string;
    }): Promise<Trace>;
  };
  readonly events: {
    /** List events of all merchants, newest first. The log keeps the newest 10,000, and all that is pending, until a reset or a restore. */
    list(given?: EventsListInput): Promise<EventsListReply>;
    /** Get an event of any merchant. */
    get(given: {
      id: string;
    }): Promise<LoggedEvent>;
    /** Replay an event to every endpoint subscribed to its type. */
    replay(given: {
      id: string;
    }): Promise<EventsReplayReply>;
    /** Trigger an event. Creates or changes the record that the event is about; [Events](events.md) describes this for each type. Like an event of `POST /v1/webhook-events/test`, a synthetic event changes no record. An event of a type that the service never sends is synthetic; the reply then has a warning. */
    trigger(given: EventsTriggerInput): Promise<TriggeredEvent>;
  };
  readonly deliveries: {
    /** List delivery attempts of all merchants, newest first. The log keeps the newest 10,000, and all that is pending, until a reset or a restore. */
    list(given?: DeliveriesListInput): Promise<DeliveriesListReply>;
    /** Get a delivery attempt, all others of the same event to the same endpoint, and the request that caused the event. */
    get(given: {
      id: string;
    }): Promise<DeliveriesGetReply>;
    /** Replay a delivery attempt to its endpoint. Sends the same bytes to the endpoint's current address, signed with its current secret. One attempt, no retries. */
    replay(given: {
      id: string;
    }): Promise<DeliveriesReplayReply>;
    /** Send the held deliveries, and trust their file. Deliveries are held if they come from a database, a snapshot or a merchant-sandbox.json that this user's sandboxes did not write, or from the snapshot that the sandbox was started with. */
    release(): Promise<DeliveriesReleaseReply>;
  };
  readonly signature: {
    /** Diagnose a signature that does not match. */
    explain(given: SignatureExplainInput): Promise<SignatureExplainReply>;
  };
  readonly verdicts: {
    /** List verdicts on how clients retry and how receivers handle webhooks. The judge always watches and never changes a response. After a 429, a 503, a lost response or another transient failure, it checks the client's next call of the same kind. A wait counts in real time or in sandbox time, whichever is longer, so a client of a frozen sandbox waits by advancing the clock. The newest 1,000 of each verdict are kept. */
    list(given?: VerdictsListInput): Promise<VerdictsListReply>;
    /** Get a verdict. */
    get(given: {
      id: string;
    }): Promise<Verdict>;
    /** Add the verdicts of another sandbox. Under `exec`, each sandbox that a test creates with `createSandbox()` makes this call twice: at its start, without a number of requests, and when it closes. The report of the run and `--fail-on` then include its verdicts. */
    add(given: VerdictsAddInput): Promise<VerdictsAddReply>;
    /** Delete all verdicts, including open ones. Also deletes the results of audits, counts of effects and disarmed scenarios from the report. */
    clear(): Promise<VerdictsClearReply>;
  };
  readonly audits: {
    /** Test a webhook receiver and how often it acts. Like `POST /audit`, but in steps. After each step, send the count of the receiver's effects, such as the rows in a table, until the reply has a `result`. The command `audit --effects <command>` and `sandbox.audit({ url, effects: () => count() })` do this for you. During the audit, nothing else may change the count. */
    start(given: AuditsStartInput): Promise<StartedAudit>;
    /** Continue an audit with the count of the receiver's effects. */
    resume(given: AuditsResumeInput): Promise<StartedAudit>;
  };
  readonly endpoints: {
    /** List the webhook endpoints of all merchants, with their secrets. Covers the first 500 merchants; for another one, use `merchant`. */
    list(given?: EndpointsListInput): Promise<EndpointsListReply>;
    /** Get a webhook endpoint with its secret. */
    get(given: {
      id: string;
    }): Promise<ListedEndpoint>;
    /** Register a webhook endpoint, unless the merchant has one at this URL. Faults do not apply to this call, and the request log omits it, because it is not a client's call. If the endpoint exists, the call changes only its events and its secret, if given. */
    register(given: EndpointsRegisterInput): Promise<RegisteredEndpoint>;
    /** Remove a webhook endpoint. */
    remove(given: {
      id: string;
    }): Promise<EndpointsRemoveReply>;
    /** Disable an endpoint, like a 410 from its receiver. Its pending deliveries are cancelled, and nothing is sent to it until it is enabled again. */
    disable(given: {
      id: string;
    }): Promise<EndpointsDisableReply>;
    /** Enable a disabled endpoint. */
    enable(given: {
      id: string;
    }): Promise<EndpointsEnableReply>;
    /** Delay the deliveries to an endpoint until its server accepts connections. Replies as soon as the server accepts a connection. Deliveries that fall due before are sent after the reply, or when the caller closes its own connection. */
    await(given: EndpointsAwaitInput): Promise<EndpointsAwaitReply>;
  };
  readonly clock: {
    /** Get the sandbox time. */
    get(): Promise<Clock>;
    /** Freeze the clock, set it, or let it run. A SQLite file also stores the clock. A later start without `--clock` continues it. */
    set(given: ClockSetInput): Promise<Clock>;
    /** Advance the clock: everything due until then happens, in order, before the reply. Stops early, at the time reached so far, if the client disconnects or the clock is set or reset meanwhile. */
    advance(given: ClockAdvanceInput): Promise<ClockAdvanceReply>;
  };
  readonly faults: {
    /** List the fault rules in the order in which they are tried, with their counts. */
    list(given?: FaultsListInput): Promise<FaultsListReply>;
    /** Arm a fault rule. At each stage of a call the first matching rule fires; latency is added to any other fault. By default, a rule matches every call, fires at the next match, and lasts until a reset. A new rule cannot reuse the `id` of a removed rule while the logs still name it. */
    add(given: FaultsAddInput): Promise<FaultRule>;
    /** Get the JSON Schema of a fault rule. */
    schema(): Promise<JsonSchema>;
    /** Get a fault rule with its counts. */
    get(given: {
      id: string;
    }): Promise<FaultRule>;
    /** Change a fault rule. Replaces the fields sent and keeps the others. A new trigger, or a new ttl, starts counting again. */
    change(given: FaultsChangeInput): Promise<FaultRule>;
    /** Remove a fault rule; the reply has its final counts. */
    remove(given: {
      id: string;
    }): Promise<FaultRule>;
    /** Remove every fault rule, or one merchant's rules. */
    clear(given?: FaultsClearInput): Promise<FaultsClearReply>;
  };
  readonly scenarios: {
    /** List the scenarios, with the results of those that are armed. */
    list(): Promise<ScenariosListReply>;
    /** Get the JSON Schema of a scenario file. */
    schema(): Promise<JsonSchema>;
    /** Get a scenario: its faults, expectations, verdicts and score. */
    get(given: ScenariosGetInput): Promise<Scenario>;
    /** Arm a scenario, for one merchant or for all. Arms the scenario's faults. The verdicts they cause count towards the scenario's score. A scenario that is already armed starts again; a reset disarms it. */
    start(given: ScenariosStartInput): Promise<Scenario>;
    /** Update how often the receiver has acted, if the scenario was armed with `effects`. The increase must equal the number of events that the receiver accepted since the scenario was armed. */
    count(given: ScenariosCountInput): Promise<Scenario>;
    /** Disarm a scenario; the reply has its final score. */
    stop(given: ScenariosStopInput): Promise<Scenario>;
  };
  readonly rateLimits: {
    /** List the rate-limit windows of all merchants. Covers the first 500 merchants; for another one, use `merchant`. */
    list(given?: RateLimitsListInput): Promise<RateLimitsListReply>;
    /** Set a merchant's rate-limit window. `limit` and `window` apply until a reset; `remaining` and `resetIn` apply to the current window only. */
    set(given: RateLimitsSetInput): Promise<RateWindow>;
  };
  readonly records: {
    /** List a merchant's records of a kind, newest first. */
    list(given: RecordsListInput): Promise<RecordsListReply>;
    /** Get a record. */
    get(given: RecordsGetInput): Promise<AnyRecord>;
    /** Create a record. The body has `merchant` and the fields of the kind. Missing fields are generated, such as a customer of the merchant, its currency, a room, or items; the same seed and calls give the same values. A record in a later `status` goes through the states before it, with the event of each. Malformed, unknown or impossible values are rejected; unlikely ones are accepted with `warnings`. */
    make(given: RecordsMakeInput): Promise<WrittenRecord>;
    /** Change a record, or its status. A new `status` must be a valid transition, and emits its event; other fields are set as given. */
    move(given: RecordsMoveInput): Promise<WrittenRecord>;
  };
  readonly timelines: {
    /** Get a record by its id, with everything that touched it: requests, events, deliveries, and the clock. A request touched a record if its path or query names the record; a write also touched each record that its body or response names. An event touched a record if its body names it. A reset clears these logs. */
    get(given: TimelinesGetInput): Promise<Timeline>;
  };
  readonly lessons: {
    /** List the lessons. */
    list(): Promise<LessonsListReply>;
    /** Get a lesson, with the commands of one learner if requested. */
    get(given: LessonsGetInput): Promise<Lesson>;
  };
  readonly learners: {
    /** List the learners with their progress. */
    list(given?: LearnersListInput): Promise<LearnersListReply>;
    /** Add a learner. With a name, the learner gets a new merchant with the records of the first fixture. Without a name, the learner uses the first merchant; if a learner already uses it, that learner is returned. */
    join(given?: LearnersJoinInput): Promise<LearnersJoinReply>;
    /** Get a learner, or wait for a change. */
    get(given: LearnersGetInput): Promise<Learner>;
    /** Begin a lesson, at its start or at one of its steps. */
    begin(given: LearnersBeginInput): Promise<Learner>;
    /** Skip the current step of a learner. The results of the step are created, so that the following steps can be done. */
    skip(given: {
      id: string;
    }): Promise<Learner>;
    /** Show the next hint of the current step, or the last one again. */
    hint(given: {
      id: string;
    }): Promise<Learner>;
    /** Remove a learner and all progress; the merchant is kept. */
    remove(given: {
      id: string;
    }): Promise<Learner>;
  };
  readonly merchants: {
    /** List the merchants with their API keys, and how many records and requests each has. Covers the first 500 merchants; for another one, use `merchant`. */
    list(given?: MerchantsListInput): Promise<MerchantsListReply>;
    /** Create a merchant with the records of a fixture. The merchant's records have the ids of the fixture and are invisible to other merchants, so parallel tests can each have their own merchant. If you pass a `name`, such as the title of a test, the merchant's id, key and secrets, the ids of its records, events and requests, and the random choices of its faults are the same in every run, in any order of tests. While a merchant of this name exists, another one counts as `name #2`. The name of a removed merchant can be used again; its logs are then erased. */
    add(given?: MerchantsAddInput): Promise<MerchantsAddReply>;
    /** Get a merchant and its records as a fixture, for `--fixtures`. The fixture contains no secrets: no endpoints, no password, and an API key named after the merchant. */
    fixture(given: {
      id: string;
    }): Promise<Fixture>;
    /** Remove a merchant with all its data. First, the merchant's deliveries that are due or in flight are completed, recorded and judged, within the timeout of one webhook. Then its keys stop working, its other pending deliveries are cancelled, and its fault rules end. Its requests, events, deliveries and verdicts stay in the logs: reports, coverage and `verify` include them until a reset of everything, or until a merchant of the same name is created. */
    remove(given: {
      id: string;
    }): Promise<MerchantsRemoveReply>;
  };
  readonly snapshots: {
    /** List the snapshots. */
    list(): Promise<SnapshotsListReply>;
    /** Save a snapshot; an earlier one of the same name is replaced. */
    save(given: {
      name: string;
    }): Promise<SnapshotsSaveReply>;
    /** Restore a snapshot. Restores records, events, deliveries, keys and stored Idempotency-Key responses. Removes fault rules, scenarios and verdicts. Rate-limit windows start again; the request log and the clock continue. Changes of records that have fallen due by now happen at once, and their webhooks are sent. Requests see the current data until the snapshot has been checked and replaces all data at once. The ids of events that followed the snapshot are used again, for other events. */
    restore(given: {
      name: string;
    }): Promise<SnapshotsRestoreReply>;
    /** Delete a snapshot. */
    remove(given: {
      name: string;
    }): Promise<SnapshotsRemoveReply>;
  };
}
export interface AddedSandbox {
  /** Its URL */
  sandbox: string;
  /** How many requests it had; null until it is closed */
  requests: number | null;
}
/** A record of any kind, with the fields of its kind */
export interface AnyRecord {
  id: string;
  /** The kind of record */
  object: string;
  /** The owner */
  merchantId: string;
  /** Only kinds with states have one */
  status?: string;
  /** Free-form key-value data, stored unchanged */
  metadata: Record<string, unknown>;
  /** Time at which it was created, in Unix seconds */
  created: number;
  [field: string]: unknown;
}
/** The values of assumptions that can be set, by id */
export interface AssumptionValues {
  "http.body_bytes"?: number;
  "rate_limit.limit"?: number;
  "rate_limit.seconds"?: number;
  "rate_limit.retry_after"?: "seconds until the window ends" | number;
  "idempotency.seconds"?: number;
  "idempotency.key_length"?: number;
  "webhook.timeout"?: number;
  "retry.schedule"?: number[];
  "webhooks.body_format"?: "indented" | "compact";
  "webhook.signature.key"?: "hex digest of the body, keyed with the whole secret" | "hex digest of the body, keyed with the secret without its prefix" | "hex digest of the body, keyed with the secret without its prefix, decoded from base64" | "hex digest of the body, keyed with the secret without its prefix, decoded from hex" | "hex digest of the id and body, keyed with the whole secret" | "hex digest of the id and body, keyed with the secret without its prefix" | "hex digest of the id and body, keyed with the secret without its prefix, decoded from base64" | "hex digest of the id and body, keyed with the secret without its prefix, decoded from hex" | "base64 digest of the body, keyed with the whole secret" | "base64 digest of the body, keyed with the secret without its prefix" | "base64 digest of the body, keyed with the secret without its prefix, decoded from base64" | "base64 digest of the body, keyed with the secret without its prefix, decoded from hex" | "base64 digest of the id and body, keyed with the whole secret" | "base64 digest of the id and body, keyed with the secret without its prefix" | "base64 digest of the id and body, keyed with the secret without its prefix, decoded from base64" | "base64 digest of the id and body, keyed with the secret without its prefix, decoded from hex";
  "webhook.signature.prefix"?: string;
  "customers.get.status"?: number;
  "pricing_rules.create.status"?: number;
  "payroll.create.status"?: number;
  "payout_method.set.status"?: number;
  "merchants.login.status"?: number;
  "merchants.create.status"?: number;
  "payouts.list.status"?: number;
  "payouts.list.query.limit.default"?: number;
  "payouts.list.query.limit.minimum"?: number;
  "payouts.list.query.limit.maximum"?: number;
  "marketplace_orders.list.status"?: number;
  "marketplace_orders.list.query.limit.default"?: number;
  "marketplace_orders.list.query.limit.minimum"?: number;
  "marketplace_orders.list.query.limit.maximum"?: number;
  "payments.list.status"?: number;
  "disciplinary.list.status"?: number;
  "disciplinary.list.query.limit.default"?: number;
  "disciplinary.list.query.limit.minimum"?: number;
  "disciplinary.list.query.limit.maximum"?: number;
  "renewals.list.status"?: number;
  "renewals.list.query.limit.default"?: number;
  "renewals.list.query.limit.minimum"?: number;
  "renewals.list.query.limit.maximum"?: number;
  "organizer.get.status"?: number;
  "sync_logs.list.status"?: number;
  "sync_logs.list.query.limit.default"?: number;
  "sync_logs.list.query.limit.minimum"?: number;
  "sync_logs.list.query.limit.maximum"?: number;
  "appraisals.list.status"?: number;
  "appraisals.list.query.limit.default"?: number;
  "appraisals.list.query.limit.minimum"?: number;
  "appraisals.list.query.limit.maximum"?: number;
  "merchants.me.status"?: number;
  "bookings.decline.status"?: number;
  "payroll.override_item.status"?: number;
  "variants.create.status"?: number;
  "remittances.confirm.status"?: number;
  "gov_payments.post.status"?: number;
  "statutory_settings.update.status"?: number;
  "statutory_settings.get.status"?: number;
  "webhooks.create.status"?: number;
  "webhooks.list.status"?: number;
  "webhooks.list.query.limit.default"?: number;
  "webhooks.list.query.limit.minimum"?: number;
  "webhooks.list.query.limit.maximum"?: number;
  "webhooks.delete.status"?: number;
  "webhooks.rotate_secret.status"?: number;
  "deliveries.list.status"?: number;
  "deliveries.list.query.limit.default"?: number;
  "deliveries.list.query.limit.minimum"?: number;
  "deliveries.list.query.limit.maximum"?: number;
  "events.test.status"?: number;
  "error.invalid_json.status"?: number;
  "error.invalid_json.category"?: string;
  "error.invalid_json.code"?: string;
  "error.body_not_object.status"?: number;
  "error.body_not_object.category"?: string;
  "error.body_not_object.code"?: string;
  "error.body_too_deep.status"?: number;
  "error.body_too_deep.category"?: string;
  "error.body_too_deep.code"?: string;
  "error.validation_failed.status"?: number;
  "error.validation_failed.category"?: string;
  "error.validation_failed.code"?: string;
  "error.invalid_limit.status"?: number;
  "error.invalid_limit.category"?: string;
  "error.invalid_limit.code"?: string;
  "error.invalid_cursor.status"?: number;
  "error.invalid_cursor.category"?: string;
  "error.invalid_cursor.code"?: string;
  "error.invalid_webhook_url.status"?: number;
  "error.invalid_webhook_url.category"?: string;
  "error.invalid_webhook_url.code"?: string;
  "error.idempotency_key_empty.status"?: number;
  "error.idempotency_key_empty.category"?: string;
  "error.idempotency_key_empty.code"?: string;
  "error.idempotency_key_too_long.status"?: number;
  "error.idempotency_key_too_long.category"?: string;
  "error.idempotency_key_too_long.code"?: string;
  "error.idempotency_key_invalid.status"?: number;
  "error.idempotency_key_invalid.category"?: string;
  "error.idempotency_key_invalid.code"?: string;
  "error.missing_api_key.status"?: number;
  "error.missing_api_key.category"?: string;
  "error.missing_api_key.code"?: string;
  "error.malformed_authorization.status"?: number;
  "error.malformed_authorization.category"?: string;
  "error.malformed_authorization.code"?: string;
  "error.invalid_api_key.status"?: number;
  "error.invalid_api_key.category"?: string;
  "error.invalid_api_key.code"?: string;
  "error.token_expired.status"?: number;
  "error.token_expired.category"?: string;
  "error.token_expired.code"?: string;
  "error.invalid_credentials.status"?: number;
  "error.invalid_credentials.category"?: string;
  "error.invalid_credentials.code"?: string;
  "error.merchant_suspended.status"?: number;
  "error.merchant_suspended.category"?: string;
  "error.merchant_suspended.code"?: string;
  "error.resource_not_found.status"?: number;
  "error.resource_not_found.category"?: string;
  "error.resource_not_found.code"?: string;
  "error.route_not_found.status"?: number;
  "error.route_not_found.category"?: string;
  "error.route_not_found.code"?: string;
  "error.method_not_allowed.status"?: number;
  "error.method_not_allowed.category"?: string;
  "error.method_not_allowed.code"?: string;
  "error.invalid_state.status"?: number;
  "error.invalid_state.category"?: string;
  "error.invalid_state.code"?: string;
  "error.already_exists.status"?: number;
  "error.already_exists.category"?: string;
  "error.already_exists.code"?: string;
  "error.idempotency_key_in_use.status"?: number;
  "error.idempotency_key_in_use.category"?: string;
  "error.idempotency_key_in_use.code"?: string;
  "error.payload_too_large.status"?: number;
  "error.payload_too_large.category"?: string;
  "error.payload_too_large.code"?: string;
  "error.uri_too_long.status"?: number;
  "error.uri_too_long.category"?: string;
  "error.uri_too_long.code"?: string;
  "error.unsupported_media_type.status"?: number;
  "error.unsupported_media_type.category"?: string;
  "error.unsupported_media_type.code"?: string;
  "error.unsupported_content_encoding.status"?: number;
  "error.unsupported_content_encoding.category"?: string;
  "error.unsupported_content_encoding.code"?: string;
  "error.expectation_failed.status"?: number;
  "error.expectation_failed.category"?: string;
  "error.expectation_failed.code"?: string;
  "error.idempotency_key_reused.status"?: number;
  "error.idempotency_key_reused.category"?: string;
  "error.idempotency_key_reused.code"?: string;
  "error.rate_limit_exceeded.category"?: string;
  "error.rate_limit_exceeded.code"?: string;
}
export interface AttemptMessage {
  id: string;
  /** Its number in the log, in the order in which attempts were written */
  sequence: number;
  /** The number of its delivery. A replay is a new delivery, and so is a copy that a fault rule made */
  delivery: number;
  /** Sandbox milliseconds */
  at: number;
  merchant: string;
  endpointId: string;
  eventId: string;
  eventType: string;
  url: string;
  trigger: string;
  attempt: number;
  maxAttempts: number;
  status: string;
  responseStatus: number | null;
  errorCode: string | null;
  /** Why it failed: the first line of the response's body, or the error */
  summary: string | null;
  durationMs: number | null;
  /** Unix seconds; null if there is no next attempt */
  nextAttemptAt: number | null;
  /** The fault rules that applied, separated by commas */
  fault: string | null;
}
export interface AuditResult {
  url: string;
  /** The worst verdict of all probes; an old event that was accepted does not count */
  verdict: "pass" | "fail" | "inconclusive";
  /** Whether the receiver accepted an event signed without the secret */
  forgeryAccepted: boolean;
  probes: Probe[];
}
export interface AuditsResumeInput {
  id: string;
  /** How often the receiver has acted so far */
  effects: number;
}
export interface AuditsStartInput {
  /** Address of the receiver; the same addresses are allowed as for webhook endpoints */
  url: string;
  /** Secret the receiver verifies with (default: the secret of the endpoint registered at this address) */
  secret?: string;
  /** Type of the events, which are modelled on the newest event of this type (default: payment.succeeded) */
  event?: string;
  /** Maximum age that the receiver allows for an event, such as 3d (default: unknown, so an old event that it accepts decides nothing) */
  maxAge?: string;
  /** How often the receiver has acted so far */
  effects: number;
  /** Whether the receiver can be restarted in between (default: false) */
  canRestart?: boolean;
}
export interface Clock {
  /** `real` follows the machine, `frozen` stands still, `offset` runs from another time */
  mode: "real" | "frozen" | "offset";
  /** Sandbox time, RFC 3339 */
  now: string;
  /** The same in Unix seconds, as in `created` */
  unix: number;
}
export interface ClockAdvanceInput {
  /** A duration such as 30s, 5m, 24h */
  by: string;
}
export interface ClockAdvanceReply {
  /** `real` follows the machine, `frozen` stands still, `offset` runs from another time */
  mode: "real" | "frozen" | "offset";
  /** Sandbox time, RFC 3339 */
  now: string;
  /** The same in Unix seconds, as in `created` */
  unix: number;
  /** The first 10000 changes that the clock made to records, in order */
  happened: LifeChange[];
  /** How many further changes were left out */
  omitted: number;
  /** The delivery attempts that ended meanwhile, in order */
  attempts: PlayedAttempt[];
  /** How many stored Idempotency-Key responses expired */
  expired: number;
}
export interface ClockSetInput {
  /** `frozen` and `offset` start at `now` (default: the current sandbox time) */
  mode: "real" | "frozen" | "offset";
  /** A time such as 2026-01-05T09:00:00Z; not allowed with `real` */
  now?: string;
}
/** The value itself, or operators such as {gte: 100} that must all hold */
export type Condition = string | number | boolean | null | {
  /** Whether the value is present */
  present?: boolean;
  eq?: string | number | boolean | null;
  ne?: string | number | boolean | null;
  /** More than */
  gt?: number | string;
  /** At least */
  gte?: number | string;
  /** Less than */
  lt?: number | string;
  /** At most */
  lte?: number | string;
  /** One of these values */
  in?: (string | number | boolean | null)[];
  /** Text that contains this */
  contains?: string;
  /** Text that starts with this */
  startsWith?: string;
};
/** How often: exactly, atLeast and atMost, all of which must hold */
export interface Count {
  exactly?: number;
  atLeast?: number;
  atMost?: number;
}
export interface DeliveriesGetReply {
  attempt: LoggedAttempt;
  attempts: LoggedAttempt[];
  /** The request that caused the event; null if none did */
  request: string | null;
}
export interface DeliveriesListInput {
  /** Only attempts of this merchant */
  merchant?: string;
  /** Only attempts of this event */
  eventId?: string;
  /** Only attempts of the events that this request caused */
  requestId?: string;
  /** Only attempts at this endpoint */
  endpointId?: string;
  /** Only attempts of events of this type */
  type?: string;
  /** Only attempts that ended with this status */
  status?: "succeeded" | "failed" | "aborted";
  /** Only rows whose path or URL contains this text */
  path?: string;
  /** Only rows that match this filter, as in the dashboard: `status:4xx path:/v1/payments ms>100 time>12:04 is:fault !lodge` */
  filter?: string;
  /** Maximum number of objects to return */
  limit?: number;
  /** Cursor: id of an object; returns the objects after it (older) */
  starting_after?: string;
  /** Cursor: id of an object; returns the objects before it (newer) */
  ending_before?: string;
}
export interface DeliveriesListReply {
  /** Always `list` */
  object: "list";
  /** Newest first */
  data: LoggedAttempt[];
  /** Whether there are more objects after this page, in the requested direction */
  has_more: boolean;
}
export interface DeliveriesReleaseReply {
  /** How many deliveries are due now */
  released: number;
}
export interface DeliveriesReplayReply {
  eventId: string;
  /** Ids of the new delivery attempts */
  deliveries: string[];
}
export interface DeliveryFault {
  /** The rule, or the first of several */
  id: string;
  name: string | null;
  /** The effect of each rule */
  effects: unknown[];
  /** Number of this copy, if a rule duplicates deliveries; 0 for the original */
  copy: number;
  wouldHaveSent: {
    headers: Record<string, string>;
    body: string;
  };
}
/** Which deliveries match; all conditions must hold */
export interface DeliveryMatch {
  /** Event types, such as payment.succeeded; payment.* matches all of a kind; or the id of an event */
  event?: EventPattern | EventPattern[];
  /** Id of the endpoint, or its URL */
  endpoint?: string;
  /** Id of the merchant whose event it is */
  merchant?: string;
}
export interface EndpointsAwaitInput {
  id: string;
  /** Maximum wait in real time, such as 5s (default: 30s) */
  within?: string;
}
export interface EndpointsAwaitReply {
  endpoint: string;
  /** False if the server did not accept a connection in time */
  accepts: boolean;
}
export interface EndpointsDisableReply {
  disabled: string;
}
export interface EndpointsEnableReply {
  enabled: string;
}
export interface EndpointsListInput {
  /** Only endpoints of this merchant */
  merchant?: string;
}
export interface EndpointsListReply {
  /** Always `list` */
  object: "list";
  /** Newest first */
  data: ListedEndpoint[];
}
export interface EndpointsRegisterInput {
  /** URL that receives the deliveries: an http or https address on this machine */
  url: string;
  /** Event types to deliver (default: all, or the present types of an existing endpoint) */
  events?: string[];
  /** The owner, such as lodge (default: the first merchant) */
  merchant?: string;
  /** Secret of your own that signs the deliveries, such as `whsec_local` (default: generated) */
  secret?: string;
}
export interface EndpointsRemoveReply {
  /** The endpoint */
  removed: string;
}
/** A known event, or a pattern in which * matches anything. */
export type EventPattern = "pricing_rule.created" | "payroll.created" | "payout_method.updated" | "merchant.created" | "booking.declined" | "payroll_item.overridden" | "product_variant.created" | "remittance.confirmed" | "gov_payment.posted" | "statutory_settings.updated" | "merchant.reactivated" | "merchant.suspended" | "merchant.updated" | "customer.created" | "customer.updated" | "payment.pending" | "payment.succeeded" | "payment.failed" | "payment.refunded" | "payment.partially_refunded" | "payment.updated" | "payout.created" | "payout.in_transit" | "payout.paid" | "payout.failed" | "payout.canceled" | "payout.updated" | "payout_method.verified" | "payout_method.failed" | "payout_method.replaced" | "marketplace_order.created" | "marketplace_order.accepted" | "marketplace_order.shipped" | "marketplace_order.delivered" | "marketplace_order.refused" | "marketplace_order.canceled" | "marketplace_order.updated" | "pricing_rule.activated" | "pricing_rule.deactivated" | "pricing_rule.updated" | "booking.created" | "booking.confirmed" | "booking.checked_in" | "booking.checked_out" | "booking.no_show" | "booking.cancelled" | "booking.updated" | "payroll.submitted" | "payroll.processing" | "payroll.paid" | "payroll.partially_paid" | "payroll.failed" | "payroll.updated" | "disciplinary_record.created" | "disciplinary_record.acknowledged" | "disciplinary_record.appealed" | "disciplinary_record.closed" | "disciplinary_record.updated" | "appraisal.created" | "appraisal.submitted" | "appraisal.completed" | "appraisal.cancelled" | "appraisal.updated" | "membership_renewal.due" | "membership_renewal.grace" | "membership_renewal.renewed" | "membership_renewal.lapsed" | "membership_renewal.canceled" | "membership_renewal.updated" | "event_organizer.created" | "event_organizer.reactivated" | "event_organizer.suspended" | "event_organizer.updated" | "integration_sync.started" | "integration_sync.succeeded" | "integration_sync.partial" | "integration_sync.failed" | "integration_sync.updated" | "product.created" | "product.restored" | "product.archived" | "product.updated" | "product_variant.restored" | "product_variant.archived" | "product_variant.updated" | "remittance.created" | "remittance.paid" | "remittance.overdue" | "remittance.cancelled" | "remittance.updated" | "gov_payment.created" | "gov_payment.paid" | "gov_payment.failed" | "gov_payment.cancelled" | "gov_payment.updated" | `${string}*${string}`;
export interface EventsListInput {
  /** Only events of this merchant */
  merchant?: string;
  /** Only events of this type */
  type?: string;
  /** Maximum number of objects to return */
  limit?: number;
  /** Cursor: id of an object; returns the objects after it (older) */
  starting_after?: string;
  /** Cursor: id of an object; returns the objects before it (newer) */
  ending_before?: string;
}
export interface EventsListReply {
  /** Always `list` */
  object: "list";
  /** Newest first */
  data: LoggedEvent[];
  /** Whether there are more objects after this page, in the requested direction */
  has_more: boolean;
}
export interface EventsReplayReply {
  eventId: string;
  /** Ids of the new delivery attempts */
  deliveries: string[];
}
export interface EventsTriggerInput {
  /** Event type, such as payment.succeeded */
  type: string;
  /** The merchant whose endpoints get it (default: the first merchant) */
  merchant?: string;
  /** Fields of the record, or the data of a synthetic event */
  data?: Record<string, unknown>;
  /** Only send the event (default: false) */
  synthetic?: boolean;
}
/** One thing that is expected */
export interface Expectation {
  /** A number of matching requests */
  requests?: {
    /** Which requests match; all conditions must hold */
    match: RequestMatch;
    /** How often: exactly, atLeast and atMost, all of which must hold */
    count?: Count;
  };
  /** Matching requests in this order; others may come between them */
  sequence?: RequestMatch[];
  /** No matching request */
  never?: {
    /** Which requests match; all conditions must hold */
    match: RequestMatch;
    /** How much longer no matching request may arrive, such as 500ms or 5s, in real time */
    for?: string;
  };
  /** A number of matching deliveries: one event to one endpoint, with all its attempts, is one delivery */
  deliveries?: {
    /** Which deliveries match; all conditions must hold */
    match: DeliveryMatch;
    /** How often: exactly, atLeast and atMost, all of which must hold */
    count?: Count;
    /** How often: exactly, atLeast and atMost, all of which must hold */
    attempts?: Count;
    /** The state that each of them must be in */
    final?: "pending" | "sending" | "succeeded" | "failed" | "cancelled";
  };
  /** A number of matching records */
  records?: {
    /** The kind of record, such as remittance */
    kind: string;
    /** Values in the record by JSON Pointer */
    where?: Record<string, Condition>;
    /** How often: exactly, atLeast and atMost, all of which must hold */
    count?: Count;
  };
  /** A number of verdicts of the judge (default: no failures) */
  verdicts?: {
    rules: string[];
    /** Only verdicts that these fault rules led to */
    faults?: string[];
    /** How often: exactly, atLeast and atMost, all of which must hold */
    pass?: Count;
    /** How often: exactly, atLeast and atMost, all of which must hold */
    fail?: Count;
    /** How often: exactly, atLeast and atMost, all of which must hold */
    inconclusive?: Count;
  };
  /** That a scenario passes, or has a number of points */
  scenario?: {
    /** Name of an armed scenario */
    name: string;
    /** The merchant that it is armed for; needed only if it is armed more than once */
    merchant?: string;
    /** How often: exactly, atLeast and atMost, all of which must hold */
    score?: Count;
  };
  /** That the receiver acted once on each matching event, however often it was delivered */
  effects?: {
    /** Which deliveries match; all conditions must hold */
    match?: DeliveryMatch;
    /** How often the receiver has acted on matching events */
    made: number;
  };
  /** That a fault rule fired */
  fault?: {
    /** Id of a fault rule */
    id: string;
    /** How often: exactly, atLeast and atMost, all of which must hold */
    fired?: Count;
  };
}
export type FaultAction = {
  /** Sends an error response of your choice, before any effect. */
  type: "status";
  /** 400 to 599 */
  status: number;
  /** The `code` of the error (default: the usual one for the status) */
  code?: string;
  /** The `message` of the error */
  message?: string;
  /** The Retry-After header: seconds; `absent`, `zero`, `past` or `invalid`; or {form: http_date, seconds} */
  retryAfter?: number | "absent" | "zero" | "past" | "invalid" | {
    form: "http_date";
    /** Seconds to wait */
    seconds: number;
  };
} | {
  /** Sends a 429 as if the rate limit were exceeded; with `exhaust`, uses up the merchant's real rate-limit window instead. */
  type: "rate_limit";
  /** The Retry-After header: seconds; `absent`, `zero`, `past` or `invalid`; or {form: http_date, seconds} */
  retryAfter?: number | "absent" | "zero" | "past" | "invalid" | {
    form: "http_date";
    /** Seconds to wait */
    seconds: number;
  };
  /** Uses up the real window, so that every call gets a 429 until it ends (after `retryAfter` seconds, if given) */
  exhaust?: boolean;
} | {
  /** Delays the response, in real time. The operation still takes effect, and any other fault can act too. */
  type: "latency";
  /** How the delay is drawn (default: `fixed`) */
  distribution?: "fixed" | "uniform" | "lognormal";
  /** fixed: milliseconds */
  ms?: number;
  /** uniform: the shortest, such as 600ms, 30s or 24h */
  min?: string;
  /** uniform: the longest, such as 600ms, 30s or 24h */
  max?: string;
  /** lognormal: half of the delays are shorter, such as 600ms, 30s or 24h */
  median?: string;
  /** lognormal: how wide, such as 0.5 */
  sigma?: number;
  /** Before the headers, or between headers and body (default: `headers`) */
  in?: "headers" | "body";
} | {
  /** Lets the operation take effect, then loses the response. A retry with the same Idempotency-Key gets the response. */
  type: "lost_response";
  /** What the client gets instead (default: `reset`) */
  as?: "reset" | "empty" | "hang" | "502";
} | {
  /** Breaks the connection before any effect. */
  type: "connection";
  /** How it breaks (default: `reset`) */
  as?: "reset" | "empty" | "garbage" | "malformed_chunk" | "hang";
} | {
  /** Corrupts or patches the response body. The operation still takes effect. */
  type: "body";
  /** How it is corrupted; `patch` leaves it valid (default: `truncate`) */
  as?: "truncate" | "invalid_json" | "html" | "wrong_content_type" | "drip" | "patch";
  /** JSON Merge Patch (RFC 7396) of the response: null removes a field */
  patch?: Record<string, unknown>;
  /** How fast `drip` sends (default: 100) */
  bytesPerSecond?: number;
} | {
  /** Answers as a later version of the service might: with unknown fields, unknown values of enumerations, null where it is allowed, and fields in another order. Finds clients that read responses too strictly. */
  type: "evolve";
  /** What is changed (default: `everything`) */
  as?: "everything" | "fields" | "enums" | "nulls" | "order";
} | {
  /** Takes the whole service down, for every operation and every key. Requests with a disallowed Host still get 403. */
  type: "outage";
  /** What every call gets (default: `503`) */
  as?: "503" | "reset";
  /** The Retry-After header: seconds; `absent`, `zero`, `past` or `invalid`; or {form: http_date, seconds} */
  retryAfter?: number | "absent" | "zero" | "past" | "invalid" | {
    form: "http_date";
    /** Seconds to wait */
    seconds: number;
  };
} | {
  /** Rejects a valid key, as if it had been revoked or its session had expired. */
  type: "auth";
  /** What happened to the key (default: `revoked`) */
  as?: "revoked" | "expired";
} | {
  /** Treats the call's Idempotency-Key as still in use (409), or as expired, so that the operation runs again. */
  type: "idempotency";
  /** The state of the key (default: `in_progress`) */
  as?: "in_progress" | "expired";
} | {
  /** Responds to reads with the records as they were some time ago, like a lagging replica. */
  type: "stale_read";
  /** How far back, in sandbox time; at most back to when the rule was added, such as 600ms, 30s or 24h */
  lag: string;
} | {
  /** Delivers an event more than once, with the same id and the same bytes. */
  type: "duplicate";
  /** How many arrive in all (default: 2) */
  copies?: number;
  /** Pause before the next copy is sent, such as 600ms, 30s or 24h (default: at once) */
  gap?: string;
  /** All at the same time, each on its own connection */
  concurrent?: boolean;
} | {
  /** Holds events back until a batch is complete, then delivers them in another order. */
  type: "reorder";
  /** How many make a batch (default: 2) */
  batch?: number;
  /** The order in which they are delivered (default: `reverse`) */
  order?: "reverse" | "shuffle";
  /** How long to wait for a complete batch before delivering what there is, such as 600ms, 30s or 24h (default: a day) */
  hold?: string;
} | {
  /** Delivers an event later, after another one, or before the API call that caused it has returned. */
  type: "delay";
  /** How much later, in sandbox time, such as 600ms, 30s or 24h */
  by?: string;
  /** `before_response`, for events that a call to the API causes, or {after: TYPE}: once an event of that type is delivered, or after a day */
  until?: "before_response" | {
    /** A type of event, such as payout.paid */
    after: string;
  };
} | {
  /** Does not send an attempt, and logs it as dropped. The next attempt follows on the usual schedule. */
  type: "drop";
  /** How many attempts of a delivery, or `all` (default: 1) */
  attempts?: number | "all";
} | {
  /** Sends a delivery with a wrong signature. */
  type: "signature";
  /** What is wrong with the signature; `reserialised` signs the same event written in another way (default: `wrong_secret`) */
  as?: "missing" | "wrong_secret" | "previous_secret" | "body_changed" | "reserialised" | "malformed";
} | {
  /** Changes the event, and signs it as changed. */
  type: "payload";
  /** What is changed; `evolve` is what a later version of the service might send, `reformat` only writes the JSON in another way (default: `extra_field`, or `patch` if one is given) */
  as?: "patch" | "truncate" | "unknown_type" | "extra_field" | "evolve" | "invalid_json" | "reformat";
  /** JSON Pointers into the event, each with its new value */
  patch?: Record<string, unknown>;
} | {
  /** Sends a delivery slowly, with a wrong Content-Type, or only half of it. */
  type: "transport";
  /** How it is sent (default: `slow_send`) */
  as?: "slow_send" | "wrong_content_type" | "abort_mid_body";
};
export interface FaultMatch {
  /** Ids of operations such as payments.list; payroll.* matches a whole area */
  operation?: OperationPattern | OperationPattern[];
  /** Only calls with this API key */
  key?: string;
  /** Names of headers, each with a value or a comparison */
  header?: Record<string, Condition>;
  /** Only this merchant, such as mer_lodge */
  merchant?: string;
  /** JSON Pointers into the body, each with a value or a comparison */
  body?: Record<string, Condition>;
  /** Event types such as payment.succeeded; payment.* matches all of a kind, and * all types */
  event?: EventPattern | EventPattern[];
  /** Only deliveries to this endpoint */
  endpoint?: string;
  /** Which attempt; the first is 1 */
  attempt?: number | Condition;
  /** Only deliveries to an endpoint whose secret was rotated within this time, in sandbox time, such as 600ms, 30s or 24h */
  rotatedWithin?: string;
}
export interface FaultRule {
  id: string;
  /** A name that logs and reports show */
  name: string | null;
  /** What it acts on */
  target: "api" | "delivery";
  match: Record<string, unknown>;
  trigger: Record<string, unknown>;
  action: Record<string, unknown>;
  /** The judge's rules that the fault tests */
  expect: string[];
  /** How long it stays armed; null for no limit */
  ttl: string | null;
  /** Rules with a higher priority are tried first */
  priority: number;
  label: boolean;
  enabled: boolean;
  /** `spent` when it has fired as often as it may, `expired` when its time is over */
  status: "armed" | "spent" | "expired" | "removed";
  /** How many calls or attempts it matched */
  matched: number;
  fired: number;
  /** How often it may still fire; null if unlimited, or limited for each key, event or endpoint separately */
  remaining: number | null;
  /** Sandbox time */
  lastFiredAt: string | null;
  /** Warnings about unlikely values, such as a mistyped event type; usually empty */
  warnings: string[];
  /** Sandbox time at which its ttl, or its `for`, is over; null if it has neither */
  endsAt: string | null;
}
/** Which matches fire (default: the next one) */
export interface FaultTrigger {
  /** How many matches to let pass first */
  skip?: number | null;
  /** How often to fire; null is unlimited (default: 1, or unlimited with `every`, `probability` or `for`) */
  times?: number | null;
  /** Fire on every nth match */
  every?: number | null;
  /** Probability that a match fires */
  probability?: number | null;
  /** Repeats the same random choices of probability and latency (default: the sandbox's own seed) */
  seed?: number | null;
  /** How long to wait before the rule begins, such as 600ms, 30s or 24h */
  after?: string | null;
  /** How long the rule is active once it has begun, such as 600ms, 30s or 24h */
  for?: string | null;
  /** What has its own count of matches and firings (default: `rule`, one count for all) */
  per?: "rule" | "key" | "operation" | "idempotency_key" | "event" | "endpoint" | null;
}
export interface FaultsAddInput {
  /** A name for programs (default: a generated id) */
  id?: string;
  /** A name for people */
  name?: string;
  expect?: string[];
  /** How long the rule lives, in sandbox time, such as 600ms, 30s or 24h (default: until a reset) */
  ttl?: string;
  /** Rules with a higher priority are tried first, equal rules in the order in which they were added (default: 0) */
  priority?: number;
  /** Whether responses name the rule in X-Sandbox-Fault (default: true) */
  label?: boolean;
  /** Whether the rule can fire at all (default: true) */
  enabled?: boolean;
  /** `api` or `delivery` (default: the target of the action) */
  target?: string;
  match?: FaultMatch;
  /** Which matches fire (default: the next one) */
  trigger?: FaultTrigger;
  action: FaultAction;
}
export interface FaultsChangeInput {
  id: string;
  /** A name for people */
  name?: string;
  expect?: string[];
  /** How long the rule lives, in sandbox time, such as 600ms, 30s or 24h (default: until a reset) */
  ttl?: string;
  /** Rules with a higher priority are tried first, equal rules in the order in which they were added (default: 0) */
  priority?: number;
  /** Whether responses name the rule in X-Sandbox-Fault (default: true) */
  label?: boolean;
  /** Whether the rule can fire at all (default: true) */
  enabled?: boolean;
  /** `api` or `delivery` (default: the target of the action) */
  target?: string;
  match?: FaultMatch;
  /** Which matches fire (default: the next one) */
  trigger?: FaultTrigger;
  action?: FaultAction;
}
export interface FaultsClearInput {
  /** Only rules that apply to this merchant alone */
  merchant?: string;
}
export interface FaultsClearReply {
  removed: number;
}
export interface FaultsListInput {
  /** Only rules with this status */
  status?: "armed" | "spent" | "expired";
}
export interface FaultsListReply {
  /** Always `list` */
  object: "list";
  data: FaultRule[];
}
export interface FinishedStep {
  lesson: string;
  step: number;
  /** How the step ended; `prepared` if the learner began at a later one */
  how: "completed" | "skipped" | "prepared";
  /** The number of hints shown */
  hints: number;
  /** The sandbox time at which the step ended */
  at: string;
}
export interface FinishedStepState {
  lesson: string;
  step: number;
  /** How the step ended; `prepared` if the learner began at a later one */
  how: "completed" | "skipped" | "prepared";
  /** The number of hints shown */
  hints: number;
  /** Sandbox milliseconds */
  at: number;
}
export interface Firing {
  ruleId: string;
  name: string | null;
  target: "api" | "delivery";
  action: string;
  /** The action's `as`, such as `previous_secret`; null where it has none, or its default applies */
  form: string | null;
  outcome: "normal" | "refused" | "disconnected" | "response_lost" | "genuine" | "altered" | "forged" | "previous_secret";
  /** The judge's rules that the fault rule tests */
  expect: string[];
  merchant: string | null;
  /** Set for a call; `attemptId` is set for a delivery */
  requestId: string | null;
  attemptId: string | null;
  eventId: string | null;
  endpointId: string | null;
  /** Sandbox milliseconds of the endpoint's last secret rotation; null if it was never rotated */
  rotatedAt: number | null;
  /** Sandbox milliseconds */
  at: number;
}
export interface Fixture {
  description: string;
  /** The day on which the dates are current; a sandbox moves them to its own day */
  asOf: string;
  merchant: Record<string, unknown>;
  /** By kind, oldest first */
  records: Record<string, (Record<string, unknown>)[]>;
}
export interface HarLog {
  /** The traffic as HAR 1.2 */
  log: {
    version: string;
    creator: {
      name: string;
      version: string;
    };
    pages: (Record<string, unknown>)[];
    entries: (Record<string, unknown>)[];
    /** Why the run failed */
    comment?: string;
  };
}
/** A JSON Schema */
export interface JsonSchema {
  /** The dialect */
  "$schema": string;
  title?: string;
  [field: string]: unknown;
}
export interface JudgedRule {
  id: string;
  /** How bad a failure is */
  severity: "error" | "warning";
  /** What a client or a receiver must do */
  demands: string;
  /** How to fix a failure */
  hint: string;
  pass: number;
  fail: number;
  inconclusive: number;
}
export interface Learner {
  /** The id of the learner's merchant */
  id: string;
  name: string;
  /** The name of the lesson; null before the first one */
  lesson: string | null;
  /** The title of the lesson */
  title: string | null;
  /** The number of the step; null at the end of the lesson */
  step: number | null;
  stepTitle: string | null;
  /** The number of steps in the lesson */
  steps: number;
  /** The number of completed steps */
  completed: number;
  /** The number of hints shown for this step */
  hints: number;
  /** The latest hint shown, as Markdown; null if none was shown */
  hint: string | null;
  /** The sandbox time at which the step began */
  since: string;
  /** Real milliseconds spent at the step, counted from the start of the process if that is later */
  elapsed: number;
  /** The name of the next lesson; null after the last one */
  next: string | null;
  /** The finished steps of all lessons, oldest first */
  finishedSteps: FinishedStep[];
  /** Incremented with each change of this learner; starts at 0 with each run */
  version: number;
}
export interface LearnerState {
  /** The id of the learner's merchant */
  id: string;
  name: string;
  /** The name of the lesson; null before the first one */
  lesson: string | null;
  /** The title of the lesson */
  title: string | null;
  /** The number of the step; null at the end of the lesson */
  step: number | null;
  stepTitle: string | null;
  /** The number of steps in the lesson */
  steps: number;
  /** The number of completed steps */
  completed: number;
  /** The number of hints shown for this step */
  hints: number;
  /** The latest hint shown, as Markdown; null if none was shown */
  hint: string | null;
  /** Sandbox milliseconds */
  since: number;
  /** Real milliseconds spent at the step, counted from the start of the process if that is later */
  elapsed: number;
  /** The name of the next lesson; null after the last one */
  next: string | null;
  /** The finished steps of all lessons, oldest first */
  finishedSteps: FinishedStepState[];
  /** Incremented with each change of this learner; starts at 0 with each run */
  version: number;
}
export interface LearnersBeginInput {
  id: string;
  /** The name or number of the lesson */
  name: string;
  /** Begin at this step; the results of the steps before it are created */
  step?: number;
}
export interface LearnersGetInput {
  id: string;
  /** Wait until the learner's version is newer than this one */
  after?: number;
  /** How long to wait, at most an hour (default: 25s) */
  within?: string;
}
export interface LearnersJoinInput {
  /** The learner's name, which must be unique */
  name?: string;
  /** The id of an existing merchant to use instead of a new one */
  merchant?: string;
  /** Real time at a step after which a hint is shown. A fix that does not work shows a hint within 8s. 0s turns off both kinds of hints (default: 90s) */
  hintAfter?: string;
}
export interface LearnersJoinReply {
  learner: Learner;
  /** The API key of the learner's merchant */
  apiKey: string;
  baseUrl: string;
}
export interface LearnersListInput {
  /** Only the learner with this merchant */
  merchant?: string;
}
export interface LearnersListReply {
  /** Always `list` */
  object: "list";
  /** The learners, in the order in which they joined */
  data: Learner[];
}
export interface Lesson {
  name: string;
  number: number;
  title: string;
  /** The introduction, as Markdown */
  about: string;
  steps: LessonStep[];
  /** The file that the learner works on; null if the lesson has none */
  file: LessonFile | null;
}
export interface LessonBlock {
  /** `prose` for Markdown, otherwise the language of a fenced block; the learner runs `sh` blocks */
  kind: string;
  text: string;
}
export interface LessonFile {
  /** The name of the file: the lesson's name with `.mjs` */
  name: string;
  start: string;
  solution: string;
}
export interface LessonMessage {
  news: "joined" | "began" | "completed" | "skipped" | "hint" | "gone";
  learner: LearnerState;
}
export interface LessonStep {
  number: number;
  title: string;
  /** The content of the step, in reading order */
  blocks: LessonBlock[];
  /** The commands of the step; null if it has none */
  command: string | null;
  /** The number of hints */
  hints: number;
  /** True if the learner completes the lesson's file in this step */
  mends: boolean;
}
export interface LessonsGetInput {
  name: string;
  /** The id of a learner whose URL, API key and merchant are filled in (default: the first merchant, on port 4747) */
  learner?: string;
}
export interface LessonsListReply {
  /** Always `list` */
  object: "list";
  data: Lesson[];
}
export interface LifeChange {
  /** Sandbox time */
  at: string;
  merchant: string;
  /** Kind of record, such as `payout` */
  kind: string;
  /** The record */
  id: string;
  /** Its state before; null for a new record, and for a consequence of another change */
  from: string | null;
  /** Its state after; null for a record without states */
  to: string | null;
  /** Type of the event; null if the change has none */
  event: string | null;
  /** In the currency's smallest unit; for a payroll, the net total */
  amount: number | null;
  currency: string | null;
}
export interface ListedEndpoint {
  id: string;
  merchant: string;
  url: string;
  events: string[];
  /** Secret that signs every delivery */
  secret: string;
  /** `enabled`, or `disabled` by a 410 or by the control API */
  status: string;
  /** Health of the endpoint, calculated from its delivery log */
  health: WebhookHealth;
  /** Sandbox time */
  created: string;
}
export interface ListedMerchant {
  id: string;
  name: string | null;
  email: string | null;
  apiKeys: string[];
  /** `active`, or `suspended`: the merchant's requests are refused */
  status: string;
  /** How many records the merchant has, of all kinds */
  records: number;
  /** How many requests of the merchant are in the log */
  requests: number;
}
export type LiveEvent = {
  kind: "request";
  request: RequestMessage;
} | {
  kind: "attempt";
  attempt: AttemptMessage;
} | {
  kind: "verdict";
  verdict: VerdictMessage;
} | {
  kind: "fault";
  fault: Firing;
} | {
  kind: "clock";
  clock: Clock;
} | {
  kind: "lesson";
  lesson: LessonMessage;
} | {
  kind: "reset";
  /** Null for a reset of everything */
  merchant: string | null;
} | {
  kind: "cancellation";
  merchant: string;
  endpoint: string;
} | {
  kind: "removal";
  /** The merchant that was removed */
  merchant: string;
};
export interface LoggedAttempt {
  /** Unique identifier of the attempt (`whd_…`) */
  id: string;
  /** Type of the object */
  object: "webhook_delivery";
  /** Merchant that owns the object (`mer_…`) */
  merchantId: string;
  /** Event delivered; the same for every attempt (`evt_…`) */
  eventId: string;
  /** Event type */
  eventType: string;
  /** Endpoint that received the attempt (`we_…`) */
  endpointId: string;
  /** URL to which the attempt was sent */
  url: string;
  /** What triggered the attempt */
  trigger: "event" | "retry" | "replay" | "test";
  /** Number of this attempt, starting at 1 */
  attempt: number;
  /** Maximum number of attempts */
  maxAttempts: number;
  /** `aborted`: the sandbox stopped before a response arrived; the delivery is attempted again */
  status: "succeeded" | "failed" | "aborted";
  /** Status of the response */
  responseStatus: number | null;
  /** First 4 KiB of the response body */
  responseBody: string | null;
  /** Whether the response body was truncated */
  responseTruncated: boolean;
  /** Why the attempt failed; null if it succeeded */
  errorCode: "timeout" | "connection_refused" | "dns" | "tls" | "reset" | "redirect_not_followed" | "http_status" | "target_not_allowed" | "dropped" | null;
  /** Description of the error */
  errorMessage: string | null;
  /** Real milliseconds until the receiver responded; null if the attempt was aborted */
  durationMs: number | null;
  /** Request headers */
  requestHeaders: Record<string, string>;
  /** Request body, exactly as it was signed and sent */
  requestBody: string;
  /** Time of the next attempt; null if there is none, in Unix seconds */
  nextAttemptAt: number | null;
  /** Always false: no money moves here */
  livemode: boolean;
  /** Time at which the attempt ended, in Unix seconds */
  created: number;
  /** Sandbox time at which it ended */
  at: string;
  /** The attempt's number, in the order in which attempts were written */
  sequence: number;
  /** The number of the attempt's delivery. A replay is a new delivery */
  delivery: number;
  /** The state of the attempt's delivery; `cancelled` if, before the next attempt, the endpoint was deleted or disabled, or the merchant removed */
  deliveryState: "pending" | "sending" | "succeeded" | "failed" | "cancelled";
  /** The trace of the request that caused the delivery; null without one */
  trace: string | null;
  /** Why the attempt failed: the first line of the response's body, or the error */
  summary: string | null;
  /** The effect of fault rules on the attempt; null if none applied */
  fault: DeliveryFault | null;
}
export interface LoggedEvent {
  id: string;
  merchant: string;
  type: string;
  /** Sandbox time */
  created: string;
  /** What emitted the event: a request, the clock on a date of the event's record, or the control API */
  cause: "request" | "clock" | "control";
  /** The request that caused it */
  request: string | null;
  /** The trace of that request; null without one */
  trace: string | null;
  /** The body of its deliveries */
  body: unknown;
  deliveries: {
    pending: number;
    succeeded: number;
    failed: number;
    cancelled: number;
  };
}
export interface LoggedRequest {
  id: string;
  /** Its number among the requests of all merchants, in order of arrival */
  sequence: number;
  /** Sandbox time of arrival */
  at: string;
  method: string;
  path: string;
  query: string;
  operation: string | null;
  merchant: string | null;
  status: number;
  /** Real milliseconds from arrival to response */
  durationMs: number;
  idempotencyKey: string | null;
  /** The request whose stored response was replayed */
  replayOf: string | null;
  /** The fault rules that affected it, separated by commas */
  fault: string | null;
  /** What had no effect, separated by commas: unknown query parameters, and `Idempotency-Key` where the operation takes none */
  ignored: string | null;
  /** The response in a line: the code and message of an error, or the record that a write returned */
  summary: string | null;
  /** The last characters of the API key */
  key: string | null;
  /** The trace that its `traceparent` header names: 32 hex digits; null without one */
  trace: string | null;
}
export interface Merchant {
  id: string;
  name: string | null;
  email: string | null;
  apiKeys: string[];
}
export interface MerchantsAddInput {
  /** Which fixture, or a merchant created from it (default: the first fixture) */
  fixture?: string;
  /** Determines its ids and keys (default: the number of merchants created without a name) */
  name?: string;
}
export interface MerchantsAddReply {
  id: string;
  apiKey: string;
  /** Base URL for clients */
  baseUrl: string;
}
export interface MerchantsListInput {
  /** Only this merchant */
  merchant?: string;
}
export interface MerchantsListReply {
  /** Always `list` */
  object: "list";
  data: ListedMerchant[];
}
export interface MerchantsRemoveReply {
  removed: string;
}
export interface NearMiss {
  id: string;
  /** The request or record, in a few words */
  what: string;
  /** Where it differs from what was expected */
  differs: ({
    field: string;
    expected: unknown;
    received: unknown;
  })[];
}
/** An OpenAPI document */
export interface OpenapiDocument {
  /** Version of OpenAPI */
  openapi: string;
  info: Record<string, unknown>;
  paths: Record<string, unknown>;
  components: Record<string, unknown>;
  [field: string]: unknown;
}
/** A known operation, or a pattern in which * matches anything. */
export type OperationPattern = "customers.get" | "pricing_rules.create" | "payroll.create" | "payout_method.set" | "merchants.login" | "merchants.create" | "payouts.list" | "marketplace_orders.list" | "payments.list" | "disciplinary.list" | "renewals.list" | "organizer.get" | "sync_logs.list" | "appraisals.list" | "merchants.me" | "bookings.decline" | "payroll.override_item" | "variants.create" | "remittances.confirm" | "gov_payments.post" | "statutory_settings.update" | "statutory_settings.get" | "webhooks.create" | "webhooks.list" | "webhooks.delete" | "webhooks.rotate_secret" | "deliveries.list" | "events.test" | `${string}*${string}`;
export interface PlayedAttempt {
  id: string;
  /** Sandbox time at which the attempt ended */
  at: string;
  merchant: string;
  eventId: string;
  eventType: string;
  endpointId: string;
  attempt: number;
  status: string;
  responseStatus: number | null;
  errorCode: string | null;
  /** Unix seconds; null if there is no next attempt */
  nextAttemptAt: number | null;
}
export interface Probe {
  probe: string;
  /** `inconclusive` if the receiver also refuses genuine events, or does not answer, or if its effects were not counted, or if it accepts old events */
  verdict: "pass" | "fail" | "inconclusive";
  sent: string;
  /** What the receiver did */
  did: string;
  /** What it should have done */
  should: string;
  why: string;
}
export interface RateLimitsListInput {
  /** Only windows of this merchant */
  merchant?: string;
}
export interface RateLimitsListReply {
  data: RateWindow[];
}
export interface RateLimitsSetInput {
  merchant: string;
  /** Requests per window */
  limit?: number;
  /** Length of a window, such as 10s */
  window?: string;
  /** Requests left in the current window */
  remaining?: number;
  /** Time until the current window ends, such as 10s */
  resetIn?: string;
}
export interface RateWindow {
  merchant: string;
  /** Operation with its own window; null for the window of all other operations */
  operation: string | null;
  limit: number;
  /** Milliseconds */
  window: number;
  remaining: number;
  /** End of the window, in sandbox time */
  reset: string;
  /** Milliseconds until the window ends */
  resetIn: number;
}
export interface RecordsGetInput {
  kind: string;
  id: string;
  /** The owner; required only if several merchants have a record with this id */
  merchant?: string;
}
export interface RecordsListInput {
  kind: string;
  /** The owner, such as mer_lodge (default: the first merchant) */
  merchant?: string;
  /** Only records in this status */
  status?: string;
  /** Maximum number of objects to return */
  limit?: number;
  /** Cursor: id of an object; returns the objects after it (older) */
  starting_after?: string;
  /** Cursor: id of an object; returns the objects before it (newer) */
  ending_before?: string;
}
export interface RecordsListReply {
  /** Always `list` */
  object: "list";
  /** Newest first */
  data: AnyRecord[];
  /** Whether there are more objects after this page, in the requested direction */
  has_more: boolean;
}
export interface RecordsMakeInput {
  kind: string;
  /** The owner, such as mer_lodge (default: the first merchant) */
  merchant?: string;
  [field: string]: unknown;
}
export interface RecordsMoveInput {
  kind: string;
  id: string;
  /** The owner; required only if several merchants have a record with this id */
  merchant?: string;
  [field: string]: unknown;
}
export interface RegisteredEndpoint {
  id: string;
  merchant: string;
  url: string;
  events: string[];
  /** Secret that signs every delivery */
  secret: string;
  /** False if the merchant already had an endpoint at this URL */
  created: boolean;
}
export interface RequestDetail {
  id: string;
  /** Its number among the requests of all merchants, in order of arrival */
  sequence: number;
  /** Sandbox time of arrival */
  at: string;
  method: string;
  path: string;
  query: string;
  operation: string | null;
  merchant: string | null;
  status: number;
  /** Real milliseconds from arrival to response */
  durationMs: number;
  idempotencyKey: string | null;
  /** The request whose stored response was replayed */
  replayOf: string | null;
  /** The fault rules that affected it, separated by commas */
  fault: string | null;
  /** What had no effect, separated by commas: unknown query parameters, and `Idempotency-Key` where the operation takes none */
  ignored: string | null;
  /** The response in a line: the code and message of an error, or the record that a write returned */
  summary: string | null;
  /** The last characters of the API key */
  key: string | null;
  /** The trace that its `traceparent` header names: 32 hex digits; null without one */
  trace: string | null;
  /** How long each stage took, in real milliseconds: `checks` (key, rate limit), the `body` of the request, `validation`, the `operation`, `response` (until its first byte; injected latency is here), and `sending`. Stages that the request did not reach are left out */
  stages: ({
    name: "checks" | "body" | "validation" | "operation" | "response" | "sending";
    ms: number;
  })[];
  request: {
    headers: Record<string, unknown>;
    /** As sent, truncated at 16 KiB, secrets masked */
    body: string;
    /** Length before truncation */
    bytes: number;
  };
  response: {
    headers: Record<string, unknown>;
    /** As sent, truncated at 16 KiB, secrets masked */
    body: string;
    /** Length before truncation */
    bytes: number;
  };
  /** Events the request caused */
  events: ({
    id: string;
    type: string;
  })[];
}
/** Which requests match; all conditions must hold */
export interface RequestMatch {
  /** Ids of operations, such as payments.list; payroll.* matches a whole area */
  operation?: OperationPattern | OperationPattern[];
  /** Id of the merchant whose key was sent */
  merchant?: string;
  /** A status such as 429, or a class such as 4xx */
  status?: number | string;
  /** The method */
  method?: "GET" | "HEAD" | "POST" | "PATCH" | "PUT" | "DELETE";
  /** The path without its query; * matches anything */
  path?: string;
  /** Query parameters by name, as text */
  query?: Record<string, Condition>;
  /** An API key, or its last four characters */
  key?: string;
  /** The value itself, or operators such as {gte: 100} that must all hold */
  idempotencyKey?: Condition;
  /** Whether the response was the stored one of its Idempotency-Key */
  replayed?: boolean;
  /** Request headers by name, in any case */
  header?: Record<string, Condition>;
  /** Values in the request body by JSON Pointer */
  body?: Record<string, Condition>;
}
export interface RequestMessage {
  id: string;
  /** Its number among the requests of all merchants, in order of arrival */
  sequence: number;
  /** Sandbox milliseconds */
  at: number;
  method: string;
  path: string;
  query: string;
  operation: string | null;
  merchant: string | null;
  status: number;
  /** Real milliseconds from arrival to response */
  durationMs: number;
  idempotencyKey: string | null;
  /** The request whose stored response was replayed */
  replayOf: string | null;
  /** The fault rules that affected it, separated by commas */
  fault: string | null;
  /** What had no effect, separated by commas: unknown query parameters, and `Idempotency-Key` where the operation takes none */
  ignored: string | null;
  /** The response in a line: the code and message of an error, or the record that a write returned */
  summary: string | null;
}
export interface RequestsListInput {
  /** Only requests of this operation, such as payments.list */
  operation?: string;
  /** Only requests of this merchant */
  merchant?: string;
  /** Only requests with a status such as 429, or a class such as 4xx */
  status?: string;
  /** Only requests with the API key that ends with these characters */
  key?: string;
  /** Only requests at or after this time */
  since?: string;
  /** Only requests of this trace: the 32 hex digits in their `traceparent` header */
  trace?: string;
  /** Only rows whose path or URL contains this text */
  path?: string;
  /** Only rows that match this filter, as in the dashboard: `status:4xx path:/v1/payments ms>100 time>12:04 is:fault !lodge` */
  filter?: string;
  /** Id of a request: only requests before it */
  starting_after?: string;
  /** Maximum number of objects to return */
  limit?: number;
}
export interface RequestsListReply {
  /** Always `list` */
  object: "list";
  /** Newest first */
  data: LoggedRequest[];
  /** Whether there are more objects after this page, in the requested direction */
  has_more: boolean;
}
export interface RunReport {
  /** Why the run failed besides its verdicts, such as a condition of `exec --fail-on` */
  problems: string[];
  /** The conditions of `exec --fail-on`; null outside of `exec`, where each failed verdict fails the report */
  failOn: string[] | null;
  /** In `exec`, whether it exits with another code than 0 */
  failed: boolean;
  sandbox: {
    version: string;
    url: string;
    clock: string;
    now: string;
  };
  /** Sandboxes that tests created for themselves. Of their data, the report has only the verdicts */
  added: AddedSandbox[];
  totals: {
    operations: {
      called: number;
      total: number;
    };
    /** Counts of event types */
    events: {
      emitted: number;
      delivered: number;
      total: number;
    };
    requests: number;
    /** Requests by class: 2xx, 4xx, 5xx */
    statuses: Record<string, number>;
    attempts: number;
    /** Deliveries by final status, each with all its attempts */
    deliveries: Record<string, number>;
    /** Events that an endpoint did not accept: their last attempt failed, and no fault rule had changed it */
    notAccepted: number;
    verdicts: {
      pass: number;
      fail: number;
      inconclusive: number;
    };
  };
  /** What nothing in the run decides, although it may be wrong */
  unchecked: string[];
  coverage: ({
    operation: string;
    area: string;
    method: string;
    path: string;
    calls: number;
    /** The count of each declared status, and of every other status that was returned; null counts the calls without a response */
    statuses: ({
      status: number | null;
      calls: number;
    })[];
    /** The count of each declared event, whatever caused it */
    events: ({
      type: string;
      count: number;
    })[];
  })[];
  /** Every type of event that the service can send */
  events: ({
    type: string;
    emitted: number;
    delivered: number;
  })[];
  /** The armed scenarios; in `exec`, also those that were decided before they were disarmed */
  scenarios: ({
    name: string;
    title: string;
    merchant: string | null;
    score: number;
    points: number;
    message: string;
    verdict: "pass" | "fail" | "inconclusive";
    expectations: ({
      rule: string;
      points: number;
      verdict: "pass" | "fail" | "inconclusive";
      score: number;
    })[];
  })[];
  /** What audits and counts of effects decided about receivers, failed ones first */
  checks: ({
    /** An audit, or an expectation of effects */
    kind: "audit" | "effects";
    /** The URL that was audited, or the events whose effects were counted */
    subject: string;
    merchant: string | null;
    verdict: "pass" | "fail" | "inconclusive";
    message: string;
    /** The probes of an audit */
    probes: ({
      probe: string;
      verdict: "pass" | "fail" | "inconclusive";
      sent: string;
      did: string;
      should: string;
      why: string;
    })[];
  })[];
  /** Failed ones first */
  verdicts: Verdict[];
  /** Oldest first; of a long run, only the newest */
  requests: ({
    id: string;
    /** Its number among the requests of all merchants, in order of arrival */
    sequence: number;
    /** Sandbox time of arrival */
    at: string;
    method: string;
    path: string;
    query: string;
    operation: string | null;
    merchant: string | null;
    /** Null if no response was sent, or a fault lost it */
    status: number | null;
    /** Real milliseconds from arrival to response */
    durationMs: number;
    idempotencyKey: string | null;
    /** The request whose stored response was replayed */
    replayOf: string | null;
    /** The fault rules that affected it, separated by commas */
    fault: string | null;
    /** What had no effect, separated by commas: unknown query parameters, and `Idempotency-Key` where the operation takes none */
    ignored: string | null;
    /** The response in a line: the code and message of an error, or the record that a write returned */
    summary: string | null;
  })[];
  deliveries: ({
    id: string;
    at: string;
    merchant: string;
    event: string;
    type: string;
    endpoint: string;
    url: string;
    trigger: string;
    attempt: number;
    maxAttempts: number;
    status: string;
    responseStatus: number | null;
    error: string | null;
    /** The request that caused the event */
    request: string | null;
  })[];
  /** The number of older entries that the report omits */
  omitted: {
    requests: number;
    attempts: number;
    verdicts: number;
  };
}
export interface SandboxAssumptionsInput {
  /** Only the facts of this operation, such as bookings.decline */
  operation?: string;
}
export interface SandboxAssumptionsReply {
  /** The number of facts that are assumptions */
  total: number;
  /** The kinds of facts */
  kinds: Record<string, {
    /** How a recording of the service shows such a fact */
    observed: string;
  }>;
  facts: ({
    /** Stable identifier of the fact, such as `payment.status.values.refunded` */
    id: string;
    /** How a recording shows the fact */
    kind: "success_status" | "field" | "other_fields" | "type" | "value" | "values" | "prefix" | "format" | "envelope" | "order" | "parameter" | "other_parameters" | "default" | "minimum" | "maximum" | "body_field" | "required" | "accepted" | "error_status" | "error_category" | "error_code" | "invalid_fields" | "header" | "rate_limit" | "retry_after" | "idempotency_header" | "replay" | "replay_window" | "delivery_header" | "signature" | "body_format" | "schedule" | "limit" | "time_out" | "behaviour";
    /** The value in the sandbox */
    value: unknown;
    /** Where the fact comes from; `design`: the sandbox differs from every service on purpose */
    origin: "document" | "assumed" | "design";
    /** Why the sandbox assumes it, or differs */
    why?: string;
    /** The option that changes it */
    setting?: string;
    /** JSON Schema of the values that `assumptions` may set; absent if it cannot be set */
    settable?: Record<string, unknown>;
    /** The sandbox's own value; present only if an option has set `value` */
    default?: unknown;
  })[];
}
export interface SandboxAuditInput {
  /** Address of the receiver; the same addresses are allowed as for webhook endpoints */
  url: string;
  /** Secret the receiver verifies with (default: the secret of the endpoint registered at this address) */
  secret?: string;
  /** Type of the events, which are modelled on the newest event of this type (default: payment.succeeded) */
  event?: string;
  /** Maximum age that the receiver allows for an event, such as 3d (default: unknown, so an old event that it accepts decides nothing) */
  maxAge?: string;
}
export interface SandboxControlOpenapiInput {
  /** Version of OpenAPI */
  version?: "3.1" | "3.0";
  /** `off` leaves out the fields `x-sandbox-*` */
  extensions?: "on" | "off";
}
export interface SandboxDrainInput {
  /** Maximum wait in real time, such as 5s (default: 10s) */
  within?: string;
}
export interface SandboxDrainReply {
  /** Whether no delivery is due or in flight; false if the wait ended first */
  settled: boolean;
  /** Deliveries waiting for a later attempt, and held ones */
  pending: number;
  inFlight: number;
}
export interface SandboxHealthReply {
  status: "ready";
  version: string;
}
export interface SandboxOpenapiInput {
  /** Version of OpenAPI */
  version?: "3.1" | "3.0";
  /** `off` leaves out the fields `x-sandbox-*` */
  extensions?: "on" | "off";
}
export interface SandboxOperationsInput {
  /** 1 also counts the calls and events from before a reset (default: 0) */
  erased?: string;
}
export interface SandboxOperationsReply {
  data: ({
    id: string;
    method: string;
    path: string;
    summary: string;
    calls: number;
    byStatus: Record<string, number>;
  })[];
  called: number;
  total: number;
  /** All event types */
  events: ({
    type: string;
    /** How many were emitted */
    emitted: number;
    /** How many deliveries succeeded */
    delivered: number;
  })[];
}
export interface SandboxOverviewReply {
  name: string;
  version: string;
  /** Process id */
  pid: number;
  /** Base URL for clients */
  baseUrl: string;
  clock: Clock;
  /** Whether records change on their dates: see `--life` */
  life: "on" | "off";
  /** The SQLite file; null in memory */
  database: string | null;
  /** How the signature of deliveries is computed */
  signature: string;
  /** The assumptions that options set, by id */
  assumptions: Record<string, unknown>;
  /** The first 500 merchants */
  merchants: Merchant[];
  /** How many merchants there are */
  merchantCount: number;
  /** How many deliveries are waiting for an attempt, due now or later */
  pendingDeliveries: number;
  /** How many of the pending deliveries are held, because they came with a file: see `replay waiting` */
  heldDeliveries: number;
  /** The addresses of endpoints that came with a file: deliveries to them are held until `replay waiting` */
  heldEndpoints: string[];
  /** The effects of the file's fault rules on the held deliveries */
  heldFaults: string[];
  /** The scenarios that are armed */
  scenarios: ({
    name: string;
    /** The merchant that it is armed for; null for all */
    merchant: string | null;
    /** The points earned */
    score: number;
    /** The points available */
    points: number;
    /** `inconclusive` while an expectation is undecided, or a fault has not fired; null if it is not armed */
    verdict: "pass" | "fail" | "inconclusive" | null;
  })[];
  /** Counts since the last reset. After a restart with a file, they start from the rows in the file */
  made: {
    requests: number;
    /** Delivery attempts */
    attempts: number;
    verdicts: {
      pass: number;
      fail: number;
      inconclusive: number;
      /** How often each rule failed */
      failures: Record<string, number>;
    };
  };
  /** The number of rows that the logs still have */
  kept: {
    requests: number;
    /** Delivery attempts */
    attempts: number;
    verdicts: number;
  };
  /** How many deliveries failed for good and were not replayed since */
  failedDeliveries: number;
  links: Record<string, string>;
}
export interface SandboxReportInput {
  /** The format (default: json) */
  format?: "json" | "junit" | "markdown" | "html" | "har";
  /** The reasons of `exec --fail-on` why the run failed, one per line. Each is a failure in the report */
  problems?: string;
  /** The conditions of `exec --fail-on`, separated by commas. If sent, even empty, the report fails exactly if there are `problems`, shows failed verdicts and audits as failures only if the conditions include `verdicts`, and includes results from before a reset. If not sent, each failed verdict is a failure */
  failOn?: string;
}
export interface SandboxResetInput {
  /** Only this merchant */
  merchant?: string;
}
export interface SandboxResetReply {
  /** The merchant, or `everything` */
  reset: string;
  /** The clock that was reset; null if only a merchant was */
  clock: {
    /** `real` follows the machine, `frozen` stands still, `offset` runs from another time */
    mode: "real" | "frozen" | "offset";
    /** Sandbox time, RFC 3339 */
    now: string;
    /** The same in Unix seconds, as in `created` */
    unix: number;
  } | {
    /** `real` follows the machine, `frozen` stands still, `offset` runs from another time */
    mode: "real" | "frozen" | "offset";
    /** Sandbox time, RFC 3339 */
    now: string;
    /** The same in Unix seconds, as in `created` */
    unix: number;
  };
  /** The fault rules of the options, which are armed again */
  faults: string[];
  /** The scenarios of the options, which are armed again */
  scenarios: string[];
  /** The endpoints of the options, which are registered again */
  endpoints: string[];
}
export interface SandboxTrendsReply {
  /** How long a span is */
  seconds: number;
  /** Milliseconds since the last span began */
  elapsed: number;
  /** All spans together */
  total: {
    requests: number;
    /** Responses with a 4xx */
    clientErrors: number;
    /** Responses with a 5xx, and connections closed without a response */
    serverErrors: number;
    /** Requests that a fault rule affected */
    faults: number;
    /** The 95th percentile of the durations in real milliseconds, exact to 5 %; null without requests */
    p95: number | null;
  };
  /** Oldest first; the last one is not over yet */
  spans: ({
    requests: number;
    /** Responses with a 4xx */
    clientErrors: number;
    /** Responses with a 5xx, and connections closed without a response */
    serverErrors: number;
    /** Requests that a fault rule affected */
    faults: number;
    /** The 95th percentile of the durations in real milliseconds, exact to 5 %; null without requests */
    p95: number | null;
    /** The request that arrived first. Left out without requests */
    first?: {
      /** The request's number in the request log */
      sequence: number;
      /** Sandbox time of arrival */
      at: string;
    };
    /** The request that arrived last. Left out without requests */
    last?: {
      /** The request's number in the request log */
      sequence: number;
      /** Sandbox time of arrival */
      at: string;
    };
  })[];
  /** Each operation that was called, all spans together */
  operations: ({
    operation: string;
    requests: number;
    /** Responses with a 4xx */
    clientErrors: number;
    /** Responses with a 5xx, and connections closed without a response */
    serverErrors: number;
    /** Requests that a fault rule affected */
    faults: number;
    /** The 95th percentile of the durations in real milliseconds, exact to 5 %; null without requests */
    p95: number | null;
  })[];
}
export interface SandboxVerifyInput {
  /** 1: reply 409 unless everything passed, so that `curl -f` fails */
  strict?: string;
  /** How long to wait until everything holds (default: 0s), such as 500ms or 5s, in real time */
  within?: string;
  /** Id of the merchant whose data is checked (default: all merchants) */
  merchant?: string;
  /** Everything that must hold at the same time */
  all: Expectation[];
}
export interface SandboxVerifyReply {
  /** The worst of all results */
  verdict: "pass" | "fail" | "inconclusive";
  /** Real milliseconds */
  waited: number;
  /** One for each expectation, in order */
  results: VerificationResult[];
}
export interface Scenario {
  name: string;
  /** What fails, in one line */
  title: string;
  /** What happens, and what a correct client does */
  about: string;
  armed: boolean;
  /** The merchant that it is armed for; null for all */
  merchant: string | null;
  /** Sandbox time; null if it is not armed */
  since: string | null;
  /** The fault rules with their counts; as written in its file if it is not armed */
  faults: (Record<string, unknown>)[];
  /** The counts of the receiver's effects; null if they are not counted */
  effects: {
    /** How often the receiver had acted when the scenario was armed */
    before: number;
    /** How often the receiver had acted when it was last counted */
    now: number | null;
    /** The events on which the receiver acts; null if they were not named */
    event: string | null;
  } | {
    /** How often the receiver had acted when the scenario was armed */
    before: number;
    /** How often the receiver had acted when it was last counted */
    now: number | null;
    /** The events on which the receiver acts; null if they were not named */
    event: string | null;
  };
  expectations: ({
    /** A rule of the judge, or a pattern for several */
    rule: string;
    /** How many points it is worth */
    points: number;
    /** Counts only if a verdict decides it */
    optional: boolean;
    /** `pass` if a verdict passed and none failed */
    verdict: "pass" | "fail" | "inconclusive";
    /** The points earned */
    score: number;
    /** The reason of the verdict */
    message: string;
    pass: number;
    fail: number;
    inconclusive: number;
    /** The verdicts that this scenario's faults led to: failures first, 20 at most */
    verdicts: Verdict[];
  })[];
  /** The points earned */
  score: number;
  /** The points available */
  points: number;
  /** `inconclusive` while an expectation is undecided, or a fault has not fired; null if it is not armed */
  verdict: "pass" | "fail" | "inconclusive" | null;
  /** The verdict in a sentence */
  message: string;
}
export interface ScenariosCountInput {
  name: string;
  /** The merchant it is armed for; required only if it is armed more than once */
  merchant?: string;
  /** How often the receiver has acted so far */
  effects: number;
}
export interface ScenariosGetInput {
  name: string;
  /** The merchant it is armed for; required only if it is armed more than once */
  merchant?: string;
}
export interface ScenariosListReply {
  /** Always `list` */
  object: "list";
  data: Scenario[];
}
export interface ScenariosStartInput {
  name: string;
  /** The merchant it applies to (default: all) */
  merchant?: string;
  /** How often the receiver has acted so far; send later counts with `PATCH` (default: not counted) */
  effects?: number;
  /** The type of the events on which the receiver acts, or a pattern (default: all, if they are of one type) */
  event?: string;
}
export interface ScenariosStopInput {
  name: string;
  /** The merchant it is armed for; required only if it is armed more than once */
  merchant?: string;
}
export interface SignatureExplainInput {
  /** The endpoint of the delivery */
  endpoint: string;
  /** The body as your code hashed it */
  body: string;
  /** The signature your code computed, or received */
  signature: string;
}
export interface SignatureExplainReply {
  matches: boolean;
  mistake: string | null;
  explanation: string;
}
export interface Snapshot {
  name: string;
  /** A SQLite file; start from it with `--snapshot <file>` */
  file: string;
  bytes: number;
}
export interface SnapshotsListReply {
  /** Always `list` */
  object: "list";
  data: Snapshot[];
}
export interface SnapshotsRemoveReply {
  removed: string;
}
export interface SnapshotsRestoreReply {
  restored: string;
  /** How many deliveries are held until you run `replay waiting`; absent if your own sandbox saved the snapshot */
  heldDeliveries?: number;
  /** The URLs of the endpoints whose later deliveries are held too */
  heldEndpoints?: string[];
}
export interface SnapshotsSaveReply {
  name: string;
  /** A SQLite file; start from it with `--snapshot <file>` */
  file: string;
  bytes: number;
  /** Whether there was an earlier snapshot of the same name */
  replaced: boolean;
}
export interface StartedAudit {
  id: string;
  /** What to do before the next call; null at the end */
  next: {
    /** `count`: read the count once the receiver has finished its work. `restart`: restart the receiver, then read the count. `wait and count`: wait a second for late work, then read the count */
    do: "count" | "restart" | "wait and count";
    probe: string;
    /** The count to wait for; null before a restart */
    atLeast: number | null;
    /** The highest count of a correct receiver */
    atMost: number | null;
  } | {
    /** `count`: read the count once the receiver has finished its work. `restart`: restart the receiver, then read the count. `wait and count`: wait a second for late work, then read the count */
    do: "count" | "restart" | "wait and count";
    probe: string;
    /** The count to wait for; null before a restart */
    atLeast: number | null;
    /** The highest count of a correct receiver */
    atMost: number | null;
  };
  result: AuditResult;
}
export interface Timeline {
  id: string;
  /** Its owner; null for a record that is gone */
  merchant: string | null;
  /** Null for a record that is gone */
  record: AnyRecord | null;
  /** The fields that refer to another record, with its id */
  references: Record<string, string>;
  /** Other merchants that have a record with this id, at most 10 */
  others: string[];
  /** The next change that the clock makes; null if none is scheduled */
  next: {
    /** Sandbox time */
    at: string;
    status: string;
  } | null;
  /** Newest first */
  steps: TimelineStep[];
  /** Whether older steps were left out */
  has_more: boolean;
}
export interface TimelineStep {
  /** `delivery` is one attempt; `clock` the event of a change that a date of the record brought */
  kind: "request" | "event" | "delivery" | "clock";
  /** Id of the request, the attempt or the event */
  id: string;
  /** Sandbox time */
  at: string;
  /** The call, the type of the event, or the attempt and its URL */
  text: string;
  /** The status and what it says, or the states of the deliveries */
  result: string | null;
  /** Whether a request or an attempt failed */
  failed: boolean;
}
export interface TimelinesGetInput {
  id: string;
  /** The owner (default: the first merchant that has such a record) */
  merchant?: string;
  /** Maximum number of objects to return */
  limit?: number;
}
export interface Trace {
  /** The trace id; null without a `traceparent` */
  trace: string | null;
  steps: TraceStep[];
  /** Whether further steps were left out: 200 are shown */
  has_more: boolean;
}
export interface TraceStep {
  /** `delivery` is one attempt */
  kind: "request" | "event" | "delivery";
  id: string;
  /** The id of the step that it followed from; null for a first one */
  cause: string | null;
  /** The number of steps above it */
  depth: number;
  /** Sandbox time */
  at: string;
  merchant: string | null;
  /** The call, the type of the event, or the attempt and its URL */
  text: string;
  /** The status and what it says, or the states of the deliveries */
  result: string | null;
  /** How the sandbox knows that a receiver made this call: `trace` from its `traceparent`; `time` because it arrived during the delivery or soon after, as the judge assumes; null for every other step */
  attributedBy: "trace" | "time" | null;
}
export interface TriggeredEvent {
  id: string;
  merchant: string;
  type: string;
  /** Sandbox time */
  created: string;
  /** What emitted the event: a request, the clock on a date of the event's record, or the control API */
  cause: "request" | "clock" | "control";
  /** The request that caused it */
  request: string | null;
  /** The trace of that request; null without one */
  trace: string | null;
  /** The body of its deliveries */
  body: unknown;
  deliveries: {
    pending: number;
    succeeded: number;
    failed: number;
    cancelled: number;
  };
  /** The record that the event is about; null for a synthetic event */
  record: {
    kind: string;
    id: string;
  } | null;
  /** All events that this call emitted, oldest first: this event, and those of earlier states */
  events: ({
    id: string;
    type: string;
  })[];
  /** Warnings about unlikely values, such as a stay in a full room; usually empty */
  warnings: string[];
}
export interface Verdict {
  /** Null if the verdict is not final: it would be the verdict if no more requests came */
  id: string | null;
  rule: string;
  /** How bad a failure is */
  severity: "error" | "warning";
  /** `inconclusive` if nothing that happened decides it */
  verdict: "pass" | "fail" | "inconclusive";
  /** Sandbox time of the request or attempt that it is about */
  at: string;
  /** The merchant whose key was sent */
  merchant: string | null;
  /** The operation that was called */
  operation: string | null;
  /** What happened */
  message: string;
  /** How to fix it */
  hint: string;
  /** The requests that show it */
  requests: string[];
  /** The delivery attempts that show it */
  attempts: string[];
  /** The requests with their connections and times */
  calls: ({
    request: string;
    /** Connections are numbered in the order in which the sandbox accepted them */
    connection: number;
    /** Real time from the arrival of the first call */
    milliseconds: number;
  })[];
  /** What confirms the verdict: `database`, effects and keys of the requests and attempts in the log; `connections`, the order of calls on connections; `time`, measured times. Null if it is inconclusive */
  confirmedBy: "database" | "connections" | "time" | null;
  /** What was measured: a wait in real time or in sandbox time, whichever is longer; all else in real time */
  milliseconds: Record<string, number>;
  /** The fault rule that caused it */
  fault: string | null;
}
export interface VerdictMessage {
  /** Null if the verdict is not final: it would be the verdict if no more requests came */
  id: string | null;
  rule: string;
  /** How bad a failure is */
  severity: "error" | "warning";
  /** `inconclusive` if nothing that happened decides it */
  verdict: "pass" | "fail" | "inconclusive";
  /** Sandbox milliseconds */
  at: number;
  /** The merchant whose key was sent */
  merchant: string | null;
  /** The operation that was called */
  operation: string | null;
  /** What happened */
  message: string;
  /** How to fix it */
  hint: string;
  /** The requests that show it */
  requests: string[];
  /** The delivery attempts that show it */
  attempts: string[];
  /** The requests with their connections and times */
  calls: ({
    request: string;
    /** Connections are numbered in the order in which the sandbox accepted them */
    connection: number;
    /** Real time from the arrival of the first call */
    milliseconds: number;
  })[];
  /** What confirms the verdict: `database`, effects and keys of the requests and attempts in the log; `connections`, the order of calls on connections; `time`, measured times. Null if it is inconclusive */
  confirmedBy: "database" | "connections" | "time" | null;
  /** What was measured: a wait in real time or in sandbox time, whichever is longer; all else in real time */
  milliseconds: Record<string, number>;
  /** The fault rule that caused it */
  fault: string | null;
}
export interface VerdictsAddInput {
  /** Its URL */
  sandbox: string;
  /** How many requests it had; null until it is closed */
  requests: number | null;
  verdicts: Verdict[];
}
export interface VerdictsAddReply {
  /** How many verdicts were added */
  added: number;
}
export interface VerdictsClearReply {
  /** How many verdicts were deleted */
  cleared: number;
}
export interface VerdictsListInput {
  /** Only verdicts of this rule, or of several, as in retry_after.* */
  rule?: string;
  /** Only rows with this verdict */
  verdict?: "pass" | "fail" | "inconclusive";
  /** Only verdicts of this merchant */
  merchant?: string;
  /** Only verdicts at or after this sandbox time, such as 2026-01-05T09:00:00Z */
  since?: string;
  /** 1 also lists failed and inconclusive verdicts that a reset deleted (default: 0) */
  erased?: string;
}
export interface VerdictsListReply {
  /** Always `list` */
  object: "list";
  /** Newest first, by `at`; at the same time, open ones come first */
  data: Verdict[];
  /** Every rule, with the counts of these verdicts */
  rules: JudgedRule[];
}
export interface VerificationResult {
  /** The kind of expectation, such as requests */
  expectation: string;
  /** `inconclusive` if nothing that happened decides it */
  verdict: "pass" | "fail" | "inconclusive";
  message: string;
  /** How many matched */
  found: number;
  /** Ids of the newest that matched */
  evidence: string[];
  /** If something is missing: what came closest to it */
  closest: NearMiss[];
}
/** Health of the endpoint, calculated from its delivery log */
export interface WebhookHealth {
  /** `unknown`: no attempt yet; `degraded`: the last attempt failed and will be retried; `failing`: retries of a delivery were exhausted since the last success */
  state: "unknown" | "healthy" | "degraded" | "failing" | "disabled";
  /** Number of failed attempts since the last success */
  consecutiveFailures: number;
  /** Number of pending deliveries */
  pendingDeliveries: number;
  /** Number of successful attempts in the last 24 hours */
  succeeded24h: number;
  /** Number of failed attempts in the last 24 hours */
  failed24h: number;
  /** Time of the last attempt, in Unix seconds */
  lastAttemptAt: number | null;
  /** Time of the last successful attempt, in Unix seconds */
  lastSuccessAt: number | null;
  /** Time of the last failed attempt, in Unix seconds */
  lastFailureAt: number | null;
  /** Status of the last response; null if the receiver did not respond */
  lastResponseStatus: number | null;
  /** Error of the last failed attempt */
  lastError: string | null;
  /** Reason the endpoint is disabled: `gone` after the receiver responded with 410 */
  disabledReason: string | null;
}
/** A record of any kind, and warnings */
export interface WrittenRecord {
  id: string;
  /** The kind of record */
  object: string;
  /** The owner */
  merchantId: string;
  /** Only kinds with states have one */
  status?: string;
  /** Free-form key-value data, stored unchanged */
  metadata: Record<string, unknown>;
  /** Time at which it was created, in Unix seconds */
  created: number;
  /** Warnings about unlikely values, such as a stay in a full room; usually empty */
  warnings: string[];
  [field: string]: unknown;
}
/** How often the receiver has acted so far, such as the number of rows in a table. */
export type CountEffects = () => number | Promise<number>;
export interface AuditOptions extends SandboxAuditInput {
  /** Called before and after each probe. Without it, whether the receiver acts once is not checked. */
  effects?: CountEffects | undefined;
  /** Restarts the receiver, and resolves once it listens again (default: no restart is tried). */
  restart?: (() => unknown) | undefined;
}
type EffectsExpectation = NonNullable<Expectation["effects"]>;
/** An expectation whose count of effects may be a function, which is called again while `verify` waits. */
export type CountedExpectation = Omit<Expectation, "effects"> & {
  effects?: Omit<EffectsExpectation, "made"> & {
    made: number | CountEffects;
  };
};
export interface VerifyOptions extends Omit<SandboxVerifyInput, "all"> {
  all: CountedExpectation[];
}
/** The control API, in which a function may stand for a number that only the caller knows. */
export interface SandboxApi extends Omit<ControlApi, "audit" | "verify"> {
  /**
   * Tests a webhook receiver with genuine, repeated, malformed and forged events. With `effects`, it also checks that
   * the receiver acts once on each event, however often and in whatever way it arrives.
   *
   * @example
   * const { verdict } = await sandbox.audit({ url, secret, effects: () => orders.count() });
   */
  audit(given: AuditOptions): Promise<AuditResult>;
  /**
   * Checks expectations on the run, and waits up to `within` for all of them to hold.
   *
   * @example
   * const before = await orders.count();
   * await sandbox.verify({ all: [{ effects: { made: async () => (await orders.count()) - before } }] });
   */
  verify(given: VerifyOptions): Promise<SandboxVerifyReply>;
}
declare const errors: {
  database_damaged: ErrorFacts;
  database_missing: ErrorFacts;
  outage: ErrorFacts;
  sandbox_unavailable: ErrorFacts;
  part_not_built: {
    status: number;
    error: string;
    when: string;
  };
  internal_error: ErrorFacts;
  injected_error: ErrorFacts;
  expectation_failed: {
    status: number;
    error: string;
    when: string;
  };
  idempotency_key_reused: {
    status: number;
    error: string;
    when: string;
  };
  rate_limit_exceeded: {
    status: number;
    error: string;
    when: string;
    documented: boolean;
  };
  injected_rate_limit: {
    status: number;
    error: string;
    when: string;
  };
  headers_too_large: {
    status: number;
    error: string;
    when: string;
  };
  unsupported_media_type: ErrorFacts;
  unsupported_content_encoding: ErrorFacts;
  payload_too_large: {
    status: number;
    error: string;
    when: string;
  };
  uri_too_long: {
    status: number;
    error: string;
    when: string;
  };
  invalid_state: ErrorFacts;
  already_exists: ErrorFacts;
  verification_failed: ErrorFacts;
  idempotency_key_in_use: ErrorFacts;
  method_not_allowed: {
    status: number;
    error: string;
    when: string;
  };
  request_timeout: {
    status: number;
    error: string;
    when: string;
  };
  resource_not_found: ErrorFacts;
  route_not_found: ErrorFacts;
  live_key_refused: ErrorFacts;
  merchant_suspended: ErrorFacts;
  test_merchant_refused: ErrorFacts;
  test_merchant_missing: ErrorFacts;
  host_not_allowed: ErrorFacts;
  origin_not_allowed: ErrorFacts;
  control_token_required: ErrorFacts;
  missing_api_key: ErrorFacts;
  malformed_authorization: ErrorFacts;
  invalid_api_key: ErrorFacts;
  token_expired: ErrorFacts;
  invalid_credentials: ErrorFacts;
  idempotency_key_empty: ErrorFacts;
  idempotency_key_too_long: ErrorFacts;
  idempotency_key_invalid: ErrorFacts;
  invalid_json: ErrorFacts;
  body_not_object: ErrorFacts;
  body_too_deep: ErrorFacts;
  validation_failed: ErrorFacts;
  invalid_limit: ErrorFacts;
  invalid_cursor: ErrorFacts;
  invalid_webhook_url: ErrorFacts;
  webhook_url_not_local: ErrorFacts;
  webhook_url_loopback: ErrorFacts;
  malformed_http: ErrorFacts;
};
interface ErrorFacts {
  status: number;
  /** The category: the only field of an error that the service's document requires. */
  error: string;
  when: string;
  /** True where the service's document states the status; every other row is an assumption. */
  documented?: true;
}
type ErrorCode = keyof typeof errors;
export interface FieldError {
  pointer: string;
  field: string;
  code: string;
  message: string;
}
declare const exitCodes: {
  readonly ok: 0;
  readonly runtime: 1;
  readonly usage: 2;
  readonly verdict: 3;
  readonly inconclusive: 4;
  readonly portInUse: 5;
  readonly badFixture: 6;
  readonly unsupportedNode: 7;
};
type InstallationErrorCode = "unsupported_node" | "addon_not_loaded";
interface SandboxErrorCause {
  code: ErrorCode | InstallationErrorCode | undefined;
  details?: Record<string, unknown>;
}
/** Misuse of the tool: shown as one sentence with the remedy, without a stack, and with its own exit code. */
export declare class SandboxError extends Error {
  readonly exitCode: number;
  /** The code of the control API's error, or why no sandbox can start. */
  readonly code: ErrorCode | InstallationErrorCode | undefined;
  readonly details: Record<string, unknown>;
  constructor(message: string, exit?: keyof typeof exitCodes, cause?: SandboxErrorCause);
}
declare const VALUE: unique symbol;
declare const OPTIONAL: unique symbol;
interface TSchema {
  readonly [VALUE]: unknown;
}
interface TUnsafe<T> extends TSchema {
  readonly [VALUE]: T;
}
type TOptional<S extends TSchema> = S & {
  readonly [OPTIONAL]: true;
};
type TProperties = Record<string, TSchema>;
interface TObject<P extends TProperties> extends TSchema {
  readonly [VALUE]: ValueOf<P>;
  type: "object";
  properties: P;
  required?: string[];
}
type Static<S extends TSchema> = S[typeof VALUE];
type OptionalName<P extends TProperties> = {
  [Name in keyof P]: P[Name] extends {
    [OPTIONAL]: true;
  } ? Name : never;
}[keyof P];
type ValueOf<P extends TProperties> = Flat<{
  [Name in Exclude<keyof P, OptionalName<P>>]: Static<P[Name]>;
} & {
  [Name in OptionalName<P>]?: Static<P[Name]>;
}>;
type Flat<T> = {
  [Name in keyof T]: T[Name];
};
export interface ConnectOptions {
  /** The sandbox's `controlToken`, which it also prints at startup. */
  controlToken?: string | undefined;
}
/**
 * The methods of a sandbox in another process, such as one started with `merchant-sandbox start`. `url` is its address:
 * `http://127.0.0.1:4747`, or with the path below which an app serves it, `http://127.0.0.1:3000/pay`.
 */
export declare function connect(url: string, { controlToken }?: ConnectOptions): SandboxApi;
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
/**
 * Creates a merchant with the records of a fixture, on a sandbox in this process or another. `fixture` is its name or a
 * merchant created from it (default: the first fixture). With a `name`, such as the name of the test, its ids, keys and
 * secrets are the same in every run.
 */
export declare function ownMerchant(sandbox: SandboxApi, { fixture, name }?: {
  fixture?: string | undefined;
  name?: string | undefined;
}): Promise<OwnMerchant>;
interface TraceContext {
  /** 32 hex digits. */
  readonly traceId: string;
  /** 16 hex digits. */
  readonly spanId: string;
  /** Two hex digits. */
  readonly flags: string;
}
interface CallSpan {
  readonly own: TraceContext;
  /** The caller's span; undefined if the trace starts with the call. */
  readonly parent: string | undefined;
}
declare const NewEndpoint: TObject<{
  url: TUnsafe<string>;
  events: TOptional<TUnsafe<string[]>>;
  merchant: TOptional<TUnsafe<string>>;
  secret: TOptional<TUnsafe<string>>;
}>;
type NewEndpoint = Static<typeof NewEndpoint>;
interface RateLimit {
  limit: number;
  /** Milliseconds. */
  window: number;
}
interface MountedRequest {
  url?: string | undefined;
  headers: object;
}
interface MountedResponse {
  headersSent: boolean;
}
interface MountedServer {
  listening: boolean;
  address(): unknown;
}
type Middleware = (request: MountedRequest, response: MountedResponse, next?: (error?: unknown) => void) => void;
interface Connection {
  /** The connection's number, in the order in which the sandbox accepted them. */
  readonly number: number;
  /** Real milliseconds at which the sandbox accepted the connection. */
  readonly opened: number;
  /**
   * Real milliseconds at which the client closed the connection after the last response. Undefined while the connection
   * is open, and if the sandbox closed it first.
   */
  closed?: number;
}
interface RequestEntry {
  sequence: number;
  id: string;
  /** The span of the call; the id of its trace is stored. */
  span: CallSpan | undefined;
  /** Sandbox milliseconds. */
  at: number;
  merchant: string | undefined;
  operation: string | undefined;
  method: string;
  path: string;
  search: string;
  status: number;
  /** The error code. Not stored. */
  errorCode: string | undefined;
  /** Real milliseconds from the request's arrival to the response. */
  duration: number;
  /** Real milliseconds from the request's arrival to the end of each stage: checks, body, validation, operation. */
  stages: readonly number[];
  /** Real milliseconds, because clients measure their timeouts in real time. */
  arrived: number;
  /**
   * Real milliseconds just before the response began or the connection broke, the earliest time when the client can
   * know.
   */
  answered: number;
  /**
   * Sandbox milliseconds when the response began. May differ from `at` on a frozen clock that was advanced meanwhile.
   */
  answeredAt: number;
  /** The same object for all requests of one connection. */
  connection: Connection;
  /** Whether the sandbox had sent nothing on the connection before, not even a response of the control API. */
  isFirst: boolean;
  /** The last characters of the key. */
  key: string | undefined;
  idempotencyKey: string | undefined;
  replayOf: string | undefined;
  /** The fault rules that applied, separated by commas. */
  fault: string | undefined;
  /** The query parameters and headers that had no effect, separated by commas. */
  ignored: string | undefined;
  /** The code and message of an error, or the record that a write returned. */
  summary: string | undefined;
  requestHeaders: Record<string, string | string[] | undefined>;
  requestBody: string;
  responseHeaders: Record<string, string | number>;
  responseBody: string;
}
type RetryScheduleOption = "fast" | "realistic" | number[];
interface Options {
  /** listen on this port; 0 selects any free port (default: 4747) */
  port: number;
  /** listen on this address (default: both loopback addresses) */
  host: string | undefined;
  /** keep all data in this SQLite file (default: .merchant-sandbox/sandbox.db) */
  db: string;
  /** keep all data in memory instead of a file */
  memory: boolean;
  /** load merchants from this folder or file instead of lodge, market, stage and blank */
  fixtures: string | undefined;
  /** load lessons from this folder instead of the built-in ones */
  lessons: string | undefined;
  /** start from this snapshot, which replaces the data in the database */
  snapshot: string | undefined;
  /** generate ids, keys and secrets from this seed (default: 1) */
  seed: number;
  /** freeze the clock at this time, such as 2026-01-05T09:00:00Z (default: real) */
  clock: number | undefined;
  /** change records on their dates, such as payouts that arrive, or leave them as they are (default: on) */
  life: "on" | "off";
  /** reject body fields of an unexpected shape, or keep them as sent (default: checked) */
  bodies: "checked" | "open";
  /** let a call act as the test's merchant that its `baggage` header names; strict requires one (default: off) */
  isolation: "off" | "on" | "strict";
  /** limit requests per merchant: 10/10s, none, or OPERATION=5/1m for one (default: 6000/60s) */
  rateLimit: Record<string, RateLimit>;
  /** set an assumption, such as bookings.decline.status=202; `assumptions` lists those that can be set */
  assumptions: AssumptionValues;
  /** arm the fault rules of this JSON file at start and after each reset */
  faults: string | undefined;
  /** arm this scenario, such as lost-response, at start and after each reset */
  scenario: string[];
  /** retry fast (after 1 5 15 30 60 s), realistic (over a day) or with own gaps: 1s,10s,1m (default: fast) */
  retrySchedule: RetryScheduleOption | undefined;
  /** limit the total time for a webhook response (default: 10s) */
  webhookTimeout: number | undefined;
  /** accept self-signed certificates of https receivers */
  webhookInsecureTls: boolean;
  /** allow deliveries to this host too, such as host.docker.internal */
  allowWebhookHost: string[];
  /** deliver to services on this machine's loopback even if --host opens the network */
  allowLoopbackWebhooks: boolean;
  /** send deliveries with the `traceparent` of the call that caused them */
  traceDeliveries: boolean;
  /** accept requests for this host name too; NAME:PORT for one port */
  allowedHost: string[];
  /** accept requests from web pages of this origin */
  allowedOrigin: string[];
  /** register this webhook endpoint of the first merchant, for all events, at start and after each reset */
  endpoints: NewEndpoint[];
  /** sign deliveries to the given endpoints with this secret, such as whsec_local (default: generated) */
  webhookSecret: string | undefined;
  /** require this token on the control API (default: generated if --host opens the network) */
  controlToken: string | undefined;
  /** send the webhooks of a database, a snapshot and a merchant-sandbox.json that were not written here */
  trust: boolean;
}
type OptionName = keyof Options;
type GivenOptions = {
  [Name in OptionName]?: Options[Name] | string | string[] | undefined;
};
/** An internal error of the sandbox. */
export interface Defect {
  error: unknown;
  /** The id of the request that caused it, or the part of the sandbox that failed. */
  where: string;
}
/** A running sandbox: its address, its listeners, and a method for each operation of the control API. */
export interface Sandbox extends SandboxApi {
  /**
   * The address of the sandbox, such as `http://127.0.0.1:4747`. With `listen: false`, the address at which the app has
   * mounted the sandbox, such as `http://localhost:3000/pay`; empty until a request has arrived or a server is
   * attached.
   */
  readonly url: string;
  /** The base URL for a client of the service: `url` followed by `/v1`. */
  readonly baseUrl: string;
  /** The port that the sandbox listens on. With `listen: false`, the port of the app's server. */
  readonly port: number;
  /** The SQLite file; undefined when everything is in memory. */
  readonly file: string | undefined;
  /** The token that the control API requires over HTTP; undefined when it requires none, as on loopback. */
  readonly controlToken: string | undefined;
  /** Adds a listener that is called after each response of the service. */
  onRequest(listener: (entry: RequestEntry) => void): void;
  /**
   * Adds a listener for every event: requests, delivery attempts, verdicts, faults that fire, lessons, clock changes
   * and resets.
   */
  onLiveEvent(listener: (event: LiveEvent) => void): void;
  /** Adds a listener for internal errors of the sandbox. */
  onDefect(listener: (defect: Defect) => void): void;
  /**
   * Serves /v1 and /_sandbox inside an app: `app.use(sandbox.middleware)` in Express, connect or Fastify with
   * `@fastify/middie`, or `createServer(sandbox.middleware)`. Calls `next` for every other path. Needs a sandbox that
   * was created with `listen: false`.
   *
   * @example
   * const sandbox = await createSandbox({ listen: false });
   * express().use("/pay", sandbox.middleware).listen(3000); // http://localhost:3000/pay/v1/payments
   */
  readonly middleware: Middleware;
  /**
   * Serves the live stream, which the dashboard reads, on the server of the app. `path` is where the app has mounted
   * the sandbox (default: at the root).
   */
  attach(server: MountedServer, path?: string): void;
  /** Waits for requests and deliveries in flight, then closes the port and the file. An app's server stays as it is. */
  close(): Promise<void>;
  /** The same as `close`, for `await using`. */
  [Symbol.asyncDispose](): Promise<void>;
}
/** The options of `createSandbox()`. */
export interface SandboxOptions extends GivenOptions {
  /** Whether to listen on a port of its own (default: true). With false, an app serves the sandbox's `middleware`. */
  listen?: boolean | undefined;
}
export declare function createSandbox(given?: SandboxOptions): Promise<Sandbox>;
/** A sandbox in this process or another. */
export type SharedSandbox = ControlApi & Pick<Sandbox, "url" | "baseUrl" | "close">;
/** A test gets this from the fixtures for Vitest and Playwright, and from `withMerchant`. */
export interface TestFixtures<Shared extends SharedSandbox = SharedSandbox> {
  /**
   * The sandbox at MERCHANT_SANDBOX_URL, which `exec` sets. Without it, one sandbox for all tests of this process.
   * Changes beyond `merchant`, such as to the clock, affect all tests that share it.
   */
  sandbox: Shared;
  /**
   * A merchant with fixture data for this test only, removed after it. It is named after the test, so its ids, keys and
   * faults are the same in every run.
   */
  merchant: OwnMerchant;
}
/** The sandbox that MERCHANT_SANDBOX_URL names, or a new one in memory. `close` closes only a new one. */
export declare function openSharedSandbox(): Promise<SharedSandbox>;
/**
 * Creates a merchant for a test, from the fixture of the app's own merchant, so that the app can also act as the new
 * one. The app's own merchant is the one whose key is MERCHANT_API_KEY (default: the merchant of the first fixture).
 */
export declare function createTestMerchant(sandbox: ControlApi, name: string | undefined): Promise<OwnMerchant>;
/**
 * Gives a test of any runner, such as Jest or node:test, a sandbox and a merchant of its own. Removes the merchant
 * after the test.
 *
 * @example
 * test("declines a booking", withMerchant(async ({ merchant }) => { … }));
 */
export declare function withMerchant<Given extends unknown[]>(run: (fixtures: TestFixtures, ...given: Given) => unknown): (...given: Given) => Promise<void>;
type Body = string | Uint8Array;
interface Signed {
  /** The body exactly as it was received: bytes, or their text, before any parsing. */
  body: Body;
  /** The value of `X-Webhook-Signature`. */
  signature: string | undefined;
  /** The secret of the endpoint, as it was shown when the endpoint was created. */
  secret: string;
  /** The assumptions of the sandbox, if they set the form of the signature. */
  assumptions?: AssumptionValues;
  /** The value of `X-Webhook-Id`, for forms of the signature that cover the id too. */
  id?: string | undefined;
}
/** Whether a delivery was signed with the secret. Compares in constant time. */
export declare function verifySignature({ body, signature, secret, assumptions, id }: Signed): boolean;

export {};
