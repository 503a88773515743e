// Generates the client of the control API: its types, with one method per operation, and the table from which the
// methods are made.

import { catalogue, eventTypes } from "../../src/areas/index.ts";
import { paramNames } from "../../src/client/control-call.ts";
import { liveEvents } from "../../src/contracts/live-messages.ts";
import { controlCatalogue } from "../../src/control/index.ts";
import { pascal } from "../../src/kernel/text.ts";
import { Condition, Count } from "../../src/schema/conditions.ts";
import { type TProperties, type TSchema, Type } from "../../src/schema/shapes.ts";
import type { DeclaredOperation } from "../reference/api-surface.ts";
import { assumptions, faultTypes, preciseFields } from "../reference/documents.ts";
import { camel, createTypes, docComment, indented, type Types } from "../reference/typescript.ts";

const NOTE = "Written by the build: change the operations' declarations, not this file.";

/** The files by path. */
export const controlClient = () => ({
  "generated/control-api.ts": controlApi(controlCatalogue),
  "generated/control-operations.ts": operationTable(controlCatalogue),
});

function controlApi(operations: readonly DeclaredOperation[]): string {
  const types = createTypes(
    { Condition, Count, ...faultTypes },
    { operation: catalogue.map(({ id }) => id), event: [...eventTypes] },
  );
  const groups = new Set(operations.map(({ id }) => id.split(".")[0] as string));
  const members = [...groups].map((group) => {
    const found = operations.filter(({ id }) => id.startsWith(`${group}.`));
    const methods = found.map((operation) => method(operation, types)).join("\n");
    return group === "sandbox" ? methods : `readonly ${camel(group)}: {\n${indented(methods)}\n};`;
  });
  types.named("LiveEvent", Type.Union(Object.values(liveEvents)));
  types.named("AssumptionValues", assumptionValues());
  const api =
    `${docComment("The control API of a sandbox.")}export interface ControlApi {\n` +
    `${indented(members.join("\n"))}\n}`;
  return `${[`// The control API as a program sees it. ${NOTE}`, api, ...types.declarations()].join("\n\n")}\n`;
}

function assumptionValues(): TSchema {
  const settable = assumptions().facts.flatMap(({ id, settable: values }) =>
    values === undefined ? [] : [[id, Type.Optional(values)] as const],
  );
  return Type.Object(Object.fromEntries(settable), { description: "The values of assumptions that can be set, by id" });
}

function method(operation: DeclaredOperation, types: Types): string {
  const { id, summary, description, query, reply, documents } = operation;
  const name = camel(id.split(".")[1] as string);
  const answer = isNamed(reply) ? types.typeOf(reply) : types.named(`${pascal(id)}Reply`, reply);
  const given = argument(operation, inputOf(operation), types);
  const comment = docComment([`${summary}.`, description].join(" ").trim());
  const overload = (parameter: string, result: string) => `${comment}${name}(${parameter}): Promise<${result}>;`;
  const formats = Object.keys(documents);
  if (formats.length === 0) return overload(given, answer);
  // One overload for each kind of result, because the kind depends on `format`. TypeScript picks the first that
  // matches.
  const asked = (names: readonly string[]) =>
    `${given.replace("given?:", "given:")} & { format: ${names.map((format) => JSON.stringify(format)).join(" | ")} }`;
  const isText = formats.includes(String((query.properties.format as { default?: string } | undefined)?.default));
  return isText
    ? `${overload(asked(["json"]), answer)}\n${overload(given, "string")}`
    : `${overload(asked(formats), "string")}\n${overload(given, answer)}`;
}

function argument({ id, path }: DeclaredOperation, input: ReturnType<typeof inputOf>, types: Types): string {
  const names = Object.keys(input.properties);
  if (names.length === 0) return "";
  const params = paramNames(path);
  if (names.length === params.length) return `given: { ${names.map((name) => `${name}: string`).join("; ")} }`;
  return `given${input.required.length === 0 ? "?" : ""}: ${types.named(`${pascal(id)}Input`, input)}`;
}

const isNamed = (schema: TSchema) => "title" in schema || !("properties" in schema);

/** Path parameters, query and body, merged into one object. No two of them may have the same name. */
function inputOf({ id, path, query, body }: DeclaredOperation) {
  const params = Object.fromEntries(paramNames(path).map((name) => [name, Type.String()]));
  const parts: TProperties[] = [params, query.properties, body?.properties ?? {}];
  const names = parts.flatMap((part) => Object.keys(part));
  const twice = names.find((name, index) => names.indexOf(name) !== index);
  if (twice !== undefined) throw new Error(`${id} has two parameters named ${twice}: rename one of them`);
  const isOpen = (body as { additionalProperties?: unknown } | undefined)?.additionalProperties === true;
  const required = [...Object.keys(params), ...(query.required ?? []), ...(body?.required ?? [])];
  const properties = { ...Object.assign({}, ...parts), ...preciseFields[id] } as TProperties;
  return { ...Type.Object(properties, isOpen ? { additionalProperties: true } : {}), required };
}

function operationTable(operations: readonly DeclaredOperation[]): string {
  const groups = new Set(operations.map(({ id }) => groupOf(id)));
  const lines = [...groups].flatMap((group) => [
    `  ${group}: {`,
    ...operations
      .filter(({ id }) => groupOf(id) === group)
      .map((operation) => `    ${nameOf(operation.id)}: ${JSON.stringify(entryOf(operation))},`),
    "  },",
  ]);
  return (
    "// The operations of the control API, for the client, which imports neither handlers nor schemas. " +
    `${NOTE}\n\nexport const controlOperations = {\n${lines.join("\n")}\n} as const;\n`
  );
}

const groupOf = (id: string) => camel(id.split(".")[0] as string);
const nameOf = (id: string) => camel(id.split(".")[1] as string);

/** Query names are listed only for operations with a body: without one, every argument goes into the query. */
function entryOf({ id, method, path, query, body }: DeclaredOperation) {
  const names = Object.keys(query.properties);
  return { id, method, path, ...(body && { body: true }), ...(body && names.length > 0 && { query: names }) };
}
