// What this sandbox is: its address, its merchants, what it can do and what of that was used.

import { type Static, Type } from "../schema/shapes.ts";
import { ClockState, clockState } from "./clock.ts";
import { type ControlContext, endpoint } from "./control-context.ts";
import { Merchant } from "./merchants.ts";

const Index = Type.Object({
  name: Type.String(),
  version: Type.String(),
  pid: Type.Integer({ description: "The process that it is" }),
  baseUrl: Type.String({ description: "What a client is pointed at" }),
  clock: ClockState,
  database: Type.Union([Type.String(), Type.Null()], { description: "The file that keeps everything; null when it is in memory" }),
  merchants: Type.Array(Merchant),
  pendingDeliveries: Type.Integer({ description: "How many deliveries wait for an attempt, now or later" }),
  links: Type.Record(Type.String()),
});

export const showIndex = endpoint({
  id: "sandbox.index",
  area: "Overview",
  method: "GET",
  path: "",
  summary: "What this sandbox is",
  description: "Version, address, merchants with their keys, and where to go from here.",
  reply: Index,
  handle: showSandbox,
});

/** The same is the first thing that a watcher of the live stream is told. */
export function showSandbox({
  about,
  clock,
  tenants,
  deliveries,
}: Pick<ControlContext, "about" | "clock" | "tenants" | "deliveries">): Static<typeof Index> {
  const url = about.url();
  return {
    name: "merchant-sandbox",
    version: about.version,
    pid: process.pid,
    baseUrl: `${url}/v1`,
    clock: clockState(clock),
    database: about.file ?? null,
    merchants: tenants.list(),
    pendingDeliveries: deliveries.pending(),
    links: {
      health: `${url}/_sandbox/health`,
      openapi: `${url}/_sandbox/openapi.json`,
      controlOpenapi: `${url}/_sandbox/control.openapi.json`,
      assumptions: `${url}/_sandbox/assumptions`,
      operations: `${url}/_sandbox/operations`,
    },
  };
}

export const showHealth = endpoint({
  id: "sandbox.health",
  area: "Overview",
  method: "GET",
  path: "/health",
  summary: "Whether the sandbox is ready",
  description: "Answers 200 only when the world is seeded and the sandbox listens; until then nothing answers at all.",
  reply: Type.Object({ status: Type.String({ const: "ready" }) }),
  handle: () => ({ status: "ready" }),
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
  emitted: Type.Integer({ description: "How many there were, whatever made them" }),
  delivered: Type.Integer({ description: "How many deliveries of them were taken" }),
});

export const listOperations = endpoint({
  id: "sandbox.operations",
  area: "Overview",
  method: "GET",
  path: "/operations",
  summary: "The operations and events of the service, and how often each was called, sent and taken",
  reply: Type.Object({
    data: Type.Array(CoverageRow),
    called: Type.Integer(),
    total: Type.Integer(),
    events: Type.Array(EventRow, { description: "Every type of event" }),
  }),
  handle({ coverage }) {
    const { operations, events } = coverage();
    const data = operations.map(({ id, method, path, summary, calls, byStatus }) => ({ id, method, path, summary, calls, byStatus }));
    return { data, called: data.filter(({ calls }) => calls > 0).length, total: data.length, events };
  },
});

const AnyObject = Type.Record(Type.Unknown());

export const showOpenapi = endpoint({
  id: "sandbox.openapi",
  area: "Overview",
  method: "GET",
  path: "/openapi.json",
  summary: "The service as an OpenAPI 3.1 document",
  reply: AnyObject,
  handle: async ({ documents }) => ({ ...(await documents.openapi()) }),
});

export const showControlOpenapi = endpoint({
  id: "sandbox.control_openapi",
  area: "Overview",
  method: "GET",
  path: "/control.openapi.json",
  summary: "The control plane as an OpenAPI 3.1 document",
  reply: AnyObject,
  handle: async ({ documents }) => ({ ...(await documents.controlOpenapi()) }),
});

export const listAssumptions = endpoint({
  id: "sandbox.assumptions",
  area: "Overview",
  method: "GET",
  path: "/assumptions",
  summary: "Everything the sandbox assumes where the service's document is silent",
  reply: AnyObject,
  handle: async ({ documents }) => ({ ...(await documents.assumptions()) }),
});
