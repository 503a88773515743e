// Builds the database of a restored snapshot, in a thread if the snapshot is large: checking a million rows takes
// seconds, for which the process would serve no request.

import { once } from "node:events";
import { statSync } from "node:fs";
import { Worker } from "node:worker_threads";
import { resources } from "../areas/index.ts";
import { webhookEndpoints } from "../areas/webhooks.ts";
import { attempt } from "../kernel/attempt.ts";
import type { Bodies } from "../store/records/stored-record.ts";
import { translateError } from "../store/sqlite/sqlite-errors.ts";
import { buildRestored, type Restored, type SnapshotToRestore } from "../store/world/restored.ts";
import { packageFile } from "./package-files.ts";

/** Bytes of a snapshot that is checked in less than a tenth of a second, the time that a thread takes to start. */
const SMALL = 2 * 1_048_576;

const kinds = { shown: resources, stored: [...resources, webhookEndpoints] };

/** The work of the thread. */
export const restoreNow = (snapshot: SnapshotToRestore, bodies: Bodies): Restored =>
  buildRestored(snapshot, kinds, bodies);

export async function restoredFrom(snapshot: SnapshotToRestore, bodies: Bodies): Promise<Restored> {
  try {
    const size = attempt(() => statSync(snapshot.source).size) ?? 0;
    return await (size <= SMALL ? restoreNow(snapshot, bodies) : restoreInThread(snapshot, bodies));
  } catch (error) {
    throw translateError(error);
  }
}

async function restoreInThread(snapshot: SnapshotToRestore, bodies: Bodies): Promise<Restored> {
  const thread = new Worker(packageFile("dist/restore.cjs"), { workerData: { snapshot, bodies } });
  const [restored] = await once(thread, "message");
  return restored;
}
