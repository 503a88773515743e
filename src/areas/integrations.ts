// Integrations: logs of synchronisation with other systems.

import type { RecordBase, Rule } from "../contracts/resource.ts";
import { count, nullables, oneOf, text, timestamp } from "../schema/shapes.ts";
import { listEndpoint } from "./declare/operation.ts";
import { resource } from "./declare/resource.ts";
import { problem } from "./declare/rules.ts";
import { sampleSyncLog } from "./samples/office.ts";

/** Milliseconds that a synchronisation takes. */
const SYNC_TIME = 120_000;

/** A successful synchronisation has no failed records, and a partial one has at least one. */
const failuresFit: Rule<RecordBase & { recordsFailed: number }> = ({ status, recordsFailed }) => {
  const wrong = (says: string) =>
    problem("recordsFailed", "out_of_range", `recordsFailed of a ${says}; received ${recordsFailed}.`);
  if (status === "succeeded" && recordsFailed > 0) return wrong("synchronisation that succeeded must be 0");
  return status === "partial" && recordsFailed === 0 ? wrong("partial synchronisation must be at least 1") : undefined;
};

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
      event: "integration_sync.started",
      at: "startedAt",
      isBrief: true,
      next: ({ record }) => ({ at: (record.startedAt ?? record.created) * 1000 + SYNC_TIME, status: "succeeded" }),
    },
    succeeded: { to: [], event: "integration_sync.succeeded", at: "finishedAt" },
    partial: {
      to: [],
      event: "integration_sync.partial",
      at: "finishedAt",
      sets: ({ record }) => ({
        recordsFailed: Math.max(record.recordsFailed, 1),
        errorMessage: record.errorMessage ?? "The other system rejected some records.",
      }),
    },
    failed: {
      to: [],
      event: "integration_sync.failed",
      at: "finishedAt",
      fills: { errorMessage: "The other system did not answer in time." },
    },
  },
  updated: "integration_sync.updated",
  rules: [failuresFit],
});

const listSyncLogs = listEndpoint(syncLogs, {
  id: "sync_logs.list",
  position: 13,
  area: "Integrations",
  path: "/integrations/sync-logs",
  summary: "List all synchronisation logs",
});

export const operations = [listSyncLogs];

export const resources = [syncLogs];
