// Integrations: the log of what was exchanged with other systems, newest first.

import { resource } from "../contracts/resource.ts";
import { assumedListOf, assumedPageQuery, count, nullables, oneOf, text, timestamp } from "../schema/shapes.ts";
import { endpoint } from "../store/operation-context.ts";

export const syncLogs = resource({
  kind: "sync_log",
  prefix: "syl",
  view: "sync_logs",
  fields: {
    ...nullables({
      integration: text("The other system"),
      entity: text("The kind of record that was exchanged"),
      direction: oneOf(["inbound", "outbound"], "Whether records came in or went out"),
    }),
    recordsProcessed: count("Records that were exchanged"),
    recordsFailed: count("Records that were not"),
    ...nullables({
      startedAt: timestamp("When it started"),
      finishedAt: timestamp("When it ended"),
      errorMessage: text("What went wrong"),
    }),
  },
  defaults: { status: "running", recordsProcessed: 0, recordsFailed: 0 },
  moves: { running: ["succeeded", "partial", "failed"], succeeded: [], partial: [], failed: [] },
  events: { succeeded: "integration_sync.succeeded", failed: "integration_sync.failed" },
});

export const listSyncLogs = endpoint({
  id: "sync_logs.list",
  area: "Integrations",
  method: "GET",
  path: "/integrations/sync-logs",
  summary: "List what was synchronised with other systems",
  query: assumedPageQuery,
  reply: assumedListOf(syncLogs.schema),
  errors: ["invalid_limit", "invalid_cursor"],
  handle: ({ query, own }) => own(syncLogs).list(query),
});
