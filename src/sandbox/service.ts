// Reads the service file of a sandbox, and refuses what the sandbox cannot adopt.

import { createHash } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { catalogue, resources } from "../areas/index.ts";
import type { ServiceFact } from "../contracts/fact.ts";
import { DEFAULT_LIMIT, type RateLimit } from "../http/rate-limit.ts";
import { SandboxError } from "../kernel/errors.ts";
import { mask } from "../kernel/mask.ts";
import { escapePointer } from "../schema/json-pointer.ts";
import { fieldErrors } from "../schema/validator.ts";
import { type AdoptedFacts, adoptedFacts } from "../service/adopted-facts.ts";
import { type Adoption, createAdoption } from "../service/adoption.ts";
import { createFileCheck, type RefusedEntry } from "../service/fact-check.ts";
import { type ServiceFile, serviceFileSchema } from "../service/service-file.ts";
import { errorAt, readJsonFile } from "../store/world/json-file.ts";
import { scheduleOf } from "../webhooks/retry-schedule.ts";

export interface Service extends Adoption {
  /** The file, as it was named. */
  file: string;
  /** Undefined where the file says nothing about it. */
  rateLimit: RateLimit | undefined;
  /** Milliseconds before each attempt of a delivery; undefined where the file says nothing about them. */
  gaps: readonly number[] | undefined;
  /** Identifies its facts, whatever their order and evidence. */
  hash: string;
  given: ServiceFile;
}

export async function readService(file: string): Promise<Service> {
  const source = await readJsonFile(file);
  if (!isObject(source.value) || !("facts" in source.value))
    throw new SandboxError(
      `${file}:1: a service file has its entries under "facts", such as {"facts": {"bookings.decline.status": 202}}; received ${shownForm(source.value)}.`,
      "badFixture",
    );
  const [wrong] = fieldErrors(serviceFileSchema, source.value);
  if (wrong) throw await errorAt(source, wrong.pointer, wrong.message);
  const given = source.value as ServiceFile;
  const facts = adoptedFacts(given);
  const refused = await firstRefused(given);
  if (refused) throw await errorAt(source, `/facts/${escapePointer(refused.id)}`, refused.message);
  return {
    ...createAdoption(facts, catalogue, records()),
    file,
    given,
    hash: hashOf(facts.values),
    rateLimit: rateLimitOf(facts),
    gaps: gapsOf(facts),
  };
}

const isObject = (value: unknown): value is object => typeof value === "object" && value !== null && !Array.isArray(value);

const MOST_NAMES = 3;

/** The form of a whole file, with the names of its first fields. */
function shownForm(value: unknown): string {
  if (!isObject(value)) return Array.isArray(value) ? "a list" : value === null ? "null" : `a ${typeof value}`;
  const names = Object.keys(value).slice(0, MOST_NAMES);
  return names.length === 0 ? "an empty object" : `an object with ${mask(names.map((name) => JSON.stringify(name)).join(", "))}`;
}

function rateLimitOf(facts: AdoptedFacts): RateLimit | undefined {
  const [limit, seconds] = [facts.number("rate_limit.limit"), facts.number("rate_limit.seconds")];
  if (limit === undefined && seconds === undefined) return undefined;
  return { limit: limit ?? DEFAULT_LIMIT.limit, window: seconds === undefined ? DEFAULT_LIMIT.window : seconds * 1_000 };
}

const MOST_RETRIES = 100;

/** The default schedule with the gaps that the file has, as far as the service retries. */
function gapsOf(facts: AdoptedFacts): number[] | undefined {
  const { gaps } = scheduleOf("fast");
  const adopted = [...gaps];
  for (let retry = 1; retry <= MOST_RETRIES; retry++) {
    const seconds = facts.value(`webhook.schedule.${retry}`);
    if (seconds === "no attempt") return adopted.slice(0, retry);
    if (typeof seconds === "number") adopted[retry] = seconds * 1_000;
    else if (retry >= gaps.length) break;
  }
  return adopted.every((gap, index) => gap === gaps[index]) ? undefined : adopted;
}

/** The schemas of the records, by kind. */
const records = () => new Map(resources.map(({ kind, schema }) => [kind, schema]));

async function firstRefused({ facts: entries }: ServiceFile): Promise<RefusedEntry | undefined> {
  const facts = builtFacts() ?? (await import("./documents.ts")).assumptions().facts;
  return createFileCheck({ facts, operations: catalogue.map(({ id }) => id) })(entries);
}

/** Facts in the file of the build that differ only in id and value. */
interface FactGroup extends Omit<ServiceFact, "id" | "value"> {
  values: Record<string, ServiceFact["value"]>;
}

/** The list that the build makes; undefined if the sandbox runs from its sources. */
function builtFacts(): ServiceFact[] | undefined {
  const file = join(import.meta.dirname, "facts.json");
  if (!existsSync(file)) return undefined;
  const groups = JSON.parse(readFileSync(file, "utf8")) as FactGroup[];
  return groups.flatMap(({ values, ...shared }) => Object.entries(values).map(([id, value]) => ({ ...shared, id, value })));
}

const hashOf = (values: ReadonlyMap<string, unknown>) =>
  createHash("sha256")
    .update(JSON.stringify([...values].toSorted(([one], [other]) => (one < other ? -1 : 1))))
    .digest("hex")
    .slice(0, 16);
