// Generates the TypeScript types of the control plane: one method per operation, with path parameters, query and body as one argument.

import { paramNames } from "../contracts/endpoint.ts";
import { Condition, Count } from "../schema/conditions.ts";
import { type TProperties, type TSchema, Type } from "../schema/shapes.ts";
import type { DeclaredOperation } from "./api-surface.ts";
import { camel, createTypes, docComment, indented, pascal, type Types } from "./typescript.ts";

const HEAD = `// The control plane as a program sees it. Written from the declarations by \`npm run docs\`: change those, not this.`;

/** More precise schemas for fields of an operation's argument than the operation itself declares. */
export type PreciseFields = Readonly<Record<string, Readonly<Record<string, TSchema>>>>;

/** `names` gives names to schemas without a title. */
export function programTypes(
  operations: readonly DeclaredOperation[],
  names: Readonly<Record<string, TSchema>>,
  preciseFields: PreciseFields,
): string {
  const types = createTypes({ Condition, Count, ...names });
  const groups = new Set(operations.map(({ id }) => id.split(".")[0] as string));
  const members = [...groups].map((group) => {
    const found = operations.filter(({ id }) => id.startsWith(`${group}.`));
    const methods = found.map((operation) => method(operation, types, preciseFields[operation.id] ?? {})).join("\n");
    return group === "sandbox" ? methods : `readonly ${camel(group)}: {\n${indented(methods)}\n};`;
  });
  const plane = `${docComment("The control plane of a sandbox.")}export interface ControlPlane {\n${indented(members.join("\n"))}\n}`;
  return `${[HEAD, plane, ...types.declarations()].join("\n\n")}\n`;
}

function method(operation: DeclaredOperation, types: Types, preciseFields: Readonly<Record<string, TSchema>>): string {
  const { id, summary, description, query, reply, documents } = operation;
  const name = camel(id.split(".")[1] as string);
  const answer = isNamed(reply) ? types.typeOf(reply) : types.named(`${pascal(id)}Reply`, reply);
  const given = argument(operation, inputOf(operation, preciseFields), types);
  const comment = docComment([`${summary}.`, description].join(" ").trim());
  const overload = (parameter: string, result: string) => `${comment}${name}(${parameter}): Promise<${result}>;`;
  const formats = Object.keys(documents);
  if (formats.length === 0) return overload(given, answer);
  // One overload per kind of result, depending on `format`; TypeScript picks the first that matches.
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

/** Path parameters, query and body merged into one object; their names must be distinct. */
function inputOf({ id, path, query, body }: DeclaredOperation, preciseFields: Readonly<Record<string, TSchema>>) {
  const params = Object.fromEntries(paramNames(path).map((name) => [name, Type.String()]));
  const parts: TProperties[] = [params, query.properties, body?.properties ?? {}];
  const names = parts.flatMap((part) => Object.keys(part));
  const twice = names.find((name, index) => names.indexOf(name) !== index);
  if (twice !== undefined) throw new Error(`${id} has two parameters named ${twice}: rename one of them`);
  const isOpen = (body as { additionalProperties?: unknown } | undefined)?.additionalProperties === true;
  const required = [...Object.keys(params), ...(query.required ?? []), ...(body?.required ?? [])];
  const properties = { ...Object.assign({}, ...parts), ...preciseFields } as TProperties;
  return { ...Type.Object(properties, isOpen ? { additionalProperties: true } : {}), required };
}
