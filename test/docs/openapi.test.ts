// How declarations become an OpenAPI document: components, assumption marks and omissions.

import { describe, expect, test } from "vitest";
import { type DeclaredOperation, serviceSurface } from "../../scripts/reference/api-surface.ts";
import { openapi } from "../../scripts/reference/openapi.ts";
import { endpointFactory } from "../../src/areas/declare/operation.ts";
import { eventsOf } from "../../src/reference/events.ts";
import { inForm } from "../../src/reference/openapi-forms.ts";
import { ASSUMED, assumed } from "../../src/schema/assumed.ts";
import { nullable, oneOf, Type, text } from "../../src/schema/shapes.ts";

const declare = endpointFactory<object>();
const service = serviceSurface("http://127.0.0.1:1", "1.2.3");

// biome-ignore lint/suspicious/noExplicitAny: the tests read the documents as plain JSON, as other tools do.
type Json = any;

const print = (surface: typeof service, ...operations: DeclaredOperation[]): Json =>
  openapi({ surface, operations, events: eventsOf(operations, []) });

const Keeper = Type.Object({ name: text("Who keeps it") }, { title: "keeper" });

const base = { area: "Zoo", summary: "Read an animal", handle: () => ({}) as never } as const;

const read = declare({
  ...base,
  id: "animals.get",
  method: "GET",
  path: "/zoos/{zooId}/animals/{id}",
  exampleParams: { zooId: "zoo_main", id: "ani_leo" },
  query: Type.Object({
    depth: Type.Integer({ description: "How much" }),
    since: assumed(Type.Optional(Type.String()), "Nobody said."),
  }),
  reply: Type.Object({
    keeper: Keeper,
    deputy: nullable(Keeper),
    tags: Type.Record(Type.String()),
    notes: Type.Unknown(),
  }),
  headers: { "Cache-Control": "no-store" },
  errors: ["resource_not_found"],
});

const feed = declare({
  ...base,
  id: "animals.feed",
  method: "POST",
  path: "/animals/feed",
  body: assumed(
    Type.Object({ food: text("What it gets") }),
    "The service's documentation does not show this body.",
    "--bodies open",
  ),
  example: { food: "hay" },
  reply: Keeper,
  status: 202,
  emits: ["keeper.fed", assumed("animal.fed", "Derived.")],
});

const free = declare({
  ...base,
  id: "animals.free",
  method: "DELETE",
  path: "/animals/{id}",
  reply: Keeper,
  idempotent: false,
});

describe("schemas", () => {
  const document = print(service, read, feed);
  const reply = document.components.schemas.AnimalsGetReply;

  test("a titled schema becomes a component, and if nullable, a union of its reference and null", () => {
    const pointer = { $ref: "#/components/schemas/Keeper" };
    expect(reply.properties.keeper).toEqual(pointer);
    expect(reply.properties.deputy).toEqual({ anyOf: [pointer, { type: "null" }] });
    expect(document.paths["/animals/feed"].post.responses[202].content["application/json"].schema).toEqual(pointer);
    expect(document.components.schemas.Keeper).toEqual({
      type: "object",
      required: ["name"],
      properties: { name: { type: "string", description: "Who keeps it", maxLength: 5000 } },
    });
  });

  test("a record becomes additionalProperties, and an unknown value an empty schema", () => {
    expect(reply.properties.tags).toEqual({ type: "object", additionalProperties: { type: "string" } });
    expect(reply.properties.notes).toEqual({});
  });

  test("two different schemas with the same title cause an error that names the title", () => {
    const other = {
      ...feed,
      id: "other",
      path: "/other",
      reply: Type.Object({ name: Type.Integer() }, { title: "keeper" }),
    };
    expect(() => print(service, feed, other)).toThrow("Two different schemas have the name Keeper");
  });
});

test("an operation lists path parameters with examples, its query and, if it accepts one, an idempotency key", () => {
  const document = print(service, read, feed, free);
  const { parameters } = document.paths["/zoos/{zooId}/animals/{id}"].get;
  expect(parameters).toEqual([
    {
      name: "zooId",
      in: "path",
      required: true,
      description: "Id of the zoo",
      schema: { type: "string" },
      example: "zoo_main",
    },
    {
      name: "id",
      in: "path",
      required: true,
      description: "Id of the record",
      schema: { type: "string" },
      example: "ani_leo",
    },
    { name: "depth", in: "query", required: true, description: "How much", schema: { type: "integer" } },
    { name: "since", in: "query", schema: { type: "string", [ASSUMED]: { why: "Nobody said." } } },
  ]);
  expect(document.paths["/animals/feed"].post.parameters).toMatchObject([
    { name: "Idempotency-Key", in: "header", example: "animals.feed-1" },
  ]);
  expect(document.paths["/animals/{id}"].delete.parameters.map(({ name }: Json) => name)).toEqual(["id"]);
});

test("a body has its example and assumption mark; an operation without a body still lists body errors", () => {
  const document = print(service, feed, free);
  const { requestBody } = document.paths["/animals/feed"].post;
  expect(requestBody.required).toBe(true);
  expect(requestBody.content["application/json"].example).toEqual({ food: "hay" });
  expect(requestBody.content["application/json"].schema).toEqual({ $ref: "#/components/schemas/AnimalsFeedInput" });
  expect(document.components.schemas.AnimalsFeedInput[ASSUMED]).toEqual({
    why: "The service's documentation does not show this body.",
    setting: "--bodies open",
  });
  const removal = document.paths["/animals/{id}"].delete;
  expect(removal.requestBody).toBeUndefined();
  expect(Object.keys(removal.responses)).toEqual(["200", "400", "401", "403", "413", "415", "429", "500", "503"]);
});

test("a response has the headers of the API and the fixed headers of its operation", () => {
  const document = print(service, read, feed);
  const { headers } = document.paths["/zoos/{zooId}/animals/{id}"].get.responses[200];
  expect(headers["Cache-Control"]).toEqual({ schema: { type: "string", const: "no-store" } });
  expect(Object.keys(headers)).toEqual(
    expect.arrayContaining(["RateLimit-Limit", "RateLimit-Reset", "X-Sandbox-Request-Id"]),
  );
  expect(Object.keys(headers)).not.toContain("Idempotent-Replayed");
  expect(Object.keys(document.paths["/animals/feed"].post.responses[202].headers)).toContain("Idempotent-Replayed");
  expect(Object.keys(document.components.responses.TooManyRequests.headers)).toContain("Retry-After");
});

test("assumed statuses and events are marked; documented ones are not", () => {
  const document = print(service, read, feed);
  expect(document.paths["/zoos/{zooId}/animals/{id}"].get.responses[200][ASSUMED].why).toContain("OK");
  expect(document.paths["/animals/feed"].post.responses[202]).not.toHaveProperty(ASSUMED);
  expect(document.components.responses.Unauthorized).toHaveProperty(ASSUMED);
  expect(document.components.responses.TooManyRequests).not.toHaveProperty(ASSUMED);
  expect(document.paths["/animals/feed"].post["x-sandbox-emits"]).toEqual([
    { event: "keeper.fed" },
    { event: "animal.fed", [ASSUMED]: { why: "Derived." } },
  ]);
});

test("each event has a webhook entry with its envelope, its object if declared, and the delivery headers", () => {
  const { webhooks, components } = print(service, feed);
  expect(Object.keys(webhooks)).toEqual(["keeper.fed", "animal.fed"]);
  const { parameters, requestBody, security, responses } = webhooks["keeper.fed"].post;
  expect(requestBody.content["application/json"].schema).toEqual({ $ref: "#/components/schemas/KeeperFedEvent" });
  const [envelope, own] = components.schemas.KeeperFedEvent.allOf;
  expect(envelope).toEqual({ $ref: "#/components/schemas/WebhookEvent" });
  expect(own.properties).toEqual({
    type: { type: "string", const: "keeper.fed" },
    data: { $ref: "#/components/schemas/Keeper" },
  });
  expect(components.schemas.AnimalFedEvent.allOf[1].properties).not.toHaveProperty("data");
  const headers = parameters.map(({ $ref }: Json) => components.parameters[$ref.split("/").at(-1)]);
  expect(headers.map(({ name }: Json) => name)).toEqual(["X-Webhook-Signature", "X-Webhook-Id", "X-Webhook-Event"]);
  expect([security, Object.keys(responses)]).toEqual([[], ["2XX"]]);
});

test("a pattern that is valid only with the flag u is left out", () => {
  const reply = Type.Object({
    letters: Type.String({ pattern: "^\\p{L}$" }),
    digits: Type.String({ pattern: "^[0-9]$" }),
  });
  const { properties } = print(service, { ...read, reply }).components.schemas.AnimalsGetReply;
  expect(properties).toEqual({ letters: { type: "string" }, digits: { type: "string", pattern: "^[0-9]$" } });
});

describe("forms", () => {
  const document = print(service, read, feed);

  test("without extensions, the document has no x-sandbox-* fields", () => {
    expect(JSON.stringify(document)).toContain('"x-sandbox-');
    expect(JSON.stringify(inForm(document, { extensions: "off" }))).not.toContain('"x-sandbox-');
    expect(inForm(document, {})).toEqual(document);
  });

  test("OpenAPI 3.0 has nullable types, enums instead of const, and the webhooks under x-webhooks", () => {
    const reply = Type.Object({
      keeper: nullable(Keeper),
      age: nullable(Type.Integer({ exclusiveMinimum: 0 })),
      either: Type.Union([Type.String(), Type.Integer(), Type.Null()]),
      kind: oneOf(["animal"], ""),
      codes: Type.Record(Type.Integer()),
    });
    const older: Json = inForm(print(service, { ...read, reply }, feed), { version: "3.0" });
    const none = { type: "object", nullable: true, enum: [null] };
    expect([older.openapi, older.info.license.name]).toEqual(["3.0.3", "MIT"]);
    expect(Object.keys(older["x-webhooks"])).toEqual(["keeper.fed", "animal.fed"]);
    expect(older).not.toHaveProperty("webhooks");
    expect(older.components.schemas.AnimalsGetReply.properties).toEqual({
      keeper: { anyOf: [{ $ref: "#/components/schemas/Keeper" }, none] },
      age: { type: "integer", minimum: 0, exclusiveMinimum: true, nullable: true },
      either: {
        anyOf: [{ type: "string" }, { type: "integer" }, none],
      },
      kind: { type: "string", description: "", enum: ["animal"] },
      codes: { type: "object", additionalProperties: { type: "integer" } },
    });
  });
});
