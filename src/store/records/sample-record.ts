// Creates believable records: the fields that the creator left out come from the sample of the kind, and depend only on seed, merchant and count.

import type { AnyRecord, RecordBase, Resource, SampleContext, SampleRandom } from "../../contracts/resource.ts";
import { isoTime, LATEST_TIME } from "../../kernel/clock.ts";
import type { Random } from "../../kernel/random.ts";
import type { JsonObject } from "../../schema/schema.ts";
import type { OperationContext } from "../operation-context.ts";
import { checkGivenFields, createAdminRecord } from "./admin-records.ts";
import type { Counters } from "./id-counters.ts";

export interface SampleDependencies {
  resources: readonly Resource[];
  random: Random;
  counters: Counters;
}

const DAY = 86_400_000;
/** The newest records from which a sample chooses. */
const PAGE = 50;

/** To be called inside a transaction. `getCaller` is called after the fields were validated. */
export function makeRecord(deps: SampleDependencies, getCaller: () => OperationContext, resource: Resource, given: JsonObject): RecordBase {
  checkGivenFields(resource, given);
  const caller = getCaller();
  return createAdminRecord(resource, () => caller.own(resource), { ...sampleOf(deps, caller, resource, given), ...given });
}

function sampleOf(deps: SampleDependencies, caller: OperationContext, resource: Resource, given: JsonObject): JsonObject {
  if (!resource.sample) return {};
  const number = deps.counters.next(caller.merchant, "sample");
  const resourceOf = (kind: string) => deps.resources.find((one) => one.kind === kind) as Resource;
  const newest = (kind: string) => caller.own(resourceOf(kind)).newestOf(PAGE) as unknown as AnyRecord[];
  const context: SampleContext = {
    ...randomOf(deps.random, ["sample", caller.merchant, resource.kind, number]),
    given,
    status: (given.status ?? resource.defaults.status) as string | undefined,
    merchant: caller.own(resourceOf("merchant")).require(caller.merchant) as unknown as AnyRecord,
    own: caller.own,
    now: caller.now,
    number,
    day: (offset) => isoTime(Math.min(Math.max(caller.now * 1_000 + offset * DAY, 0), LATEST_TIME)).slice(0, 10),
    newest,
    someOf: (kind, meets = () => true) => newest(kind).find(meets) ?? (makeRecord(deps, () => caller, resourceOf(kind), {}) as AnyRecord),
    mint: caller.mint,
  };
  return resource.sample(context);
}

function randomOf(random: Random, name: readonly (string | number)[]): SampleRandom {
  const between = (word: string, from: number, to: number) => from + Math.floor(random.fraction(...name, word) * (to - from + 1));
  return { between, pick: <T>(word: string, of: readonly T[]) => of[between(word, 0, of.length - 1)] as T };
}
