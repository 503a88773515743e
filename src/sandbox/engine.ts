// What works behind the sockets: the parts, put together, and who is told what.

import { catalogue, eventTypes } from "../areas/index.ts";
import { createFaults, type Faults } from "../faults/index.ts";
import type { HeldResponses } from "../http/faults/held-responses.ts";
import { createRateLimiter, type RateLimiter, type RateLimits } from "../http/rate-limit.ts";
import { API_PREFIX } from "../http/route.ts";
import { createJudge, type Judge } from "../judge/judge.ts";
import { rules } from "../judge/rules/index.ts";
import type { Clock } from "../kernel/clock.ts";
import { notify } from "../kernel/listeners.ts";
import type { Random } from "../kernel/random.ts";
import { createHub, type Hub } from "../live/hub.ts";
import { createScenarios, type Scenarios } from "../scenarios/index.ts";
import type { LoggedRequest } from "../store/journal/request-log.ts";
import type { Stores } from "../store/stores.ts";
import type { Fixture } from "../store/world/fixtures.ts";
import type { SeedImage } from "../store/world/seed-image.ts";
import { createDispatcher, type Dispatcher } from "../webhooks/dispatcher.ts";
import type { Targets } from "../webhooks/http/target-policy.ts";
import type { Schedule } from "../webhooks/retry-schedule.ts";
import type { Options } from "./options.ts";
import { packageFile, version } from "./package-files.ts";

export interface Defect {
  error: unknown;
  /** The request that brought it out, or the part of the sandbox that did. */
  where: string;
}

const judged = rules.map(({ id }) => id);

export const operations = catalogue.map(({ id }) => id);

export interface Parts {
  options: Options;
  token: string | undefined;
  fixtures: readonly Fixture[];
  /** The fixtures as they are seeded now. */
  image(): SeedImage;
  clock: Clock;
  random: Random;
  stores: Stores;
  faults: Faults;
  /** What faults keep waiting at the sockets. */
  held: HeldResponses;
  targets: Targets;
  schedule: Schedule;
}

/** The parts put together: what works from here on, and who is told what. */
export interface Machine extends Parts {
  limiter: RateLimiter;
  hub: Hub;
  judge: Judge;
  scenarios: Scenarios;
  heard: Heard;
  dispatcher: Dispatcher;
}

export function assemble(parts: Parts, snapshot: () => unknown): Machine {
  const limiter = createRateLimiter(parts.options.rateLimit as RateLimits);
  const hub = createHub(snapshot);
  const judge = openJudge(hub, parts.faults);
  const heard: Heard = { requests: new Set([judge.request]), defects: new Set() };
  const scenarios = openScenarios(parts, judge);
  return { ...parts, limiter, hub, judge, scenarios, heard, dispatcher: openDispatcher(parts, hub, heard, judge) };
}

const openScenarios = ({ clock, faults }: Parts, judge: Judge): Scenarios =>
  createScenarios({
    now: clock.now,
    rules: faults.rules,
    judged,
    verdicts: () => judge.verdicts(),
    folder: packageFile("fixtures/scenarios"),
  });

interface Heard {
  requests: Set<(entry: LoggedRequest) => void>;
  defects: Set<(defect: Defect) => void>;
}

function openJudge(hub: Hub, faults: Faults): Judge {
  const judge = createJudge({ operations: catalogue, prefix: API_PREFIX, told: (verdict) => hub.say({ kind: "verdict", verdict }) });
  faults.listen(judge.fired);
  faults.listen((fault) => hub.say({ kind: "fault", fault }));
  return judge;
}

function openDispatcher(parts: Parts, hub: Hub, heard: Heard, judge: Judge): Dispatcher {
  const { clock, random, stores, faults, schedule } = parts;
  const dispatcher = createDispatcher({
    ...stores,
    clock,
    random,
    schedule,
    faults: faults.delivery,
    ...senderNeeds(parts),
    report: (error) => notify(heard.defects, { error, where: "webhooks" }),
  });
  dispatcher.listen((attempt) => hub.say({ kind: "attempt", attempt }));
  dispatcher.listen(judge.attempt);
  return dispatcher;
}

/** Where and how webhooks are sent. */
export const senderNeeds = ({ options, targets }: Parts) => ({
  targets,
  timeout: options.webhookTimeout,
  insecureTls: options.webhookInsecureTls,
  userAgent: `merchant-sandbox/${version()}`,
});

/** The fault rules, which may name what there is. */
export function openFaults({ seed }: Options, clock: Clock, { tenants, recordHistory }: Stores): Faults {
  const known = {
    operations,
    eventTypes,
    merchants: () => tenants.list().map(({ id }) => id),
    ownerOf: (key: string) => tenants.identify(key)?.merchant,
    judged,
  };
  return createFaults({ clock, seed, known, keepPast: recordHistory.keep });
}
