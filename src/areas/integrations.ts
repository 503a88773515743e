// Integrations: logs of synchronisation with other systems.

import { resource } from "../contracts/resource.ts";
import { assumedListOf, assumedPageQuery, count, nullables, oneOf, text, timestamp } from "../schema/shapes.ts";
import { endpoint } from "../store/operation-context.ts";
import { sampleSyncLog } from "./samples/office.ts";

/** Milliseconds that a synchronisation takes. */
const SYNC_TIME = 120_000;

export const syncLogs = resource({
  kind: "sync_log",
  prefix: "syl",
  view: "sync_logs",
  sample: sampleSyncLog,
  fields: {
    ...nullables({
      integration: text("Name of the integration"),
      entity: text("Type of record synchronised"),
      direction: oneOf(["inbound", "outbound"], "Direction of the synchronisation"),
    }),
    recordsProcessed: count("Number of records synchronised"),
    recordsFailed: count("Number of records that failed"),
    ...nullables({
      startedAt: timestamp("Start time"),
      finishedAt: timestamp("End time"),
      errorMessage: text("Error message, if the synchronisation failed"),
    }),
  },
  defaults: { recordsProcessed: 0, recordsFailed: 0 },
  states: {
    running: {
      to: ["succeeded", "partial", "failed"],
      next: ({ record }) => ({ at: (record.startedAt ?? record.created) * 1000 + SYNC_TIME, status: "succeeded" }),
    },
    succeeded: { to: [], event: "integration_sync.succeeded" },
    partial: { to: [] },
    failed: { to: [], event: "integration_sync.failed" },
  },
});

export const listSyncLogs = endpoint({
  id: "sync_logs.list",
  area: "Integrations",
  method: "GET",
  path: "/integrations/sync-logs",
  summary: "List all synchronisation logs",
  query: assumedPageQuery,
  reply: assumedListOf(syncLogs.schema),
  errors: ["invalid_limit", "invalid_cursor"],
  handle: ({ query, own }) => own(syncLogs).list(query),
});
