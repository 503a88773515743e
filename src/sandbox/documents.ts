// Reads the documents that the build made from the declarations (`scripts/reference`), and gives the facts and
// operations with which recordings of the service are compared.

import { existsSync, readFileSync } from "node:fs";
import { catalogue, resources } from "../areas/index.ts";
import type { ComparedSandbox } from "../compare/recording.ts";
import { envelope, errorObject } from "../contracts/envelopes.ts";
import { factKinds, type ServiceFact } from "../contracts/fact.ts";
import { API_PREFIX } from "../contracts/paths.ts";
import { nearestOrAll } from "../kernel/did-you-mean.ts";
import { usageError } from "../kernel/errors.ts";
import { once } from "../kernel/once.ts";
import { eventsOf } from "../reference/events.ts";
import { inForm, type OpenApiDocument, type OpenApiForm } from "../reference/openapi-forms.ts";
import { operationTypes } from "../reference/operation-types.ts";
import { titledSchemas } from "../schema/walk.ts";
import { NO_ASSUMPTIONS } from "../store/assumptions.ts";
import { factsUnder, operationsUnder } from "./assumptions.ts";
import { withAssumptions } from "./openapi-with-assumptions.ts";
import { packageFile } from "./package-files.ts";

function readBuilt(name: string): string {
  const file = packageFile(`dist/${name}`);
  if (existsSync(file)) return readFileSync(file, "utf8");
  return usageError(`${file} has not been built: run npm run build.`);
}

function openapiAt(name: string, url: string): OpenApiDocument {
  const document = JSON.parse(readBuilt(name)) as OpenApiDocument;
  return { ...document, servers: document.servers.map((server) => ({ ...server, url })) };
}

/** The OpenAPI document of the service (default: OpenAPI 3.1, with the sandbox's extensions). */
export const serviceOpenapi = (url: string, form: OpenApiForm = {}, set = NO_ASSUMPTIONS) =>
  inForm(withAssumptions(openapiAt("openapi.json", url + API_PREFIX), set), form);

export const controlOpenapi = (url: string, form: OpenApiForm = {}) =>
  inForm(openapiAt("control.openapi.json", url), form);

/** The TypeScript types of the service's bodies, replies, errors and events. */
export const serviceTypesPage = () => readBuilt("service.d.ts");

/** The types of one operation's body and reply. */
export function operationTypesPage(id: string): string {
  const ids = catalogue.map((operation) => operation.id);
  const operation =
    catalogue.find((one) => one.id === id) ?? usageError(`There is no operation ${id}.${nearestOrAll(id, ids)}`);
  return operationTypes(serviceTypesPage(), operation);
}

/** The facts in the file of the build. `reason` is the index in `reasons` of a fact's origin and explanation. */
interface FactFile {
  reasons: Pick<ServiceFact, "origin" | "why" | "setting">[];
  facts: (Pick<ServiceFact, "id" | "kind" | "value" | "settable"> & { reason: number })[];
}

/** Every fact about the service. */
export const ownFacts = once((): ServiceFact[] => {
  const { reasons, facts } = JSON.parse(readBuilt("facts.json")) as FactFile;
  return facts.map(({ reason, ...fact }) => ({ ...fact, ...(reasons[reason] as FactFile["reasons"][number]) }));
});

/** Every fact about the service, with the values that this sandbox uses, and the kinds of facts. */
export function assumptions(set = NO_ASSUMPTIONS) {
  const facts = factsUnder(ownFacts(), set);
  return { kinds: factKinds, total: facts.filter(({ origin }) => origin === "assumed").length, facts };
}

const ownRecords = once(() =>
  titledSchemas([...resources.map(({ schema }) => schema), ...catalogue.map(({ reply }) => reply)]),
);

/** The facts and operations with which recordings of the service are compared. */
export const comparedSandbox = (set = NO_ASSUMPTIONS): ComparedSandbox => ({
  facts: factsUnder(ownFacts(), set),
  operations: operationsUnder(set),
  records: ownRecords(),
  // A merchant's address is unique among all merchants, by its login; the other constraints hold among the records of
  // one merchant.
  unique: new Map(resources.map(({ kind, unique }) => [kind, kind === "merchant" ? [["email"]] : unique])),
  eventKinds: new Map(eventsOf(catalogue, resources).map(({ type, kind }) => [type, kind ?? ""])),
  event: envelope,
  error: errorObject,
});
