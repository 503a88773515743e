// Joins the control plane to everything that it may touch.

import { catalogue, eventTypes, resources } from "../areas/index.ts";
import type { ControlContext } from "../control/control-context.ts";
import { notify, subscribeTo } from "../kernel/listeners.ts";
import { readCoverage } from "../store/journal/coverage.ts";
import { createViews } from "../store/records/views.ts";
import { openSeeder } from "../store/world/seed.ts";
import { openSnapshots } from "../store/world/snapshots.ts";
import { openWorld } from "../store/world/world.ts";
import { createTraffic, type TrafficWork } from "../traffic/traffic.ts";
import { type Machine, senderNeeds } from "./engine.ts";
import { documents } from "./lazy-documents.ts";
import { openLessons } from "./lesson-setup.ts";
import { version } from "./package-files.ts";
import { openProof } from "./verification.ts";

export function openControlContext(machine: Machine, url: () => string): ControlContext {
  const { fixtures, image, clock, random, stores, faults, limiter, hub, dispatcher, judge, scenarios, heard } = machine;
  const { database, requestLog } = stores;
  const traffic = openTraffic(machine);
  const renew = (merchant?: string) => {
    renewMachine(machine, merchant);
    traffic.forget(merchant);
    lessons.renew(merchant);
    dispatcher.reload(merchant);
    hub.say({ kind: "reset", merchant: merchant ?? null });
  };
  if (!database.isCopy) createViews(database, resources);
  const about = { version: version(), url, file: database.file };
  const surface = () => readCoverage({ catalogue, eventTypes, ...stores });
  const proved = { ...stores, about, coverage: surface, clock, random, dispatcher, webhooks: senderNeeds(machine) };
  const proof = openProof({ ...proved, judge, scenarios: scenarios.armed, faults: faults.rules, hear: subscribeTo(heard.requests) });
  const world = openWorld({ stores, seeder: openSeeder(stores, resources, clock), fixtures, image, random, renew });
  const lessons = openLessons({ machine, verifier: proof.verifier, world, url });
  return {
    ...stores,
    about,
    clock,
    world,
    snapshots: openSnapshots(database, requestLog),
    dispatcher,
    limiter,
    faults: faults.rules,
    judge,
    scenarios,
    traffic,
    lessons,
    ...proof,
    renew,
    tell: hub.say,
    coverage: surface,
    resources,
    documents: documents(url),
  };
}

/** What memory holds of records, of keys, and of what clients did is of a world that is gone. */
function renewMachine({ stores, limiter, scenarios, faults, held, judge }: Machine, merchant: string | undefined): void {
  stores.tenants.clearCache();
  stores.idempotencyReplies.clearCache();
  limiter.clear(merchant);
  scenarios.forget(merchant);
  faults.rules.clear(merchant);
  if (merchant === undefined) held.releaseAll();
  judge.forget(merchant);
}

function openTraffic({ stores, clock, random, heard }: Machine): TrafficWork {
  const report = (error: unknown) => notify(heard.defects, { error, where: "traffic" });
  return createTraffic({ ...stores, clock, random, resources, operations: catalogue, report });
}
