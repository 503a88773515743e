// The service that a sandbox emulates: the plain one, or the one that a service file describes. Checks the entries of
// the file.

import { catalogue, resources } from "../areas/index.ts";
import { ownValues, type ServiceValues } from "../contracts/service-values.ts";
import { SandboxError } from "../kernel/errors.ts";
import { mask } from "../kernel/mask.ts";
import { escapePointer } from "../schema/json-pointer.ts";
import { fieldErrors } from "../schema/validator.ts";
import { createFileCheck } from "../service/file-check.ts";
import { operationUnder } from "../service/operations.ts";
import { type AdoptedFacts, adoptedFacts, type ServiceFile, serviceFileSchema } from "../service/service-file.ts";
import { createTranslation, type Translation } from "../service/translate-reply.ts";
import { isFields } from "../service/translator.ts";
import { valuesUnder } from "../service/values.ts";
import type { Operation } from "../store/operation-context.ts";
import { errorAt, readJsonFile } from "../store/world/json-file.ts";
import { scheduleOf } from "../webhooks/retry-schedule.ts";

export interface Service {
  values: ServiceValues;
  operations: readonly Operation[];
  /** Only with a service file. */
  translation?: Translation;
  /** Only with a service file: its path as it was named, its text and its facts. */
  file?: string;
  given?: ServiceFile;
  facts?: AdoptedFacts;
}

export const plainService: Service = { values: ownValues, operations: catalogue };

export async function readService(file: string): Promise<Service> {
  const source = await readJsonFile(file);
  if (!isFields(source.value) || !("facts" in source.value))
    throw new SandboxError(
      `${file}:1: a service file has its entries under "facts", such as {"facts": {"bookings.decline.status": 202}}; received ${shownForm(source.value)}.`,
      "badFixture",
    );
  const given = source.value as ServiceFile;
  const [wrong] = fieldErrors(serviceFileSchema, given);
  const problem = wrong ?? (await firstRefused(given));
  if (problem) throw await errorAt(source, problem.pointer, problem.message);
  return { file, given, ...serviceOf(adoptedFacts(given)) };
}

/** The service with the facts of a file that has been checked. */
const serviceOf = (facts: AdoptedFacts) => ({
  facts,
  values: valuesUnder(facts, scheduleOf("fast").gaps),
  operations: catalogue.map((operation) => operationUnder(operation, facts)),
  translation: createTranslation(facts, new Map(resources.map(({ kind, schema }) => [kind, schema]))),
});

const MOST_NAMES = 3;

/** Describes the form of a file for an error message, with the names of its first fields. */
function shownForm(value: unknown): string {
  if (!isFields(value)) return Array.isArray(value) ? "a list" : value === null ? "null" : `a ${typeof value}`;
  const names = Object.keys(value).slice(0, MOST_NAMES);
  return names.length === 0
    ? "an empty object"
    : `an object with ${mask(names.map((name) => JSON.stringify(name)).join(", "))}`;
}

/** Finds the first entry that cannot be adopted together with the others; undefined if all can. */
async function firstRefused({ facts: entries }: ServiceFile) {
  const { ownFacts } = await import("./documents.ts");
  const refused = createFileCheck({ facts: ownFacts(), operations: catalogue.map(({ id }) => id) })(entries);
  return refused && { pointer: `/facts/${escapePointer(refused.id)}`, message: refused.message };
}
