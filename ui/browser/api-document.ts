// The operations of an OpenAPI document of the sandbox, as the explorer shows them.

import { controlCalls } from "../../src/client/control-call.ts";
import { CONTROL_PREFIX } from "../../src/contracts/paths.ts";
import type { JsonSchema } from "../connection/json-schema.ts";

export interface ApiDocument {
  paths: Readonly<Record<string, Readonly<Record<string, PathOperation>>>>;
  components: {
    parameters?: Readonly<Record<string, Parameter>>;
    responses?: Readonly<Record<string, ApiResponse>>;
    schemas?: Readonly<Record<string, JsonSchema>>;
    examples?: Readonly<Record<string, ApiExample>>;
  };
}

interface PathOperation {
  summary: string;
  description?: string;
  tags?: readonly string[];
  parameters?: readonly (Parameter | Reference)[];
  requestBody?: { content: ApiContent };
  responses: Readonly<Record<string, ApiResponse | Reference>>;
  "x-sandbox-operation"?: string;
}

interface ApiExample {
  summary?: string;
}

interface ApiResponse {
  description?: string;
  content?: ApiContent;
}

type ApiContent = Readonly<
  Record<string, { schema?: JsonSchema | Reference; example?: unknown; examples?: Readonly<Record<string, object>> }>
>;

interface Reference {
  $ref: string;
}

export interface Parameter {
  name: string;
  in: string;
  required?: boolean;
  description?: string;
  example?: unknown;
  schema?: JsonSchema;
}

export type ApiName = "service" | "control";

export type ApiOperation = ReturnType<typeof operationOf>;

const IDEMPOTENCY_KEY = "Idempotency-Key";

export const documentCalls = { service: controlCalls.openapi(), control: controlCalls.controlOpenapi() } as const;

export function operationsOf(api: ApiName, document: ApiDocument): ApiOperation[] {
  const prefix = api === "service" ? "/v1" : CONTROL_PREFIX;
  const full = (path: string) => (path.startsWith(prefix) ? path : prefix + path);
  return Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) =>
      operationOf(api, method.toUpperCase(), full(path), operation, document),
    ),
  );
}

function operationOf(api: ApiName, method: string, path: string, operation: PathOperation, document: ApiDocument) {
  const parameters = (operation.parameters ?? []).flatMap((one) => resolved(one, document.components.parameters) ?? []);
  const [content] = Object.values(operation.requestBody?.content ?? {});
  return {
    id: operation["x-sandbox-operation"] ?? `${method} ${path}`,
    api,
    area: operation.tags?.[0] ?? "",
    method,
    /** The path with the prefix of its API, and with parameters in braces. */
    path,
    summary: operation.summary,
    description: operation.description ?? "",
    parameters: parameters.filter((one) => one.in === "path" || one.in === "query"),
    takesIdempotencyKey: parameters.some(({ name }) => name === IDEMPOTENCY_KEY),
    /** The example of the body as JSON; undefined for an operation without a body. */
    body: content && JSON.stringify(content.example ?? {}, null, 2),
    fields: fieldsOf(document, content?.schema),
    responses: Object.entries(operation.responses).map(([status, response]) => ({
      status,
      ...responseOf(document, response),
    })),
  };
}

/** A response as the explorer shows it: its description, its fields or its errors, and an example. */
function responseOf(document: ApiDocument, response: ApiResponse | Reference) {
  const { examples: texts, responses } = document.components;
  const { description = "", content } = resolved(response, responses) ?? {};
  const { schema, example, examples = {} } = content?.["application/json"] ?? {};
  const errors = Object.entries(examples).map(
    ([name, one]): ApiField => ({ name, description: resolved<ApiExample>(one, texts)?.summary ?? "" }),
  );
  return {
    /** The text before the colon: the error codes after it are listed as fields. */
    description: description.replace(/:.*/, ""),
    fields: errors.length > 0 ? errors : fieldsOf(document, schema),
    example: example === undefined ? undefined : JSON.stringify(example, null, 2),
  };
}

/** Resolves a `$ref` to the component that it names. Returns any other value unchanged. */
function resolved<Value extends object>(
  value: Value | Reference,
  components: Readonly<Record<string, Value>> = {},
): Value | undefined {
  return "$ref" in value ? components[String(value.$ref).split("/").at(-1) ?? ""] : value;
}

/** A field of a body, or an error of a response. An error has only its code as `name`, and a description. */
export interface ApiField {
  name: string;
  description: string;
  schema?: JsonSchema;
  isRequired?: boolean;
}

/** The fields of an object. Fields of nested objects and lists are named by their path, such as `data[].id`. */
function fieldsOf(document: ApiDocument, schema: JsonSchema | Reference = {}, prefix = ""): ApiField[] {
  const { schemas } = document.components;
  const { properties = {}, required = [] } = resolved(schema, schemas) ?? {};
  return Object.entries(properties).flatMap(([key, property]) => {
    const one = resolved(property, schemas) ?? {};
    const name = prefix + key;
    const inner = fieldsOf(document, one.items ?? one, `${name}${one.items ? "[]" : ""}.`);
    return [{ name, description: one.description ?? "", schema: one, isRequired: required.includes(key) }, ...inner];
  });
}

/** `integer | null`, or the choices. */
export const typeText = ({ type = [], enum: choices }: JsonSchema = {}): string =>
  (choices ?? [type].flat()).map(String).join(" | ");

export function filledPath({ path, parameters }: ApiOperation, values: Readonly<Record<string, string>>): string {
  const filled = path.replaceAll(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(values[name] ?? ""));
  const query = parameters.filter((one) => one.in === "query" && (values[one.name] ?? "") !== "");
  const search = new URLSearchParams(query.map(({ name }): [string, string] => [name, values[name] ?? ""])).toString();
  return search === "" ? filled : `${filled}?${search}`;
}
