// Generates the OpenAPI 3.1 document of an API surface.

import { STATUS_CODES } from "node:http";
import { paramNames } from "../../src/client/control-call.ts";
import { envelope } from "../../src/contracts/envelopes.ts";
import { pascal } from "../../src/kernel/text.ts";
import type { EventType } from "../../src/reference/events.ts";
import { deliveryHeaders, idempotencyKey } from "../../src/reference/headers.ts";
import type { OpenApiDocument } from "../../src/reference/openapi-forms.ts";
import { ASSUMED, factOf, isAssumed } from "../../src/schema/assumed.ts";
import { type TSchema, Type } from "../../src/schema/shapes.ts";
import { areasOf, type Catalogue, type DeclaredOperation, describePathParameter, shownOn } from "./api-surface.ts";
import { type Components, createComponents } from "./components.ts";
import { errorSchemaOf, failures, headersOf, omitIfEmpty } from "./error-replies.ts";
import { examplePathOf, type Replies } from "./examples.ts";
import type { DocumentedKeywords, Printed } from "./subschemas.ts";
import { camel } from "./typescript.ts";

export interface OpenApiSource extends Catalogue {
  events?: readonly EventType[];
  /** One sentence about each area. */
  areas?: Readonly<Record<string, string>>;
  /** Response bodies of the example requests, by operation id. */
  replies?: Replies;
  /** Names of schemas without a title. */
  names?: Readonly<Record<string, TSchema>>;
}

/** The inputs for generating the parts of a document. */
interface Printing extends Required<Omit<OpenApiSource, "names" | "events">> {
  components: Components;
  errorSchema: TSchema;
}

const EVENTS_TAG = {
  name: "Events",
  description: "The signed webhooks that the sandbox sends to subscribed endpoints, one entry for each event type.",
};

export function openapi({
  surface,
  operations: declared,
  events = [],
  areas = {},
  replies = {},
  names,
}: OpenApiSource): OpenApiDocument {
  const operations = shownOn(surface, declared);
  const components = createComponents(names);
  const printing = { surface, operations, areas, replies, components, errorSchema: errorSchemaOf(surface, operations) };
  const { scheme, description, required } = surface.security;
  const paths = pathsOf(printing);
  const webhooks = Object.fromEntries(events.map((event) => [event.type, { post: delivery(event, components) }]));
  return {
    openapi: "3.1.1",
    info: {
      title: surface.title,
      description: surface.description,
      version: surface.version,
      contact: { name: "merchant-sandbox" },
      license: { name: "MIT", identifier: "MIT" },
    },
    servers: [{ url: surface.server, description: "This sandbox" }],
    tags: [...tagsOf(printing), ...(events.length > 0 ? [EVENTS_TAG] : [])],
    security: [...(required ? [] : [{}]), { [scheme]: [] }],
    paths,
    ...(events.length > 0 ? { webhooks } : {}),
    components: { securitySchemes: { [scheme]: { type: "http", scheme: "bearer", description } }, ...components.all() },
  };
}

const tagsOf = ({ operations, areas }: Printing): OpenApiDocument["tags"] =>
  areasOf(operations).map(([name]) => ({ name, description: areas[name] ?? "" }));

/** Paths with a deletion come last. A tool that calls the operations in order can then still use the record. */
function pathsOf(printing: Printing): Record<string, Printed> {
  const { surface, operations } = printing;
  const paths: Record<string, Printed> = {};
  for (const isDeletion of [false, true])
    for (const operation of operations.filter(({ method }) => (method === "DELETE") === isDeletion)) {
      const path = surface.prefix + operation.path;
      paths[path] = { ...paths[path], [operation.method.toLowerCase()]: operationOf(operation, printing) };
    }
  return paths;
}

function operationOf(operation: DeclaredOperation, printing: Printing): Printed {
  const { id, area, summary, emits } = operation;
  const { surface, components, errorSchema } = printing;
  const parameters = parametersOf(operation, printing);
  const body = bodyOf(operation, components);
  const emitted = emits.map((fact) => ({
    event: factOf(fact),
    ...(isAssumed(fact) ? { [ASSUMED]: fact.assumption } : {}),
  }));
  return {
    operationId: operationIdOf(id),
    summary,
    description: describe(operation),
    tags: [area],
    ...(parameters.length > 0 ? { parameters } : {}),
    ...(body ? { requestBody: body } : {}),
    responses: { ...success(operation, printing), ...failures(surface, operation, errorSchema, components) },
    // The operation's name in fault rules, in the request log and in reports.
    "x-sandbox-operation": id,
    ...(emitted.length > 0 ? { "x-sandbox-emits": emitted } : {}),
  };
}

function describe(operation: DeclaredOperation): string {
  const { summary, description, emits, mayEmit } = operation;
  const events = [
    ...emits.map((fact) => `\`${factOf(fact)}\``),
    ...Object.entries(mayEmit).map(([type, when]) => `\`${type}\` ${when}`),
  ].join(", and ");
  const parts = [description || `${summary}.`, events ? `Emits ${events}.` : ""];
  return parts.filter((part) => part !== "").join(" ");
}

function parametersOf(operation: DeclaredOperation, { surface, operations, replies, components }: Printing): Printed[] {
  const { id, path, query, idempotent } = operation;
  const examples = examplePathOf({ surface, operations }, operation, replies);
  const inPath = paramNames(path).map((name) => ({
    name,
    in: "path",
    required: true,
    description: describePathParameter(name),
    schema: { type: "string" },
    example: examples[name] ?? `${name}_1`,
  }));
  const inQuery = Object.entries(query.properties).map(([name, schema]) => ({
    ...parameter("query", name, schema, components),
    ...(query.required?.includes(name) ? { required: true } : {}),
  }));
  const takesKey = idempotent && surface.errors.key.length > 0;
  // An example for each operation, because tools send the example unchanged, and the same key for two operations
  // returns 422.
  const key = { ...parameter("header", idempotencyKey.name, idempotencyKey.schema, components), example: `${id}-1` };
  return [...inPath, ...inQuery, ...(takesKey ? [key] : [])];
}

function parameter(place: "query" | "header", name: string, schema: TSchema, components: Components): Printed {
  const { description, ...shape } = components.schema(schema);
  return { name, in: place, ...(description === undefined ? {} : { description }), schema: shape };
}

function bodyOf({ id, body, example }: DeclaredOperation, components: Components): Printed | undefined {
  if (!body) return undefined;
  const content = { schema: components.named(bodyNameOf(id), body), ...(example ? { example } : {}) };
  return { required: (body.required?.length ?? 0) > 0, content: { "application/json": content } };
}

function success(operation: DeclaredOperation, { surface, components, replies }: Printing): Record<string, Printed> {
  const { id, status, reply, documents, headers } = operation;
  const others = Object.values(documents).map((type) => [type, { schema: { type: "string" } }]);
  const fixed = Object.entries(headers).map(([name, value]) => [name, { schema: { type: "string", const: value } }]);
  const example = replies[id];
  const content = {
    schema: components.named(replyNameOf(operation, components), reply),
    ...(example !== undefined && { example }),
  };
  const response = {
    description: STATUS_CODES[factOf(status)],
    ...omitIfEmpty("headers", {
      ...headersOf(surface, operation, factOf(status), components),
      ...Object.fromEntries(fixed),
    }),
    ...(factOf(status) === 204 ? {} : { content: { "application/json": content, ...Object.fromEntries(others) } }),
    ...(isAssumed(status) ? { [ASSUMED]: status.assumption } : {}),
  };
  return { [factOf(status)]: response };
}

function delivery({ type, data, kind, assumption }: EventType, components: Components): Printed {
  const own = Type.Object({ type: Type.String({ const: type }), ...(data ? { data } : {}) });
  const schema = components.reference("schemas", eventNameOf(type), () => ({
    allOf: [components.named("WebhookEvent", envelope), components.schema(own)],
  }));
  return {
    operationId: operationIdOf(`on.${type}`),
    summary: type,
    description: `Sent to every enabled endpoint subscribed to this type${kind ? `; \`data\` is the ${kind}` : ""}.`,
    tags: [EVENTS_TAG.name],
    security: [],
    parameters: deliveryHeaders.map(({ name, schema }) =>
      components.reference("parameters", name, () => ({
        ...parameter("header", name, schema, components),
        required: true,
      })),
    ),
    requestBody: { required: true, content: { "application/json": { schema } } },
    responses: { "2XX": { description: "Delivered. After any other response, the delivery is retried." } },
    ...(assumption ? { [ASSUMED]: assumption } : {}),
  };
}

/** Writes `pricing_rules.create` as `pricingRulesCreate`. */
export const operationIdOf = (id: string) => camel(id.replaceAll(".", "_"));

export const bodyNameOf = (id: string) => `${pascal(id)}Input`;

/** Writes `payment.succeeded` as `PaymentSucceededEvent`. */
export const eventNameOf = (type: string) => `${pascal(type)}Event`;

/** The title of the reply; else `PaymentList` for a list of payments; else a name made from the operation's id. */
export function replyNameOf(
  { id, reply }: Pick<DeclaredOperation, "id" | "reply">,
  { nameOf }: Pick<Components, "nameOf">,
): string {
  const item = itemOf(reply);
  const itemName = item && nameOf(item);
  return nameOf(reply) ?? (itemName === undefined ? `${pascal(id)}Reply` : `${itemName}List`);
}

/** The schema of the items, if the schema is that of a list. */
function itemOf(schema: TSchema): TSchema | undefined {
  const { object, data } = (schema as DocumentedKeywords).properties ?? {};
  return object && data ? (data as DocumentedKeywords).items : undefined;
}
