// The sandbox itself: its address and merchants, its health, its operations and their coverage, and its documents.

import { endpointFactory } from "../areas/declare/operation.ts";
import { type FactKind, factKinds } from "../contracts/fact.ts";
import { ClockState, KeptCounts, MadeCounts, Merchant } from "../contracts/live-messages.ts";
import { ShownScenario } from "../contracts/scenario.ts";
import type { Judge } from "../judge/judge.ts";
import type { Clock } from "../kernel/clock.ts";
import { pick } from "../kernel/pick.ts";
import type { Life } from "../life/life.ts";
import { SPAN_SECONDS, SPANS, TrendSpan, type Trends, TrendTotal } from "../live/trends.ts";
import { OpenApiForm } from "../reference/openapi-forms.ts";
import type { Scenarios } from "../scenarios/index.ts";
import { nullableText, oneOf, type Static, Type, zeroOrOne } from "../schema/shapes.ts";
import type { Assumptions as SetAssumptions } from "../store/assumptions.ts";
import type { RunCoverage } from "../store/request-log/coverage.ts";
import type { Stores } from "../store/stores.ts";
import { clockState } from "./clock.ts";
import { MOST_LISTED } from "./given-values.ts";

export interface About {
  version: string;
  /** Where the sandbox listens, such as http://127.0.0.1:4747. */
  url: () => string;
  /** The SQLite file; undefined in memory. */
  file: string | undefined;
  signature: string;
  assumptions: SetAssumptions;
}

interface OverviewParts extends Pick<Stores, "tenants" | "deliveries" | "heldEndpoints" | "requestLog" | "runSummary"> {
  about: About;
  clock: Clock;
  life: Pick<Life, "isOn">;
  judge: Pick<Judge, "kept">;
  scenarios: Pick<Scenarios, "armed">;
  /** Counts of requests, attempts and verdicts since the last reset. */
  made(): MadeCounts;
}

interface Parts extends OverviewParts, Pick<Stores, "database"> {
  trends: Pick<Trends, "read">;
  /** Which operations and event types the run has used. */
  coverage(erased: boolean): RunCoverage;
  /** Documents derived from both catalogues, built on first use. */
  documents: {
    openapi(form: OpenApiForm): Promise<object>;
    controlOpenapi(form: OpenApiForm): Promise<object>;
    assumptions(): Promise<object>;
  };
}

const endpoint = endpointFactory<Parts>("Overview");

const ARMED_FIELDS = ["name", "merchant", "score", "points", "verdict"] as const;

const Overview = Type.Object({
  name: Type.String(),
  version: Type.String(),
  pid: Type.Integer({ description: "Process id" }),
  baseUrl: Type.String({ description: "Base URL for clients" }),
  clock: ClockState,
  life: oneOf(["on", "off"], "Whether records change on their dates: see `--life`"),
  database: nullableText("The SQLite file; null in memory"),
  signature: Type.String({ description: "How the signature of deliveries is computed" }),
  assumptions: Type.Record(Type.Unknown(), { description: "The assumptions that options set, by id" }),
  merchants: Type.Array(Merchant, { description: `The first ${MOST_LISTED} merchants` }),
  merchantCount: Type.Integer({ description: "How many merchants there are" }),
  pendingDeliveries: Type.Integer({ description: "How many deliveries are waiting for an attempt, due now or later" }),
  heldDeliveries: Type.Integer({
    description: "How many of the pending deliveries are held, because they came with a file: see `replay waiting`",
  }),
  heldEndpoints: Type.Array(Type.String(), {
    description: "The addresses of endpoints that came with a file: deliveries to them are held until `replay waiting`",
  }),
  heldFaults: Type.Array(Type.String(), {
    description: "The effects of the file's fault rules on the held deliveries",
  }),
  scenarios: Type.Array(Type.Object(pick(ShownScenario.properties, ARMED_FIELDS)), {
    description: "The scenarios that are armed",
  }),
  made: MadeCounts,
  kept: KeptCounts,
  failedDeliveries: Type.Integer({ description: "How many deliveries failed for good and were not replayed since" }),
  links: Type.Record(Type.String()),
});

const showOverview = endpoint({
  id: "sandbox.overview",
  method: "GET",
  path: "",
  summary: "Get an overview of the sandbox",
  description: "Version, address, merchants with their keys, and links.",
  reply: Overview,
  handle: showSandbox,
});

/** Returns the overview, which is also part of the first message of a live stream. */
export function showSandbox(context: OverviewParts): Static<typeof Overview> {
  const { about, clock, life, tenants, deliveries, heldEndpoints, requestLog, runSummary, judge, made, scenarios } =
    context;
  const url = about.url();
  requestLog.flush();
  return {
    name: "merchant-sandbox",
    version: about.version,
    pid: process.pid,
    baseUrl: `${url}/v1`,
    clock: clockState(clock),
    life: life.isOn ? "on" : "off",
    database: about.file ?? null,
    signature: about.signature,
    assumptions: about.assumptions,
    merchants: tenants
      .list(MOST_LISTED)
      .map((one) => ({ ...one, name: shortened(one.name), email: shortened(one.email) })),
    merchantCount: tenants.count(),
    pendingDeliveries: deliveries.pending(),
    heldDeliveries: deliveries.held(),
    heldEndpoints: heldEndpoints.urls(),
    heldFaults: heldEndpoints.faults(),
    scenarios: scenarios.armed().map((scenario) => pick(scenario, ARMED_FIELDS)),
    made: made(),
    kept: { ...runSummary.kept(), verdicts: judge.kept() },
    failedDeliveries: runSummary.failedDeliveries(),
    links: {
      health: `${url}/_sandbox/health`,
      openapi: `${url}/_sandbox/openapi.json`,
      controlOpenapi: `${url}/_sandbox/control.openapi.json`,
      assumptions: `${url}/_sandbox/assumptions`,
      operations: `${url}/_sandbox/operations`,
    },
  };
}

/**
 * Shortens a text. A merchant's name can have a megabyte, and the commands that look for a running sandbox do not read
 * such a long overview.
 */
const shortened = (text: string | null) => text?.slice(0, MOST_SHOWN) ?? null;
const MOST_SHOWN = 200;

const showHealth = endpoint({
  id: "sandbox.health",
  method: "GET",
  path: "/health",
  summary: "Check whether the sandbox is ready",
  description:
    "Replies 200 once the database is seeded and the sandbox listens; before that, connections are refused. " +
    "Replies 503 if the SQLite file was deleted or replaced after the start.",
  reply: Type.Object({ status: Type.String({ const: "ready" }), version: Type.String() }),
  errors: ["database_missing"],
  handle({ about, database }) {
    database.requireInPlace();
    return { status: "ready", version: about.version };
  },
});

const CoverageRow = Type.Object({
  id: Type.String(),
  method: Type.String(),
  path: Type.String(),
  summary: Type.String(),
  calls: Type.Integer(),
  byStatus: Type.Record(Type.Integer()),
});

const EventRow = Type.Object({
  type: Type.String(),
  emitted: Type.Integer({ description: "How many were emitted" }),
  delivered: Type.Integer({ description: "How many deliveries succeeded" }),
});

const listOperations = endpoint({
  id: "sandbox.operations",
  method: "GET",
  path: "/operations",
  summary: "List operations and event types with how often each was called, emitted and delivered",
  query: Type.Object({
    erased: Type.Optional(zeroOrOne("1 also counts the calls and events from before a reset (default: 0)")),
  }),
  reply: Type.Object({
    data: Type.Array(CoverageRow),
    called: Type.Integer(),
    total: Type.Integer(),
    events: Type.Array(EventRow, { description: "All event types" }),
  }),
  handle({ coverage, query }) {
    const { operations, events } = coverage(query.erased === "1");
    const data = operations.map((row) => pick(row, ["id", "method", "path", "summary", "calls", "byStatus"]));
    return { data, called: data.filter(({ calls }) => calls > 0).length, total: data.length, events };
  },
});

const showTrends = endpoint({
  id: "sandbox.trends",
  method: "GET",
  path: "/trends",
  summary: "Get requests, errors and 95th percentile latency of the last five minutes, in total and by operation",
  description: `In ${SPANS} spans of ${SPAN_SECONDS} s of real time. A reset of everything clears it.`,
  reply: Type.Object({
    seconds: Type.Integer({ description: "How long a span is" }),
    elapsed: Type.Number({ description: "Milliseconds since the last span began" }),
    total: Type.Object(TrendTotal.properties, { description: "All spans together" }),
    spans: Type.Array(TrendSpan, { description: "Oldest first; the last one is not over yet" }),
    operations: Type.Array(Type.Object({ operation: Type.String(), ...TrendTotal.properties }), {
      description: "Each operation that was called, all spans together",
    }),
  }),
  handle: ({ trends }) => ({ seconds: SPAN_SECONDS, ...trends.read() }),
});

const OpenApi = Type.Object(
  {
    openapi: Type.String({ description: "Version of OpenAPI" }),
    info: Type.Record(Type.Unknown()),
    paths: Type.Record(Type.Unknown()),
    components: Type.Record(Type.Unknown()),
  },
  { title: "openapi_document", description: "An OpenAPI document", additionalProperties: true },
);

const openapiOperation = (id: string, path: string, of: string, document: "openapi" | "controlOpenapi") =>
  endpoint({
    id,
    method: "GET",
    path,
    summary: `Get the OpenAPI document of ${of}`,
    query: OpenApiForm,
    reply: OpenApi,
    handle: async ({ documents, query }) => (await documents[document](query)) as Static<typeof OpenApi>,
  });

const showOpenapi = openapiOperation("sandbox.openapi", "/openapi.json", "the service", "openapi");
const showControlOpenapi = openapiOperation(
  "sandbox.control_openapi",
  "/control.openapi.json",
  "the control API",
  "controlOpenapi",
);

const Assumptions = Type.Object({
  total: Type.Integer({ description: "The number of facts that are assumptions" }),
  kinds: Type.Record(
    Type.Object({
      observed: Type.String({ description: "How a recording of the service shows such a fact" }),
    }),
    { description: "The kinds of facts" },
  ),
  facts: Type.Array(
    Type.Object({
      id: Type.String({ description: "Stable identifier of the fact, such as `payment.status.values.refunded`" }),
      kind: oneOf(Object.keys(factKinds) as FactKind[], "How a recording shows the fact"),
      value: Type.Unknown({ description: "The value in the sandbox" }),
      origin: oneOf(
        ["document", "assumed", "design"],
        "Where the fact comes from; `design`: the sandbox differs from every service on purpose",
      ),
      why: Type.Optional(Type.String({ description: "Why the sandbox assumes it, or differs" })),
      setting: Type.Optional(Type.String({ description: "The option that changes it" })),
      settable: Type.Optional(
        Type.Record(Type.Unknown(), {
          description: "JSON Schema of the values that `assumptions` may set; absent if it cannot be set",
        }),
      ),
      default: Type.Optional(
        Type.Unknown({ description: "The sandbox's own value; present only if an option has set `value`" }),
      ),
    }),
  ),
});

const listAssumptions = endpoint({
  id: "sandbox.assumptions",
  method: "GET",
  path: "/assumptions",
  summary: "Get every fact about the service that the sandbox is built on, documented or assumed",
  query: Type.Object({
    operation: Type.Optional(
      Type.String({ description: "Only the facts of this operation, such as bookings.decline" }),
    ),
  }),
  reply: Assumptions,
  async handle({ documents, query: { operation } }) {
    const listed = (await documents.assumptions()) as Static<typeof Assumptions>;
    if (operation === undefined) return listed;
    return { ...listed, facts: listed.facts.filter(({ id }) => id.startsWith(`${operation}.`)) };
  },
});

export const operations = [
  showOverview,
  showHealth,
  listOperations,
  showTrends,
  showOpenapi,
  showControlOpenapi,
  listAssumptions,
];
