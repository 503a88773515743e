// How declarations become an OpenAPI document: components, assumption marks and omissions.

import { describe, expect, test } from "vitest";
import { endpointFactory } from "../../src/contracts/endpoint.ts";
import { controlSurface, type DeclaredOperation, serviceSurface } from "../../src/reference/api-surface.ts";
import { eventsOf } from "../../src/reference/events.ts";
import { openapi } from "../../src/reference/openapi.ts";
import { ASSUMED, assumed } from "../../src/schema/assumed.ts";
import { nullable, Type, text } from "../../src/schema/shapes.ts";

const declare = endpointFactory<object>();
const service = serviceSurface("http://127.0.0.1:1", "1.2.3");
const control = controlSurface("http://127.0.0.1:1", "1.2.3");

// biome-ignore lint/suspicious/noExplicitAny: the document is looked at as the JSON that tools read.
type Json = any;

const print = (surface: typeof service, ...operations: DeclaredOperation[]): Json => openapi(surface, operations, eventsOf(operations, []));

const Keeper = Type.Object({ name: text("Who keeps it") }, { title: "keeper" });

const base = { area: "Zoo", summary: "Read an animal", handle: () => ({}) as never } as const;

const read = declare({
  ...base,
  id: "animals.get",
  method: "GET",
  path: "/zoos/{zooId}/animals/{id}",
  exampleParams: { zooId: "zoo_main", id: "ani_leo" },
  query: Type.Object({ depth: Type.Integer({ description: "How much" }), since: assumed(Type.Optional(Type.String()), "Nobody said.") }),
  reply: Type.Object({ keeper: Keeper, deputy: nullable(Keeper), tags: Type.Record(Type.String()), notes: Type.Unknown() }),
  headers: { "Cache-Control": "no-store" },
  errors: ["resource_not_found"],
});

const feed = declare({
  ...base,
  id: "animals.feed",
  method: "POST",
  path: "/animals/feed",
  body: assumed(Type.Object({ food: text("What it gets") }), "The service's documentation does not show this body.", "--bodies open"),
  example: { food: "hay" },
  reply: Keeper,
  status: 202,
  emits: ["keeper.fed", assumed("animal.fed", "Derived.")],
});

const free = declare({ ...base, id: "animals.free", method: "DELETE", path: "/animals/{id}", reply: Keeper, idempotent: false });

describe("schemas", () => {
  const document = print(service, read, feed);
  const reply = document.paths["/zoos/{zooId}/animals/{id}"].get.responses[200].content["application/json"].schema;

  test("a titled schema becomes a component; a nullable one is a union of its reference and null", () => {
    const pointer = { $ref: "#/components/schemas/keeper" };
    expect(reply.properties.keeper).toEqual(pointer);
    expect(reply.properties.deputy).toEqual({ anyOf: [pointer, { type: "null" }] });
    expect(document.paths["/animals/feed"].post.responses[202].content["application/json"].schema).toEqual(pointer);
    expect(document.components.schemas.keeper).toEqual({
      type: "object",
      title: "keeper",
      required: ["name"],
      properties: { name: { type: "string", description: "Who keeps it", maxLength: 5000 } },
    });
  });

  test("a record becomes additionalProperties, and an unknown value an empty schema", () => {
    expect(reply.properties.tags).toEqual({ type: "object", additionalProperties: { type: "string" } });
    expect(reply.properties.notes).toEqual({});
  });

  test("two different schemas with the same title throw an error that names the title", () => {
    const other = { ...feed, id: "other", path: "/other", reply: Type.Object({ name: Type.Integer() }, { title: "keeper" }) };
    expect(() => print(service, feed, other)).toThrow("Two different schemas have the title keeper");
  });
});

test("parameters are path parameters with examples, query parameters and, if honoured, the idempotency key", () => {
  const document = print(service, read, feed, free);
  const { parameters } = document.paths["/zoos/{zooId}/animals/{id}"].get;
  expect(parameters).toEqual([
    { name: "zooId", in: "path", required: true, description: "Id of the zoo", schema: { type: "string" }, example: "zoo_main" },
    { name: "id", in: "path", required: true, description: "Id of the record", schema: { type: "string" }, example: "ani_leo" },
    { name: "depth", in: "query", required: true, description: "How much", schema: { type: "integer" } },
    { name: "since", in: "query", schema: { type: "string", [ASSUMED]: { why: "Nobody said." } } },
  ]);
  expect(document.paths["/animals/feed"].post.parameters).toEqual([{ $ref: "#/components/parameters/Idempotency-Key" }]);
  expect(document.paths["/animals/{id}"].delete.parameters.map(({ name }: Json) => name)).toEqual(["id"]);
});

test("a body has its example and mark; without a declared body there is no requestBody, but the body errors remain", () => {
  const document = print(service, feed, free);
  const { requestBody } = document.paths["/animals/feed"].post;
  expect(requestBody.required).toBe(true);
  expect(requestBody.content["application/json"].example).toEqual({ food: "hay" });
  expect(requestBody.content["application/json"].schema[ASSUMED]).toEqual({
    why: "The service's documentation does not show this body.",
    setting: "--bodies open",
  });
  const removal = document.paths["/animals/{id}"].delete;
  expect(removal.requestBody).toBeUndefined();
  expect(Object.keys(removal.responses)).toEqual(["200", "400", "401", "403", "413", "415", "429", "500", "503"]);
});

test("a response has the headers of its surface and the fixed headers of its operation", () => {
  const document = print(service, read, feed);
  const { headers } = document.paths["/zoos/{zooId}/animals/{id}"].get.responses[200];
  expect(headers["Cache-Control"]).toEqual({ schema: { type: "string", const: "no-store" } });
  expect(Object.keys(headers)).toEqual(expect.arrayContaining(["RateLimit-Limit", "RateLimit-Reset", "X-Sandbox-Request-Id"]));
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
  const [envelope, own] = requestBody.content["application/json"].schema.allOf;
  expect(envelope).toEqual({ $ref: "#/components/schemas/event" });
  expect(own.properties).toEqual({ type: { type: "string", const: "keeper.fed" }, data: { $ref: "#/components/schemas/keeper" } });
  expect(webhooks["animal.fed"].post.requestBody.content["application/json"].schema.allOf[1].properties).not.toHaveProperty("data");
  const headers = parameters.map(({ $ref }: Json) => components.parameters[$ref.split("/").at(-1)]);
  expect(headers.map(({ name }: Json) => name)).toEqual(["X-Webhook-Signature", "X-Webhook-Id", "X-Webhook-Event"]);
  expect([security, Object.keys(responses)]).toEqual([[], ["2XX"]]);
});

test("the control plane has its own prefix, security and errors, and no assumption marks", () => {
  const document = print({ ...control, prefix: "/_zoo" }, read, { ...feed, emits: [] });
  expect(Object.keys(document.paths)).toEqual(["/_zoo/zoos/{zooId}/animals/{id}", "/_zoo/animals/feed"]);
  expect(document.servers[0].url).toBe("http://127.0.0.1:1");
  expect(document.info.version).toBe("1.2.3");
  expect(document).not.toHaveProperty("webhooks");
  expect(JSON.stringify(document)).not.toContain(ASSUMED);
  expect(Object.keys(document.paths["/_zoo/animals/feed"].post.responses)).toEqual(["202", "400", "403", "413", "415", "500"]);
});
