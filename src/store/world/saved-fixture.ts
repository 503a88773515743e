// Writes a merchant and its records as a fixture, from which a sandbox can start with the same data.

import { isDeepStrictEqual } from "node:util";
import type { AnyRecord, OwnRecords, RecordBase, Resource } from "../../contracts/resource.ts";
import { isoTime } from "../../kernel/clock.ts";
import { fixtureFields } from "../records/record-fields.ts";
import type { FixtureRecord } from "./fixtures.ts";

const MERCHANT_PREFIX = "mer_";

/**
 * A fixture with all records of a merchant, oldest first. Leaves out default values and secrets: webhook endpoints, the
 * password, and the API key, which a readable one replaces. `own` reads the records of the merchant.
 */
export function savedFixture(resources: readonly Resource[], merchant: AnyRecord, own: OwnRecords, now: number) {
  const kinds = resources.filter(({ hidden, kind }) => hidden.length === 0 && kind !== "merchant");
  const lists = kinds.map((resource) => {
    const records: readonly RecordBase[] = own(resource).all();
    return [resource.kind, records.map((record) => givenFields(resource, record as AnyRecord))] as const;
  });
  const profile = resources.find(({ kind }) => kind === "merchant") as Resource;
  const { id, email, ...fields } = givenFields(profile, merchant);
  return {
    description: `${merchant.name ?? merchant.id}, saved at ${isoTime(now)}.`,
    asOf: isoTime(now).slice(0, 10),
    merchant: { id, email, apiKey: `sk_test_${merchant.id.replace(MERCHANT_PREFIX, "")}`, ...fields },
    records: Object.fromEntries(lists.filter(([, records]) => records.length > 0)),
  };
}

/** The fields that a fixture must name: those that differ from what seeding fills in. */
function givenFields(resource: Resource, record: AnyRecord): FixtureRecord {
  const { properties } = fixtureFields(resource);
  const filled: Readonly<Record<string, unknown>> = { metadata: {}, ...resource.defaults };
  const isGiven = (name: string) => Object.hasOwn(properties, name) || !Object.hasOwn(resource.schema.properties, name);
  return Object.fromEntries(
    Object.entries(record).filter(([name, value]) => isGiven(name) && !isDeepStrictEqual(value, filled[name] ?? null)),
  );
}
