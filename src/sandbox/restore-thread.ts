// The thread that builds the database of a large restored snapshot.

import { parentPort, workerData } from "node:worker_threads";
import { restoreNow } from "./restore-snapshot.ts";

parentPort?.postMessage(restoreNow(workerData.snapshot, workerData.bodies));
