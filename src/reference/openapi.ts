// Generates the OpenAPI 3.1 document of an API surface.

import { STATUS_CODES } from "node:http";
import { paramNames } from "../contracts/endpoint.ts";
import { ASSUMED, factOf, isAssumed } from "../schema/assumed.ts";
import type { TSchema } from "../schema/shapes.ts";
import { areasOf, type DeclaredOperation, describePathParameter, type Surface } from "./api-surface.ts";
import { type Components, createComponents } from "./components.ts";
import { failures, headersOf, omitIfEmpty } from "./error-replies.ts";
import { type EventType, envelope } from "./events.ts";
import { deliveryHeaders, idempotencyKey } from "./headers.ts";
import { shownOn } from "./strip-assumed.ts";
import type { Printed } from "./subschemas.ts";

export interface OpenApiDocument {
  openapi: "3.1.1";
  info: Printed;
  servers: Printed[];
  tags: { name: string; description: string }[];
  security: Printed[];
  paths: Record<string, Printed>;
  webhooks?: Record<string, Printed>;
  components: Printed;
}

const EVENTS_TAG = { name: "Events", description: "Webhook events sent to subscribed endpoints." };

export function openapi(surface: Surface, declared: readonly DeclaredOperation[], events: readonly EventType[] = []): OpenApiDocument {
  const operations = shownOn(surface, declared);
  const components = createComponents();
  const { scheme, description, required } = surface.security;
  const paths = pathsOf(surface, operations, components);
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
    tags: [...tagsOf(operations), ...(events.length > 0 ? [EVENTS_TAG] : [])],
    security: [...(required ? [] : [{}]), { [scheme]: [] }],
    paths,
    ...(events.length > 0 ? { webhooks } : {}),
    components: { securitySchemes: { [scheme]: { type: "http", scheme: "bearer", description } }, ...components.all() },
  };
}

function tagsOf(operations: readonly DeclaredOperation[]): OpenApiDocument["tags"] {
  return areasOf(operations).map(([name, members]) => {
    const [first = "", ...others] = members.map(({ summary }) => summary);
    const summaries = [first, ...others.map((summary) => summary.charAt(0).toLowerCase() + summary.slice(1))];
    return { name, description: `${summaries.join("; ")}.` };
  });
}

function pathsOf(surface: Surface, operations: readonly DeclaredOperation[], components: Components): Record<string, Printed> {
  const paths: Record<string, Printed> = {};
  for (const operation of operations) {
    const path = surface.prefix + operation.path;
    paths[path] = { ...paths[path], [operation.method.toLowerCase()]: operationOf(surface, operation, components) };
  }
  return paths;
}

function operationOf(surface: Surface, operation: DeclaredOperation, components: Components): Printed {
  const { id, area, summary, emits } = operation;
  const parameters = parametersOf(surface, operation, components);
  const body = bodyOf(operation, components);
  const emitted = emits.map((fact) => ({ event: factOf(fact), ...(isAssumed(fact) ? { [ASSUMED]: fact.assumption } : {}) }));
  return {
    operationId: id,
    summary,
    description: describe(operation),
    tags: [area],
    ...(parameters.length > 0 ? { parameters } : {}),
    ...(body ? { requestBody: body } : {}),
    responses: { ...success(surface, operation, components), ...failures(surface, operation, components) },
    ...(emitted.length > 0 ? { "x-sandbox-emits": emitted } : {}),
  };
}

function describe({ summary, description, emits, mayEmit }: DeclaredOperation): string {
  const events = [
    ...emits.map((fact) => `\`${factOf(fact)}\``),
    ...Object.entries(mayEmit).map(([type, when]) => `\`${type}\` ${when}`),
  ].join(", and ");
  return [description || `${summary}.`, ...(events ? [`Emits ${events}.`] : [])].join(" ");
}

function parametersOf(surface: Surface, operation: DeclaredOperation, components: Components): Printed[] {
  const { path, query, exampleParams, idempotent } = operation;
  const inPath = paramNames(path).map((name) => ({
    name,
    in: "path",
    required: true,
    description: describePathParameter(name),
    schema: { type: "string" },
    ...(exampleParams[name] === undefined ? {} : { example: exampleParams[name] }),
  }));
  const inQuery = Object.entries(query.properties).map(([name, schema]) => ({
    ...parameter("query", name, schema, components),
    ...(query.required?.includes(name) ? { required: true } : {}),
  }));
  const takesKey = idempotent && surface.errors.key.length > 0;
  const { name, schema } = idempotencyKey;
  const key = () => parameter("header", name, schema, components);
  return [...inPath, ...inQuery, ...(takesKey ? [components.reference("parameters", name, key)] : [])];
}

function parameter(place: "query" | "header", name: string, schema: TSchema, components: Components): Printed {
  const { description, ...shape } = components.schema(schema);
  return { name, in: place, ...(description === undefined ? {} : { description }), schema: shape };
}

function bodyOf({ body, example }: DeclaredOperation, components: Components): Printed | undefined {
  if (!body) return undefined;
  const content = { schema: components.schema(body), ...(example ? { example } : {}) };
  return { required: (body.required?.length ?? 0) > 0, content: { "application/json": content } };
}

function success(surface: Surface, operation: DeclaredOperation, components: Components): Record<string, Printed> {
  const { status, reply, documents, headers } = operation;
  const others = Object.values(documents).map((type) => [type, { schema: { type: "string" } }]);
  const fixed = Object.entries(headers).map(([name, value]) => [name, { schema: { type: "string", const: value } }]);
  const response = {
    description: STATUS_CODES[factOf(status)],
    ...omitIfEmpty("headers", { ...headersOf(surface, operation, factOf(status), components), ...Object.fromEntries(fixed) }),
    content: { "application/json": { schema: components.schema(reply) }, ...Object.fromEntries(others) },
    ...(isAssumed(status) ? { [ASSUMED]: status.assumption } : {}),
  };
  return { [factOf(status)]: response };
}

function delivery({ type, data, kind, assumption }: EventType, components: Components): Printed {
  const about = { type: { type: "string", const: type }, ...(data ? { data: components.schema(data) } : {}) };
  const schema = { allOf: [components.schema(envelope), { type: "object", properties: about }] };
  return {
    operationId: `on.${type}`,
    summary: type,
    description: `Sent to every enabled endpoint subscribed to this type${kind ? `; \`data\` is the ${kind}` : ""}.`,
    tags: [EVENTS_TAG.name],
    security: [],
    parameters: deliveryHeaders.map(({ name, schema }) =>
      components.reference("parameters", name, () => ({ ...parameter("header", name, schema, components), required: true })),
    ),
    requestBody: { required: true, content: { "application/json": { schema } } },
    responses: { "2XX": { description: "Delivered. After any other response, the delivery is retried." } },
    ...(assumption ? { [ASSUMED]: assumption } : {}),
  };
}
