// The control plane as a program sees it. Written from the declarations by `npm run docs`: change those, not this.

/** Everything that steers a sandbox. */
export interface ControlPlane {
  /** What this sandbox is. Version, address, merchants with their keys, and where to go from here. */
  index(): Promise<SandboxIndexReply>;
  /** Whether the sandbox is ready. Answers 200 only when the world is seeded and the sandbox listens; until then nothing answers at all. */
  health(): Promise<SandboxHealthReply>;
  /** The operations and events of the service, and how often each was called, sent and taken. */
  operations(): Promise<SandboxOperationsReply>;
  /** The service as an OpenAPI 3.1 document. */
  openapi(): Promise<Record<string, unknown>>;
  /** The control plane as an OpenAPI 3.1 document. */
  controlOpenapi(): Promise<Record<string, unknown>>;
  /** Everything the sandbox assumes where the service's document is silent. */
  assumptions(): Promise<Record<string, unknown>>;
  /** Wait until nothing is due and nothing is in flight. So that a test never sleeps. Retries that are due later do not hold it up; `pending` counts them. */
  drain(given?: SandboxDrainInput): Promise<SandboxDrainReply>;
  /** Hold a run against what is expected of it, and wait for it if need be. Answers as soon as everything holds at one moment, or nothing can change any more, or `within` is over. Looks at everything since the last reset. */
  verify(given: SandboxVerifyInput): Promise<SandboxVerifyReply>;
  /** The run so far: coverage, verdicts, requests and deliveries. `json` is the whole as data, `har` the traffic as HAR 1.2, `junit` a case for each verdict and each operation, `markdown` a page for a job, `html` one file to look at. Secrets are masked in all of them. */
  report(given: SandboxReportInput & { format: "junit" | "markdown" | "html" }): Promise<string>;
  /** The run so far: coverage, verdicts, requests and deliveries. `json` is the whole as data, `har` the traffic as HAR 1.2, `junit` a case for each verdict and each operation, `markdown` a page for a job, `html` one file to look at. Secrets are masked in all of them. */
  report(given?: SandboxReportInput): Promise<Record<string, unknown>>;
  /** Try a webhook receiver with everything that it may meet, forgeries among it. Sends some 220 made-up payment events to the receiver, which takes a few seconds. They belong to no merchant, are not logged as deliveries and are not retried. */
  audit(given: SandboxAuditInput): Promise<SandboxAuditReply>;
  /** Back to the fixtures, ids and all. Everything, or one merchant. Records, keys, endpoints, events, deliveries, remembered answers, windows and journal start afresh. */
  reset(given?: SandboxResetInput): Promise<SandboxResetReply>;
  readonly requests: {
    /** Requests, newest first. The journal keeps the newest 10,000 requests. Nothing under /_sandbox is in it. */
    list(given?: RequestsListInput): Promise<RequestsListReply>;
    /** One request, whole: headers and bodies both ways, and the events it made. */
    get(given: { id: string }): Promise<RequestDetail>;
  };
  readonly events: {
    /** Events of every merchant, newest first. The log keeps the newest 10,000, and all that is pending. */
    list(given?: EventsListInput): Promise<EventsListReply>;
    /** Deliver an event again to every endpoint that wants its type. */
    replay(given: { id: string }): Promise<EventsReplayReply>;
  };
  readonly attempts: {
    /** Delivery attempts of every merchant, newest first. The log keeps the newest 10,000, and all that is pending. */
    list(given?: AttemptsListInput): Promise<AttemptsListReply>;
    /** One attempt, and every other of the same event to the same endpoint. */
    get(given: { id: string }): Promise<AttemptsGetReply>;
    /** Deliver again to the endpoint of an attempt. The same event and the same bytes, to the endpoint's present address, signed with its present secret. One attempt, no retries. */
    replay(given: { id: string }): Promise<AttemptsReplayReply>;
  };
  readonly verdicts: {
    /** What the judge found in how clients retry and how receivers take webhooks. The judge is always on and never in the way. A 429, a 503, a lost answer or another failure that passes opens a question; the same call sent again answers it. Times are real ones, whatever the sandbox clock says. The newest 1,000 of each verdict are kept. */
    list(given?: VerdictsListInput): Promise<VerdictsListReply>;
    /** Forget every verdict and everything that is open. */
    clear(): Promise<VerdictsClearReply>;
  };
  readonly endpoints: {
    /** Put an endpoint that was disabled by a 410 back into service. */
    enable(given: { id: string }): Promise<EndpointsEnableReply>;
  };
  readonly signature: {
    /** Why a signature does not match: which mistake would have made it. */
    explain(given: SignatureExplainInput): Promise<SignatureExplainReply>;
  };
  readonly clock: {
    /** What time the sandbox believes it is. */
    get(): Promise<Clock>;
    /** Freeze the clock, move it, or let it run. */
    set(given: ClockSetInput): Promise<Clock>;
    /** Play a span of time: everything due in it happens, in order, before this answers. */
    advance(given: ClockAdvanceInput): Promise<ClockAdvanceReply>;
  };
  readonly faults: {
    /** Every fault rule, in the order in which they are tried, and what each has done. */
    list(given?: FaultsListInput): Promise<FaultsListReply>;
    /** Arm a fault rule. The first rule that fires wins at each point of a call's way; latency comes on top of anything. What is left out means: every call, the next time, until a reset. */
    add(given: FaultsAddInput): Promise<FaultRule>;
    /** The JSON Schema of a fault rule. */
    schema(): Promise<Record<string, unknown>>;
    /** One fault rule, and what it has done. */
    get(given: { id: string }): Promise<FaultRule>;
    /** Change a fault rule. Each field that is given replaces the one there is. A new trigger, or a new ttl, begins to count afresh. */
    change(given: FaultsChangeInput): Promise<FaultRule>;
    /** Remove a fault rule; the answer says what it did in its life. */
    remove(given: { id: string }): Promise<FaultRule>;
    /** Remove every fault rule, or those of one merchant. */
    clear(given?: FaultsClearInput): Promise<FaultsClearReply>;
  };
  readonly scenarios: {
    /** Every scenario, and how those that are armed stand. */
    list(): Promise<ScenariosListReply>;
    /** The JSON Schema of a scenario's file. */
    schema(): Promise<Record<string, unknown>>;
    /** How a scenario stands: its faults, each expectation with what the judge found, points and verdict. */
    get(given: ScenariosGetInput): Promise<Scenario>;
    /** Arm a scenario, for one merchant or for everybody. Its faults strike from then on, and the judge's verdicts that they bring out are counted for it. One that is armed begins afresh; a reset disarms it. */
    start(given: ScenariosStartInput): Promise<Scenario>;
    /** Disarm a scenario; the answer says what it came to. */
    stop(given: ScenariosStopInput): Promise<Scenario>;
  };
  readonly rateLimits: {
    /** The rate-limit windows of every merchant. */
    list(): Promise<RateLimitsListReply>;
    /** Put a merchant's rate-limit window where a test wants it. Limit and window hold until a reset; what remains and when it ends hold for the present window only. */
    set(given: RateLimitsSetInput): Promise<RateWindow>;
  };
  readonly records: {
    /** Bring a record into being. Takes the kind's own fields beside `merchant`; what is left out has its default. The event of its creation is sent. */
    create(given: RecordsCreateInput): Promise<Record<string, unknown>>;
    /** Change a record, or move its state. `status` follows the kind's moves and sends the event of the state that is reached; other fields are set as they are. */
    change(given: RecordsChangeInput): Promise<Record<string, unknown>>;
  };
  readonly traffic: {
    /** Let plausible business go on by itself. Payments succeed, payouts are paid, bookings arrive and are confirmed or declined, in sandbox time: while the clock stands still nothing happens, and advancing it plays the span. The same seed and the same start make the same records. It touches only what it made itself. A merchant has one; another replaces it; a reset ends it, and so does the end of the sandbox. */
    start(given?: TrafficStartInput): Promise<Traffic>;
    /** The traffic of each merchant, and what came of it. */
    list(): Promise<TrafficListReply>;
    /** End what runs, of every merchant or of one. */
    stop(given?: TrafficStopInput): Promise<TrafficStopReply>;
  };
  readonly lessons: {
    /** Every lesson, as it is written. */
    list(): Promise<LessonsListReply>;
    /** A lesson, its commands ready to be run by one learner. */
    get(given: LessonsGetInput): Promise<Lesson>;
    /** The board as a page that keeps itself up to date. One file without anything from elsewhere. In a room, open it at the room's address: there it needs no control token. */
    board(given: LessonsBoardInput & { format: "json" }): Promise<Board>;
    /** The board as a page that keeps itself up to date. One file without anything from elsewhere. In a room, open it at the room's address: there it needs no control token. */
    board(given?: LessonsBoardInput): Promise<string>;
  };
  readonly learners: {
    /** The board: who is at which step, since when, and what ticked. */
    list(): Promise<LearnersListReply>;
    /** Let somebody learn, with a merchant of its own. A name gets a new merchant with everything that the first fixture has. Without a name it is the first merchant itself, and whoever learns with it already goes on. */
    join(given?: LearnersJoinInput): Promise<LearnersJoinReply>;
    /** How one learner stands. */
    get(given: { id: string }): Promise<Learner>;
    /** Begin a lesson, afresh or at one of its steps. */
    begin(given: LearnersBeginInput): Promise<Learner>;
    /** Leave a step behind as if it had been done. What the step would have left is brought about, so that those after it can be done. */
    skip(given: { id: string }): Promise<Learner>;
    /** Show the next hint of a step, or the last one again. */
    hint(given: { id: string }): Promise<Learner>;
    /** Forget a learner and all progress; the merchant stays. */
    remove(given: { id: string }): Promise<Learner>;
  };
  readonly room: {
    /** Open the room of a workshop, or show the one that is open. Attendees need no control token in it: who knows its address can join under a name, gets a merchant and a first step, and can steer nothing but its own lessons. */
    open(): Promise<Room>;
    /** Close the room; who learns goes on, and nobody else can join. */
    close(): Promise<RoomCloseReply>;
    /** The board, for everybody in the room: no keys. */
    board(given: { room: string }): Promise<RoomBoardReply>;
    /** The same page, for whoever knows the room. */
    boardPage(given: RoomBoardPageInput & { format: "json" }): Promise<Board>;
    /** The same page, for whoever knows the room. */
    boardPage(given: RoomBoardPageInput): Promise<string>;
    /** A page by which a browser joins the room, and reads the steps. */
    door(given: RoomDoorInput & { format: "json" }): Promise<Room>;
    /** A page by which a browser joins the room, and reads the steps. */
    door(given: RoomDoorInput): Promise<string>;
    /** Join the room under a name: a merchant, its key, and the first step. */
    join(given: RoomJoinInput & { format: "text" }): Promise<string>;
    /** Join the room under a name: a merchant, its key, and the first step. */
    join(given: RoomJoinInput): Promise<Place>;
    /** Where the learner with this key is: lesson, step and what to run. */
    place(given: RoomPlaceInput & { format: "text" }): Promise<string>;
    /** Where the learner with this key is: lesson, step and what to run. */
    place(given: RoomPlaceInput): Promise<Place>;
    /** The file that the learner's lesson works on, as it is at the start. */
    file(given: RoomFileInput & { format: "text" }): Promise<string>;
    /** The file that the learner's lesson works on, as it is at the start. */
    file(given: RoomFileInput): Promise<RoomFileReply>;
    /** A hint for the learner with this key. */
    hint(given: RoomHintInput & { format: "text" }): Promise<string>;
    /** A hint for the learner with this key. */
    hint(given: RoomHintInput): Promise<Place>;
    /** Leave out the step that the learner with this key is at. */
    skip(given: RoomSkipInput & { format: "text" }): Promise<string>;
    /** Leave out the step that the learner with this key is at. */
    skip(given: RoomSkipInput): Promise<Place>;
    /** Begin a lesson, for the learner with this key. */
    begin(given: RoomBeginInput & { format: "text" }): Promise<string>;
    /** Begin a lesson, for the learner with this key. */
    begin(given: RoomBeginInput): Promise<Place>;
  };
  readonly merchants: {
    /** The merchants there are, and their API keys. */
    list(): Promise<MerchantsListReply>;
    /** A new merchant with everything that a fixture has. Its records have the fixture's ids, and nobody else sees them: each test can have its own, all at once. */
    mint(given?: MerchantsMintInput): Promise<MerchantsMintReply>;
    /** Remove a merchant with everything it has. */
    remove(given: { id: string }): Promise<MerchantsRemoveReply>;
  };
  readonly snapshots: {
    /** The snapshots there are. */
    list(): Promise<SnapshotsListReply>;
    /** Save the state under a name; an earlier one of this name is replaced. */
    save(given: { name: string }): Promise<Snapshot>;
    /** Go back to a snapshot. Records, events, deliveries, keys and remembered answers are as they were; windows start afresh, the journal and the clock go on. */
    restore(given: { name: string }): Promise<SnapshotsRestoreReply>;
    /** Delete a snapshot. */
    remove(given: { name: string }): Promise<SnapshotsRemoveReply>;
  };
}

export interface AttemptsGetReply {
  attempt: LoggedAttempt;
  attempts: LoggedAttempt[];
}

export interface AttemptsListInput {
  /** Only of this merchant */
  merchant?: string;
  /** Only of this event */
  eventId?: string;
  /** Only to this endpoint */
  endpointId?: string;
  /** Only of events of this type */
  type?: string;
  /** Only those that ended so */
  status?: "succeeded" | "failed" | "aborted";
  /** How many records to answer */
  limit?: number;
  /** Id of a record: answer those that follow it (older) */
  starting_after?: string;
  /** Id of a record: answer those that precede it (newer) */
  ending_before?: string;
}

export interface AttemptsListReply {
  /** Always `list` */
  object: "list";
  /** Newest first */
  data: LoggedAttempt[];
  /** True when more records exist beyond this answer, in the direction asked for */
  has_more: boolean;
}

export interface AttemptsReplayReply {
  eventId: string;
  /** The ids under which the attempts will be logged */
  deliveries: string[];
}

export interface Board {
  /** Always `list` */
  object: "list";
  /** Where attendees join; null where no room is open */
  url: string | null;
  /** In the order in which they joined; without hints, which may have keys in them */
  data: Learner[];
}

export interface Clock {
  /** `real` runs with the machine, `frozen` stands, `offset` runs from another time */
  mode: "real" | "frozen" | "offset";
  /** Sandbox time, RFC 3339 */
  now: string;
  /** The same in Unix seconds, as `created` shows it */
  unix: number;
}

export interface ClockAdvanceInput {
  /** A span such as 30s, 5m, 24h */
  by: string;
}

export interface ClockAdvanceReply {
  /** `real` runs with the machine, `frozen` stands, `offset` runs from another time */
  mode: "real" | "frozen" | "offset";
  /** Sandbox time, RFC 3339 */
  now: string;
  /** The same in Unix seconds, as `created` shows it */
  unix: number;
  /** The delivery attempts that ended in this span, in order */
  attempts: PlayedAttempt[];
  /** How many answers remembered for an Idempotency-Key were forgotten */
  forgotten: number;
}

export interface ClockSetInput {
  /** `frozen` and `offset` start from `now`, or from the present sandbox time */
  mode: "real" | "frozen" | "offset";
  /** A time such as 2026-01-05T09:00:00Z; not with `real` */
  now?: string;
}

/** The value itself, or operators such as {gte: 100} that must all hold */
export type Condition = string | number | boolean | null | {
  /** Whether it is there at all */
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
  /** One of these */
  in?: (string | number | boolean | null)[];
  /** Text that has this in it */
  contains?: string;
  /** Text that begins with this */
  startsWith?: string;
};

/** How often: exactly, at_least and at_most, all of which must hold */
export interface Count {
  exactly?: number;
  at_least?: number;
  at_most?: number;
}

export interface DeliveryFault {
  /** The rule, or the first of several */
  id: string;
  name: string | null;
  /** What each rule did */
  effects: unknown[];
  /** Counts what a rule made of one delivery; 0 for that one */
  copy: number;
  wouldHaveSent: {
    headers: Record<string, string>;
    body: string;
  };
}

/** What a delivery must be like; all of it */
export interface DeliveryMatch {
  /** Types of events, such as payment.succeeded; payment.* stands for all of a kind; or the id of one */
  event?: string | string[];
  /** Id of the endpoint, or its address */
  endpoint?: string;
  /** Id of the merchant whose event it is */
  merchant?: string;
}

export interface EndpointsEnableReply {
  enabled: string;
}

export interface EventsListInput {
  /** Only of this merchant */
  merchant?: string;
  /** Only of this type */
  type?: string;
  /** How many records to answer */
  limit?: number;
  /** Id of a record: answer those that follow it (older) */
  starting_after?: string;
  /** Id of a record: answer those that precede it (newer) */
  ending_before?: string;
}

export interface EventsListReply {
  /** Always `list` */
  object: "list";
  /** Newest first */
  data: LoggedEvent[];
  /** True when more records exist beyond this answer, in the direction asked for */
  has_more: boolean;
}

export interface EventsReplayReply {
  eventId: string;
  /** The ids under which the attempts will be logged */
  deliveries: string[];
}

/** One thing that is expected */
export interface Expectation {
  /** So many requests like this */
  requests?: {
    /** What a request must be like; all of it */
    match: RequestMatch;
    /** How often: exactly, at_least and at_most, all of which must hold */
    count?: Count;
  };
  /** Requests like these, in this order, whatever came between them */
  sequence?: RequestMatch[];
  /** No request like this */
  never?: {
    /** What a request must be like; all of it */
    match: RequestMatch;
    /** How much longer none may come, such as 500ms or 5s, in real time */
    for?: string;
  };
  /** So many deliveries like this: one is one event to one endpoint, with all its attempts */
  deliveries?: {
    /** What a delivery must be like; all of it */
    match: DeliveryMatch;
    /** How often: exactly, at_least and at_most, all of which must hold */
    count?: Count;
    /** How often: exactly, at_least and at_most, all of which must hold */
    attempts?: Count;
    /** What each of them must have come to */
    final?: "pending" | "sending" | "succeeded" | "failed" | "cancelled";
  };
  /** So many records like this */
  records?: {
    /** The kind of record, such as remittance */
    kind: string;
    /** Values of the record by JSON Pointer */
    where?: Record<string, Condition>;
    /** How often: exactly, at_least and at_most, all of which must hold */
    count?: Count;
  };
  /** So many verdicts of the judge; none that failed unless something else is said */
  verdicts?: {
    rules: string[];
    /** How often: exactly, at_least and at_most, all of which must hold */
    pass?: Count;
    /** How often: exactly, at_least and at_most, all of which must hold */
    fail?: Count;
    /** How often: exactly, at_least and at_most, all of which must hold */
    inconclusive?: Count;
  };
  /** That a scenario came to pass, or that it has so many points */
  scenario?: {
    /** Name of a scenario that is armed */
    name: string;
    /** For whom it is armed; need not be said where it is armed once */
    merchant?: string;
    /** How often: exactly, at_least and at_most, all of which must hold */
    score?: Count;
  };
  /** That a fault rule fired */
  fault?: {
    /** Id of a fault rule */
    id: string;
    /** How often: exactly, at_least and at_most, all of which must hold */
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
  /** Sends a 429 as if the rate limit were exceeded, or uses up the merchant's real rate-limit window. */
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
  distribution?: "fixed" | "uniform" | "lognormal" | "ramp";
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
  /** ramp: the first delay, such as 600ms, 30s or 24h */
  from?: string;
  /** ramp: the last delay, when the rule's `times` or `for` is used up, such as 600ms, 30s or 24h */
  to?: string;
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
  /** Corrupts the response body. The operation still takes effect. */
  type: "body";
  /** How it is corrupted (default: `truncate`) */
  as?: "truncate" | "invalid_json" | "html" | "wrong_content_type" | "drip";
  /** How fast `drip` sends (default: 100) */
  bytesPerSecond?: number;
} | {
  /** Takes the whole service down, for every operation and every key, before anything else is checked. */
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
  /** Answers reads from the records of a while ago, like a replica that lags behind. */
  type: "stale_read";
  /** How far back, in sandbox time; never further than to when the rule was added, such as 600ms, 30s or 24h */
  lag: string;
} | {
  /** Sets the service's clock wrong: in Date, in RateLimit-Reset, and in the timestamps of what the call creates. */
  type: "clock_skew";
  /** How far it is ahead, such as 5m; behind with a minus, such as -5m */
  by: string;
} | {
  /** Delivers an event more than once, with the same id and the same bytes. */
  type: "duplicate";
  /** How many arrive in all (default: 2) */
  copies?: number;
  /** How long after one the next is sent, such as 600ms, 30s or 24h (default: at once) */
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
  /** `before_response`, or {after: TYPE}: once an event of that type is delivered, or after a day */
  until?: "before_response" | {
    /** A type of event, such as payout.paid */
    after: string;
  };
} | {
  /** Does not send an attempt, and logs it as dropped. The next one follows on the usual schedule. */
  type: "drop";
  /** How many attempts of a delivery, or `all` (default: 1) */
  attempts?: number | "all";
} | {
  /** Sends a delivery with a wrong signature. */
  type: "signature";
  /** What is wrong with it (default: `wrong_secret`) */
  as?: "missing" | "wrong_secret" | "previous_secret" | "body_changed" | "malformed";
} | {
  /** Changes the event, and signs it as changed. */
  type: "payload";
  /** What is changed (default: `extra_field`, or `patch` if one is given) */
  as?: "patch" | "truncate" | "unknown_type" | "extra_field" | "invalid_json";
  /** JSON Pointers into the event, each with its new value */
  patch?: Record<string, unknown>;
} | {
  /** Sends a delivery slowly, with a wrong Content-Type, or only half of it. */
  type: "transport";
  /** How it is sent (default: `slow_send`) */
  as?: "slow_send" | "wrong_content_type" | "abort_mid_body";
} | {
  /** Retries a delivery that succeeded, gives up after a failure, or retries faster than scheduled. */
  type: "retry_policy";
  /** What it does (default: `ignore_2xx`) */
  as?: "ignore_2xx" | "give_up" | "compress";
  /** By how much `compress` shortens the gaps (default: 10) */
  factor?: number;
};

export interface FaultMatch {
  /** Ids of operations such as payments.list; payroll.* matches a whole area */
  operation?: string | string[];
  /** Only calls with this API key */
  key?: string;
  /** Names of headers, each with a value or a comparison */
  header?: Record<string, Condition>;
  /** Only this merchant, such as mer_lodge */
  merchant?: string;
  /** JSON Pointers into the body, each with a value or a comparison */
  body?: Record<string, Condition>;
  /** Event types such as payment.succeeded; payment.* matches all of a kind */
  event?: string | string[];
  /** Only deliveries to this endpoint */
  endpoint?: string;
  /** Which attempt; the first is 1 */
  attempt?: number | Condition;
  /** Only deliveries to an endpoint whose secret was rotated within this time, in sandbox time, such as 600ms, 30s or 24h */
  rotatedWithin?: string;
}

export interface FaultRule {
  id: string;
  name: string | null;
  /** What it acts on */
  target: "api" | "delivery";
  match: Record<string, unknown>;
  trigger: Record<string, unknown>;
  action: Record<string, unknown>;
  /** The judge's rules that it tries */
  expect: string[];
  ttl: string | null;
  /** Rules with a higher one are tried first */
  priority: number;
  label: boolean;
  enabled: boolean;
  /** `spent` when it has fired as often as it may, `expired` when its time is over */
  status: "armed" | "spent" | "expired" | "removed";
  /** How many calls or attempts it matched */
  seen: number;
  fired: number;
  /** How often it may still fire; null where no number bounds that */
  remaining: number | null;
  lastFiredAt: string | null;
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
  /** How likely a match fires */
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
  /** A name for machines, such as flt_lost_payment; made up unless given */
  id?: string;
  /** A name for people */
  name?: string;
  /** `api` or `delivery`; follows from the action */
  target?: string;
  match?: FaultMatch;
  /** Which matches fire (default: the next one) */
  trigger?: FaultTrigger;
  expect?: string[];
  /** How long it lives, such as 10m */
  ttl?: string;
  /** Rules with a higher one are tried first, equal ones as they came; 0 unless given */
  priority?: number;
  /** Whether answers say in X-Sandbox-Fault which rule touched them */
  label?: boolean;
  enabled?: boolean;
  action: FaultAction;
}

export interface FaultsChangeInput {
  id: string;
  /** A name for people */
  name?: string;
  /** `api` or `delivery`; follows from the action */
  target?: string;
  match?: FaultMatch;
  /** Which matches fire (default: the next one) */
  trigger?: FaultTrigger;
  expect?: string[];
  /** How long it lives, such as 10m */
  ttl?: string;
  /** Rules with a higher one are tried first, equal ones as they came; 0 unless given */
  priority?: number;
  /** Whether answers say in X-Sandbox-Fault which rule touched them */
  label?: boolean;
  enabled?: boolean;
  action?: FaultAction;
}

export interface FaultsClearInput {
  /** Only rules that can touch nobody else */
  merchant?: string;
}

export interface FaultsClearReply {
  removed: number;
}

export interface FaultsListInput {
  /** Only those that stand so */
  status?: "armed" | "spent" | "expired";
}

export interface FaultsListReply {
  /** Always `list` */
  object: "list";
  data: FaultRule[];
}

export interface JudgedRule {
  id: string;
  /** How bad a failure is */
  severity: "error" | "warning";
  demands: string;
  hint: string;
  pass: number;
  fail: number;
  inconclusive: number;
}

export interface Learner {
  /** The merchant that the learner works with */
  id: string;
  name: string;
  /** Null before the first */
  lesson: string | null;
  /** The lesson's */
  title: string | null;
  /** Null when the lesson is over */
  step: number | null;
  stepTitle: string | null;
  /** How many the lesson has */
  steps: number;
  /** How many of them ticked */
  ticked: number;
  /** How many of this step's were shown */
  hints: number;
  /** The newest of them, as Markdown; null where none was */
  hint: string | null;
  /** Sandbox time at which the step began */
  since: string;
  /** Real milliseconds at the step */
  elapsed: number;
  /** The lesson after this one; null after the last */
  next: string | null;
  /** The steps left behind, of every lesson, oldest first */
  left: LeftStep[];
  /** How many news there were of this learner in this run */
  version: number;
}

export interface LearnersBeginInput {
  id: string;
  /** Which lesson, by its name or its number */
  name: string;
  /** Begin at this step, with what those before would have left */
  checkpoint?: number;
}

export interface LearnersJoinInput {
  /** What the learner is called; no two are called the same */
  name?: string;
  /** A merchant that there is, instead of a new one */
  merchant?: string;
  /** How long at a step until a hint is shown unasked, in real time; 90s unless given, 0s for never */
  hintAfter?: string;
}

export interface LearnersJoinReply {
  learner: Learner;
  apiKey: string;
  baseUrl: string;
}

export interface LearnersListReply {
  /** Always `list` */
  object: "list";
  /** In the order in which they joined */
  data: Learner[];
}

export interface LeftStep {
  lesson: string;
  step: number;
  /** `prepared` where a checkpoint came after it */
  how: "ticked" | "skipped" | "prepared";
  /** How many had been shown */
  hints: number;
  /** Sandbox time */
  at: string;
}

export interface Lesson {
  name: string;
  number: number;
  title: string;
  /** Its opening, as Markdown */
  about: string;
  steps: LessonStep[];
  /** The file that the learner works on; null where the lesson has none */
  file: LessonFile | null;
}

export interface LessonBlock {
  /** `prose` for Markdown, else the language of a fenced block: `sh` is run */
  kind: string;
  text: string;
}

export interface LessonFile {
  name: string;
  start: string;
  solution: string;
}

export interface LessonStep {
  number: number;
  title: string;
  /** In the order in which they are read */
  blocks: LessonBlock[];
  /** What is to be run; null where there is nothing to run */
  command: string | null;
  /** How many there are */
  hints: number;
  /** Whether the lesson's file is brought to its solution here */
  mends: boolean;
}

export interface LessonsBoardInput {
  /** `json` for the data; a page unless given */
  format?: "html" | "json";
}

export interface LessonsGetInput {
  name: string;
  /** Whose address, key and merchant stand in the commands; as they are written unless given */
  learner?: string;
}

export interface LessonsListReply {
  /** Always `list` */
  object: "list";
  data: Lesson[];
}

export interface LoggedAttempt {
  id: string;
  merchantId: string;
  /** What fault rules did to it; null when they did nothing */
  fault: DeliveryFault | null;
  [field: string]: unknown;
}

export interface LoggedEvent {
  id: string;
  merchant: string;
  type: string;
  /** Sandbox time */
  created: string;
  /** The request that made it */
  request: string | null;
  /** What every delivery of it carries */
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
  /** Sandbox time of arrival */
  at: string;
  method: string;
  path: string;
  query: string;
  operation: string | null;
  merchant: string | null;
  status: number;
  /** Real milliseconds from arrival to answer */
  durationMs: number;
  /** The last characters of the API key */
  key: string | null;
  idempotencyKey: string | null;
  /** The request whose answer this one repeated */
  replayOf: string | null;
  /** The fault rules that touched it, parted by commas */
  fault: string | null;
}

export interface Merchant {
  id: string;
  name: string | null;
  email: string | null;
  apiKeys: string[];
}

export interface MerchantsListReply {
  /** Always `list` */
  object: "list";
  data: Merchant[];
}

export interface MerchantsMintInput {
  /** Which fixture; lodge unless given */
  fixture?: string;
}

export interface MerchantsMintReply {
  merchant: string;
  apiKey: string;
}

export interface MerchantsRemoveReply {
  removed: string;
}

export interface NearMiss {
  id: string;
  /** What it is, in a few words */
  what: string;
  /** Where it is not what was wanted */
  differs: ({
    field: string;
    wanted: unknown;
    received: unknown;
  })[];
}

export interface Place {
  learner: Learner;
  /** The learner's own key, which is also the way back in */
  apiKey: string;
  baseUrl: string;
  /** The learner's own place in the room */
  url: string;
  /** Ready to be run; null before the first one */
  lesson: Lesson | null;
}

export interface PlayedAttempt {
  /** Under which GET /_sandbox/deliveries/{id} tells the rest */
  id: string;
  /** Sandbox time at which it ended */
  at: string;
  merchant: string;
  eventId: string;
  eventType: string;
  endpointId: string;
  attempt: number;
  status: string;
  responseStatus: number | null;
  errorCode: string | null;
  /** Unix seconds; null when there is no next attempt */
  nextAttemptAt: number | null;
}

export interface Probe {
  probe: string;
  /** `inconclusive` where the receiver refuses genuine events too, or is not there */
  verdict: "pass" | "fail" | "inconclusive";
  sent: string;
  /** What the receiver did */
  did: string;
  /** What it should have done */
  should: string;
  why: string;
}

export interface RateLimitsListReply {
  data: RateWindow[];
}

export interface RateLimitsSetInput {
  merchant: string;
  /** Requests per window */
  limit?: number;
  /** How long a window is, such as 10s */
  window?: string;
  /** How many are left */
  remaining?: number;
  /** When the present window ends, such as 10s */
  resetIn?: string;
}

export interface RateWindow {
  merchant: string;
  /** The operation that has it for itself; null where all share it */
  operation: string | null;
  limit: number;
  /** Milliseconds */
  window: number;
  remaining: number;
  /** When it ends, in sandbox time */
  reset: string;
  /** Milliseconds until then */
  resetIn: number;
}

export interface RecordsChangeInput {
  kind: string;
  id: string;
  /** The owner; needed only when several merchants have a record with this id */
  merchant?: string;
  [field: string]: unknown;
}

export interface RecordsCreateInput {
  kind: string;
  /** The owner, such as mer_lodge */
  merchant: string;
  [field: string]: unknown;
}

export interface RequestDetail {
  id: string;
  /** Sandbox time of arrival */
  at: string;
  method: string;
  path: string;
  query: string;
  operation: string | null;
  merchant: string | null;
  status: number;
  /** Real milliseconds from arrival to answer */
  durationMs: number;
  /** The last characters of the API key */
  key: string | null;
  idempotencyKey: string | null;
  /** The request whose answer this one repeated */
  replayOf: string | null;
  /** The fault rules that touched it, parted by commas */
  fault: string | null;
  request: {
    headers: Record<string, unknown>;
    /** As sent, cut at 16 KiB, secrets masked */
    body: string;
    /** The whole length */
    bytes: number;
  };
  response: {
    headers: Record<string, unknown>;
    /** As sent, cut at 16 KiB, secrets masked */
    body: string;
    /** The whole length */
    bytes: number;
  };
  /** What the request made happen */
  events: ({
    id: string;
    type: string;
  })[];
}

/** What a request must be like; all of it */
export interface RequestMatch {
  /** Ids of operations, such as payments.list; payroll.* stands for all of an area */
  operation?: string | string[];
  /** Id of the merchant whose key was sent */
  merchant?: string;
  /** A status such as 429, or a class such as 4xx */
  status?: number | string;
  /** The method */
  method?: "GET" | "HEAD" | "POST" | "PATCH" | "PUT" | "DELETE";
  /** The path without its query, where * stands for anything */
  path?: string;
  /** Query parameters by name, as text */
  query?: Record<string, Condition>;
  /** An API key, or its last four characters */
  key?: string;
  /** The value itself, or operators such as {gte: 100} that must all hold */
  idempotencyKey?: Condition;
  /** Whether it was answered with what is remembered for its Idempotency-Key */
  replayed?: boolean;
  /** Headers of the request by name, in any case */
  header?: Record<string, Condition>;
  /** Values of the request's body by JSON Pointer */
  body?: Record<string, Condition>;
}

export interface RequestsListInput {
  /** Only of this operation, such as payments.list */
  operation?: string;
  merchant?: string;
  /** A status such as 429, or a class such as 4xx */
  status?: string;
  /** The last characters of an API key */
  key?: string;
  /** Only those at or after this time */
  since?: string;
  /** Id of a request: only those that came before it */
  starting_after?: string;
  /** How many records to answer */
  limit?: number;
}

export interface RequestsListReply {
  /** Always `list` */
  object: "list";
  /** Newest first */
  data: LoggedRequest[];
  /** True when more records exist beyond this answer, in the direction asked for */
  has_more: boolean;
}

export interface Room {
  /** The word that opens its door */
  room: string;
  /** Where attendees join: POST …/join */
  url: string;
}

export interface RoomBeginInput {
  room: string;
  key: string;
  /** `text` for a plain terminal; json unless given */
  format?: "json" | "text";
  /** Which lesson, by its name or its number */
  name: string;
  /** Begin at this step, with what those before would have left */
  checkpoint?: number;
}

export interface RoomBoardPageInput {
  room: string;
  /** `json` for the data; a page unless given */
  format?: "html" | "json";
}

export interface RoomBoardReply {
  /** Always `list` */
  object: "list";
  data: Learner[];
}

export interface RoomCloseReply {
  /** Null where there was none */
  closed: string | null;
}

export interface RoomDoorInput {
  room: string;
  /** `json` for the data; a page unless given */
  format?: "html" | "json";
}

export interface RoomFileInput {
  room: string;
  key: string;
  /** `text` for a plain terminal; json unless given */
  format?: "json" | "text";
}

export interface RoomFileReply {
  name: string;
  text: string;
}

export interface RoomHintInput {
  room: string;
  key: string;
  /** `text` for a plain terminal; json unless given */
  format?: "json" | "text";
}

export interface RoomJoinInput {
  room: string;
  /** `text` for a plain terminal; json unless given */
  format?: "json" | "text";
  /** What the learner is called; no two are called the same */
  name: string;
  /** Which lesson to begin with; the first unless given */
  lesson?: string;
}

export interface RoomPlaceInput {
  room: string;
  key: string;
  /** `text` for a plain terminal; json unless given */
  format?: "json" | "text";
  /** The version that is known: wait for a newer one */
  after?: number;
  /** How long to wait for it, an hour at most; 25s unless given */
  within?: string;
}

export interface RoomSkipInput {
  room: string;
  key: string;
  /** `text` for a plain terminal; json unless given */
  format?: "json" | "text";
}

export interface SandboxAuditInput {
  /** Where the receiver is; the same addresses are allowed as for webhook endpoints */
  url: string;
  /** What it verifies with; that of the endpoint registered at this address unless given */
  secret?: string;
}

export interface SandboxAuditReply {
  url: string;
  /** The worst of all probes */
  verdict: "pass" | "fail" | "inconclusive";
  /** Whether it took what only the holder of the secret may send, from somebody who is not */
  forgeryAccepted: boolean;
  probes: Probe[];
}

export interface SandboxDrainInput {
  /** The longest wait, in real time, such as 5s; 10s unless given */
  within?: string;
}

export interface SandboxDrainReply {
  /** False when the wait was too short */
  settled: boolean;
  /** Deliveries that wait for a later attempt */
  pending: number;
  inFlight: number;
}

export interface SandboxHealthReply {
  status: "ready";
}

export interface SandboxIndexReply {
  name: string;
  version: string;
  /** The process that it is */
  pid: number;
  /** What a client is pointed at */
  baseUrl: string;
  clock: Clock;
  /** The file that keeps everything; null when it is in memory */
  database: string | null;
  merchants: Merchant[];
  /** How many deliveries wait for an attempt, now or later */
  pendingDeliveries: number;
  links: Record<string, string>;
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
  /** Every type of event */
  events: ({
    type: string;
    /** How many there were, whatever made them */
    emitted: number;
    /** How many deliveries of them were taken */
    delivered: number;
  })[];
}

export interface SandboxReportInput {
  /** Which; json unless given */
  format?: "json" | "junit" | "markdown" | "html" | "har";
}

export interface SandboxResetInput {
  /** Only this one */
  merchant?: string;
}

export interface SandboxResetReply {
  /** The merchant, or `everything` */
  reset: string;
}

export interface SandboxVerifyInput {
  /** 1: answer 409 unless everything passed, so that `curl -f` fails */
  strict?: string;
  /** How long to wait for everything to hold; 0s unless given, such as 500ms or 5s, in real time */
  within?: string;
  /** Id of a merchant: nothing of any other is looked at */
  merchant?: string;
  /** Everything that must hold, at one and the same moment */
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
  /** What breaks, in one line */
  title: string;
  /** What happens, and what a sound client does */
  about: string;
  armed: boolean;
  /** Whom it strikes; null for everybody */
  merchant: string | null;
  /** Sandbox time; null when it is not armed */
  since: string | null;
  /** Its fault rules and what each has done; as they are written when it is not armed */
  faults: (Record<string, unknown>)[];
  expectations: ({
    /** A rule of the judge, or several at once */
    rule: string;
    /** What it is worth */
    points: number;
    /** Counts only once something was seen that could tell */
    optional: boolean;
    /** `pass` when one passed and none failed */
    verdict: "pass" | "fail" | "inconclusive";
    earned: number;
    pass: number;
    fail: number;
    inconclusive: number;
    /** What the judge found because of this scenario: failures first, 20 at most */
    verdicts: Verdict[];
  })[];
  /** The points that were earned */
  score: number;
  /** How many there are to be had */
  points: number;
  /** Null when it is not armed */
  verdict: "pass" | "fail" | "inconclusive" | null;
  /** The same in a sentence */
  says: string;
}

export interface ScenariosGetInput {
  name: string;
  /** For whom it is armed; need not be said where it is armed once */
  merchant?: string;
}

export interface ScenariosListReply {
  /** Always `list` */
  object: "list";
  data: Scenario[];
}

export interface ScenariosStartInput {
  name: string;
  /** Whom it strikes; everybody unless given */
  merchant?: string;
}

export interface ScenariosStopInput {
  name: string;
  /** For whom it is armed; need not be said where it is armed once */
  merchant?: string;
}

export interface SignatureExplainInput {
  /** The endpoint that the delivery was for */
  endpoint: string;
  /** The body as your code hashed it */
  body: string;
  /** What your code computed, or what it received */
  signature: string;
}

export interface SignatureExplainReply {
  matches: boolean;
  mistake: string | null;
  explanation: string;
}

export interface Snapshot {
  name: string;
  /** A SQLite file; `--snapshot FILE` starts from it */
  file: string;
  bytes: number;
}

export interface SnapshotsListReply {
  data: Snapshot[];
}

export interface SnapshotsRemoveReply {
  removed: string;
}

export interface SnapshotsRestoreReply {
  restored: string;
}

export interface Traffic {
  /** To whom it happens */
  merchant: string;
  rate: string;
  /** How long it lasts; null until it is stopped */
  for: string | null;
  /** How much weight each kind of record has */
  mix: Record<string, number>;
  /** `done` when its time is over, `failed` after a defect of the sandbox */
  status: "running" | "done" | "stopped" | "failed";
  /** How often something happened */
  happened: number;
  /** The same for each kind of record */
  byKind: Record<string, number>;
  /** Sandbox time */
  startedAt: string;
  /** Sandbox time at which something happens next; null when nothing does */
  nextAt: string | null;
}

export interface TrafficListReply {
  /** Always `list` */
  object: "list";
  data: Traffic[];
}

export interface TrafficStartInput {
  /** To whom it happens; the first merchant unless given */
  merchant?: string;
  /** So many in a span, from 1/d to 100/s: 2/s unless given */
  rate?: string;
  /** Weights of kinds of record, such as {"payment": 3, "booking": 1}; a mix of all unless given */
  mix?: unknown;
  /** How long it lasts, such as 1m; until it is stopped unless given, with 100,000 happenings at most */
  for?: string;
}

export interface TrafficStopInput {
  /** Only this merchant's */
  merchant?: string;
}

export interface TrafficStopReply {
  /** Always `list` */
  object: "list";
  data: Traffic[];
}

export interface Verdict {
  /** Null while it is open: what would be said if nothing more came */
  id: string | null;
  rule: string;
  /** How bad a failure is */
  severity: "error" | "warning";
  /** `inconclusive` where nothing that came could tell */
  verdict: "pass" | "fail" | "inconclusive";
  /** Sandbox time of what showed it */
  at: string;
  /** Whose key was sent */
  merchant: string | null;
  /** What was called */
  operation: string | null;
  /** What happened */
  says: string;
  /** How to mend it */
  hint: string;
  /** The requests that show it */
  requests: string[];
  /** The delivery attempts that show it */
  attempts: string[];
  /** What was measured, in real time */
  milliseconds: Record<string, number>;
  /** The fault rule that brought it out */
  fault: string | null;
}

export interface VerdictsClearReply {
  /** How many verdicts there were */
  cleared: number;
}

export interface VerdictsListInput {
  /** Only of this rule, or of several, as in retry_after.* */
  rule?: string;
  /** Only these */
  verdict?: "pass" | "fail" | "inconclusive";
  /** Only of this merchant */
  merchant?: string;
  /** Only those at or after this sandbox time, such as 2026-01-05T09:00:00Z */
  since?: string;
}

export interface VerdictsListReply {
  /** Oldest first; those still open last */
  verdicts: Verdict[];
  /** Every rule, with how many of these verdicts are of it */
  rules: JudgedRule[];
}

export interface VerificationResult {
  /** Which sort it is, such as requests */
  expectation: string;
  /** `inconclusive` where nothing happened that could tell */
  verdict: "pass" | "fail" | "inconclusive";
  message: string;
  /** How many matched */
  found: number;
  /** Ids of the newest that matched */
  evidence: string[];
  /** Where something is missing: what came nearest to it */
  closest: NearMiss[];
}
