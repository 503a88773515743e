// Snapshots: named copies of the database, which can be restored any number of times.

import { endpointFactory } from "../areas/declare/operation.ts";
import { Type } from "../schema/shapes.ts";
import type { Stores } from "../store/stores.ts";
import type { Snapshots } from "../store/world/snapshots.ts";
import { wholeList, wholeListOf } from "./given-values.ts";

interface Parts {
  snapshots: Pick<Snapshots, "list" | "save" | "restore" | "remove">;
  deliveries: Pick<Stores["deliveries"], "held">;
  heldEndpoints: Pick<Stores["heldEndpoints"], "urls">;
}

const endpoint = endpointFactory<Parts>("Snapshots");

const snapshotFields = {
  name: Type.String(),
  file: Type.String({ description: "A SQLite file; start from it with `--snapshot <file>`" }),
  bytes: Type.Integer(),
};

const SnapshotShape = Type.Object(snapshotFields, { title: "snapshot" });

const listSnapshots = endpoint({
  id: "snapshots.list",
  method: "GET",
  path: "/snapshots",
  summary: "List the snapshots",
  reply: wholeListOf(SnapshotShape),
  errors: ["invalid_state"],
  handle: ({ snapshots }) => wholeList(snapshots.list()),
});

const saveSnapshot = endpoint({
  id: "snapshots.save",
  method: "PUT",
  path: "/snapshots/{name}",
  exampleParams: { name: "before" },
  summary: "Save a snapshot; an earlier one of the same name is replaced",
  reply: Type.Object({
    ...snapshotFields,
    replaced: Type.Boolean({ description: "Whether there was an earlier snapshot of the same name" }),
  }),
  errors: ["invalid_state"],
  handle: ({ params, snapshots }) => snapshots.save(params.name),
});

const restoreSnapshot = endpoint({
  id: "snapshots.restore",
  method: "POST",
  path: "/snapshots/{name}/restore",
  exampleParams: { name: "before" },
  summary: "Restore a snapshot",
  description:
    "Restores records, events, deliveries, keys and stored Idempotency-Key responses. " +
    "Removes fault rules, scenarios and verdicts. Rate-limit windows start again; the request log and the clock " +
    "continue. Changes of records that have fallen due by now happen at once, and their webhooks are sent. " +
    "Requests see the current data until the snapshot has been checked and replaces all data at once. " +
    "The ids of events that followed the snapshot are used again, for other events.",
  reply: Type.Object({
    restored: Type.String(),
    heldDeliveries: Type.Optional(
      Type.Integer({
        description:
          "How many deliveries are held until you run `replay waiting`; absent if your own sandbox saved the snapshot",
      }),
    ),
    heldEndpoints: Type.Optional(
      Type.Array(Type.String(), { description: "The URLs of the endpoints whose later deliveries are held too" }),
    ),
  }),
  errors: ["resource_not_found", "invalid_state"],
  async handle({ params, snapshots, deliveries, heldEndpoints }) {
    await snapshots.restore(params.name);
    const urls = heldEndpoints.urls();
    return {
      restored: params.name,
      ...(urls.length > 0 && { heldDeliveries: deliveries.held(), heldEndpoints: urls }),
    };
  },
});

const removeSnapshot = endpoint({
  id: "snapshots.remove",
  method: "DELETE",
  path: "/snapshots/{name}",
  exampleParams: { name: "before" },
  summary: "Delete a snapshot",
  reply: Type.Object({ removed: Type.String() }),
  errors: ["resource_not_found", "invalid_state"],
  handle({ params, snapshots }) {
    snapshots.remove(params.name);
    return { removed: params.name };
  },
});

export const operations = [listSnapshots, saveSnapshot, restoreSnapshot, removeSnapshot];
