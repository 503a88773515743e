// The OpenAPI documents are complete and match the responses of the sandbox. test/tools/openapi.test.ts runs other
// tools on them.

import { expect, test } from "vitest";
import { assumptions, controlOpenapi, serviceOpenapi } from "../../scripts/reference/documents.ts";
import { operationIdOf } from "../../scripts/reference/openapi.ts";
import { catalogue } from "../../src/areas/index.ts";
import { controlCatalogue } from "../../src/control/index.ts";
import { type ErrorCode, errors } from "../../src/kernel/errors.ts";
import { pascal } from "../../src/kernel/text.ts";
import type { OpenApiDocument, OpenApiForm } from "../../src/reference/openapi-forms.ts";
import { factOf } from "../../src/schema/assumed.ts";
import { fieldErrors } from "../../src/schema/validator.ts";
import { exampleEvents } from "../support/example-calls.ts";
import { open } from "../support/sandbox.ts";

// biome-ignore lint/suspicious/noExplicitAny: the tests read the documents as plain JSON, as other tools do.
type Json = any;

const ADDRESS = "http://127.0.0.1:4747";
const service: Json = serviceOpenapi(ADDRESS);
const control: Json = controlOpenapi(ADDRESS);

const copy = (document: OpenApiDocument): Json => JSON.parse(JSON.stringify(document));

test.each([
  ["the service", service, () => serviceOpenapi(ADDRESS)],
  ["the control API", control, () => controlOpenapi(ADDRESS)],
] as const)("the document of %s is plain JSON and deterministic", (_, document, generate) => {
  expect(copy(document)).toStrictEqual(document);
  expect(JSON.stringify(generate())).toBe(JSON.stringify(document));
  expect(JSON.stringify(document)).not.toContain('"~');
});

test("a running sandbox serves both documents in every form, with its own URL, and the assumptions", async () => {
  const sandbox = await open();
  for (const form of [{ version: "3.0" }, { extensions: "off" }] as OpenApiForm[]) {
    const query = new URLSearchParams({ ...form });
    expect(await sandbox.control("GET", `/openapi.json?${query}`)).toEqual(copy(serviceOpenapi(sandbox.url, form)));
    expect(await sandbox.control("GET", `/control.openapi.json?${query}`)).toEqual(
      copy(controlOpenapi(sandbox.url, form)),
    );
  }
  expect(await sandbox.control("GET", "/openapi.json")).toEqual(copy(serviceOpenapi(sandbox.url)));
  expect(await sandbox.control("GET", "/control.openapi.json")).toEqual(copy(controlOpenapi(sandbox.url)));
  expect(await sandbox.control("GET", "/assumptions")).toEqual(JSON.parse(JSON.stringify(assumptions())));
  expect(serviceOpenapi(sandbox.url).servers[0]?.url).toBe(sandbox.baseUrl);
});

const declared = [
  { document: service, operations: catalogue, prefix: "" },
  { document: control, operations: controlCatalogue, prefix: "/_sandbox" },
];

test("the documents contain exactly the operations of the catalogues", () => {
  for (const { document, operations, prefix } of declared) {
    const printed = Object.entries<Json>(document.paths).flatMap(([path, methods]) =>
      Object.entries<Json>(methods).map(
        ([method, { operationId, tags }]) => `${method.toUpperCase()} ${path} ${operationId} ${tags}`,
      ),
    );
    const expected = operations.map(
      ({ method, path, id, area }) => `${method} ${prefix}${path} ${operationIdOf(id)} ${area}`,
    );
    expect(printed.sort()).toEqual(expected.sort());
    expect(document.tags.map((tag: Json) => tag.name)).toEqual(
      expect.arrayContaining(operations.map(({ area }) => area)),
    );
  }
});

const resolved = (document: Json, part: Json): Json =>
  part.$ref === undefined
    ? part
    : part.$ref
        .split("/")
        .slice(1)
        .reduce((value: Json, step: string) => value[step], document);

const printedOperation = (document: Json, prefix: string, { path, method }: { path: string; method: string }) =>
  document.paths[prefix + path][method.toLowerCase()];

test("each operation lists its success status and its errors by status, with an example of each code", () => {
  for (const { document, operations, prefix } of declared)
    for (const operation of operations) {
      const { responses } = printedOperation(document, prefix, operation);
      const replies = Object.entries<Json>(responses).map(([status, response]) => ({
        status,
        ...resolved(document, response),
      }));
      expect(replies.map(({ status }) => status)).toContain(String(factOf(operation.status)));
      const failed = replies.filter(({ status }) => Number(status) >= 400);
      const found = failed.flatMap(({ status, content }) => {
        const { schema, examples } = content["application/json"];
        expect(schema).toEqual({ $ref: "#/components/schemas/ApiError" });
        expect(document.components.schemas.ErrorCode.enum).toEqual(expect.arrayContaining(Object.keys(examples)));
        return Object.entries<Json>(examples).map(([code, example]) => ({
          status,
          code,
          value: resolved(document, example).value,
        }));
      });
      for (const { status, code, value } of found) {
        const facts = errors[code as ErrorCode];
        expect({ code, status, ...value }).toMatchObject({
          code,
          status: String(facts.status),
          error: facts.error,
          message: facts.when,
        });
      }
      expect(found.map(({ code }) => code)).toEqual(expect.arrayContaining([...operation.errors]));
    }
});

test("each operation lists the pipeline errors, and body and idempotency errors only where they can occur", () => {
  const codesOf = (id: string) => {
    const operation = catalogue.find((found) => found.id === id);
    if (!operation) throw new Error(`no operation ${id}`);
    const { responses } = printedOperation(service, "", operation);
    const all = Object.values<Json>(responses).map((response) => resolved(service, response));
    return all.flatMap(({ content }) => Object.keys(content["application/json"].examples ?? {}));
  };
  const everywhere = [
    "missing_api_key",
    "invalid_api_key",
    "live_key_refused",
    "rate_limit_exceeded",
    "internal_error",
    "outage",
  ];
  const ofBodies = [
    "invalid_json",
    "body_not_object",
    "payload_too_large",
    "unsupported_media_type",
    "validation_failed",
  ];
  const ofKeys = ["idempotency_key_empty", "idempotency_key_too_long", "idempotency_key_reused"];
  expect(codesOf("bookings.decline")).toEqual(
    expect.arrayContaining([...everywhere, ...ofBodies, ...ofKeys, "invalid_state"]),
  );
  expect(codesOf("payments.list")).toEqual(expect.arrayContaining([...everywhere, "invalid_limit", "invalid_cursor"]));
  for (const code of [...ofBodies, ...ofKeys, "invalid_state"]) expect(codesOf("payments.list")).not.toContain(code);
});

test("the control API has no rate limits, idempotency keys or assumptions", () => {
  const text = JSON.stringify(control);
  // Descriptions may mention the service's keys and rate limits, but no control operation has them.
  const absent = ['"RateLimit-', '"name":"Idempotency-Key"', '"rate_limit_exceeded"', '"x-sandbox-assumed"'];
  expect(absent.filter((word) => text.includes(word))).toEqual([]);
  expect(JSON.stringify(service)).toContain('"name":"Idempotency-Key"');
  expect(control.security).toEqual([{}, { controlToken: [] }]);
});

test("the document's webhooks list every emitted event with the schema of its object", async () => {
  const bodies = await exampleEvents();
  const consequences = new Set(catalogue.flatMap(({ mayEmit }) => Object.keys(mayEmit)));
  const types = bodies.map(({ type }: Json) => type).filter((type: string) => !consequences.has(type));
  expect(types.sort()).toEqual(catalogue.flatMap(({ emits }) => emits.map(factOf)).sort());
  for (const body of bodies) {
    expect(Object.keys(body)).toEqual(Object.keys(service.components.schemas.WebhookEvent.properties));
    const { schema } = service.webhooks[body.type].post.requestBody.content["application/json"];
    const [, own] = resolved(service, schema).allOf;
    expect(own.properties.data).toEqual({ $ref: `#/components/schemas/${pascal(body.data.object)}` });
  }
});

/** The JSON media types of a document's requests and responses, each with its place in the document. */
function mediaIn(document: Json): { place: string; status?: string; media: Json }[] {
  return Object.entries<Json>({ ...document.paths, ...document.webhooks }).flatMap(([path, methods]) =>
    Object.entries<Json>(methods).flatMap(([method, { requestBody, responses }]) => [
      ...(requestBody ? [{ place: `${method} ${path} body`, media: requestBody.content["application/json"] }] : []),
      ...Object.entries<Json>(responses).flatMap(([status, response]) => {
        const media = resolved(document, response).content?.["application/json"];
        return media ? [{ place: `${method} ${path} ${status}`, status, media }] : [];
      }),
    ]),
  );
}

test.each([
  ["the service", service],
  ["the control API", control],
] as const)(
  "in the document of %s, every body and response has a named schema, and every path parameter an example",
  (_, document) => {
    const media = mediaIn(document);
    expect(media.filter(({ media }) => media.schema.$ref === undefined).map(({ place }) => place)).toEqual([]);
    const inPath = Object.values<Json>(document.paths).flatMap((methods) =>
      Object.values<Json>(methods).flatMap(({ parameters = [] }) =>
        parameters.filter((parameter: Json) => parameter.in === "path"),
      ),
    );
    expect(inPath.filter(({ example }) => example === undefined)).toEqual([]);
    const names = Object.keys(document.components.schemas);
    expect(
      names.filter(
        (name) => !/^[A-Z][A-Za-z0-9]*$/.test(name) || ["Error", "Event", "Record", "Object"].includes(name),
      ),
    ).toEqual([]);
    expect(new Set(names.map((name) => name.toLowerCase())).size).toBe(names.length);
  },
);

test("every successful response of the service has an example that matches its schema", () => {
  for (const operation of catalogue) {
    const { responses } = printedOperation(service, "", operation);
    const { example } = responses[factOf(operation.status)].content["application/json"];
    expect([operation.id, ...fieldErrors(operation.reply, example)]).toEqual([operation.id]);
  }
});

test("every area has a description", () => {
  for (const { document } of declared)
    expect(document.tags.filter(({ description }: Json) => description === "")).toEqual([]);
});

test("the request body of faults.add uses the schemas of the fault actions", () => {
  const { FaultsAddInput, FaultAction, RateLimitAction } = control.components.schemas;
  expect(FaultsAddInput.properties.action).toEqual({ $ref: "#/components/schemas/FaultAction" });
  expect(FaultAction.anyOf).toContainEqual({ $ref: "#/components/schemas/RateLimitAction" });
  expect(RateLimitAction.properties.type).toMatchObject({ const: "rate_limit" });
});
