// The control plane as TypeScript: a method for each operation, with the path's parameters, query and body as one argument.

import { type Endpoint, paramNames } from "../contracts/endpoint.ts";
import { Condition, Count } from "../schema/conditions.ts";
import { type TProperties, type TSchema, Type } from "../schema/shapes.ts";
import { camel, indented, openTypes, pascal, remark, type Types } from "./typescript.ts";

type Declared = Pick<Endpoint, "id" | "path" | "summary" | "description" | "query" | "body" | "reply" | "documents">;

const HEAD = `// The control plane as a program sees it. Written from the declarations by \`npm run docs\`: change those, not this.`;

/** Fields of an operation's argument that a program can be told more about than the operation itself declares. */
export type Closer = Readonly<Record<string, Readonly<Record<string, TSchema>>>>;

/** `names` are those of schemas that have no title. */
export function programTypes(operations: readonly Declared[], names: Readonly<Record<string, TSchema>>, closer: Closer): string {
  const types = openTypes({ Condition, Count, ...names });
  const groups = new Set(operations.map(({ id }) => id.split(".")[0] as string));
  const members = [...groups].map((group) => {
    const found = operations.filter(({ id }) => id.startsWith(`${group}.`));
    const methods = found.map((operation) => method(operation, types, closer[operation.id] ?? {})).join("\n");
    return group === "sandbox" ? methods : `readonly ${camel(group)}: {\n${indented(methods)}\n};`;
  });
  const plane = `${remark("Everything that steers a sandbox.")}export interface ControlPlane {\n${indented(members.join("\n"))}\n}`;
  return `${[HEAD, plane, ...types.declarations()].join("\n\n")}\n`;
}

function method(operation: Declared, types: Types, closer: Readonly<Record<string, TSchema>>): string {
  const { id, summary, description, query, reply, documents } = operation;
  const name = camel(id.split(".")[1] as string);
  const answer = isNamed(reply) ? types.typeOf(reply) : types.named(`${pascal(id)}Reply`, reply);
  const given = argument(operation, inputOf(operation, closer), types);
  const said = remark([`${summary}.`, description].join(" ").trim());
  const way = (takes: string, gives: string) => `${said}${name}(${takes}): Promise<${gives}>;`;
  const formats = Object.keys(documents);
  if (formats.length === 0) return way(given, answer);
  // Data or a text, as the format says: the first of the ways that fits is taken.
  const asked = (names: readonly string[]) =>
    `${given.replace("given?:", "given:")} & { format: ${names.map((format) => JSON.stringify(format)).join(" | ")} }`;
  const isText = formats.includes(String((query.properties.format as { default?: string } | undefined)?.default));
  return isText ? `${way(asked(["json"]), answer)}\n${way(given, "string")}` : `${way(asked(formats), "string")}\n${way(given, answer)}`;
}

function argument({ id, path }: Declared, input: ReturnType<typeof inputOf>, types: Types): string {
  const names = Object.keys(input.properties);
  if (names.length === 0) return "";
  const params = paramNames(path);
  if (names.length === params.length) return `given: { ${names.map((name) => `${name}: string`).join("; ")} }`;
  return `given${input.required.length === 0 ? "?" : ""}: ${types.named(`${pascal(id)}Input`, input)}`;
}

const isNamed = (schema: TSchema) => "title" in schema || !("properties" in schema);

/** Path parameters, query and body as one object: no two of them may share a name. */
function inputOf({ id, path, query, body }: Declared, closer: Readonly<Record<string, TSchema>>) {
  const params = Object.fromEntries(paramNames(path).map((name) => [name, Type.String()]));
  const parts: TProperties[] = [params, query.properties, body?.properties ?? {}];
  const names = parts.flatMap((part) => Object.keys(part));
  const twice = names.find((name, index) => names.indexOf(name) !== index);
  if (twice !== undefined) throw new Error(`${id} takes ${twice} twice: a program could not tell which is meant`);
  const isOpen = (body as { additionalProperties?: unknown } | undefined)?.additionalProperties === true;
  const required = [...Object.keys(params), ...(query.required ?? []), ...(body?.required ?? [])];
  const properties = { ...Object.assign({}, ...parts), ...closer } as TProperties;
  return { ...Type.Object(properties, isOpen ? { additionalProperties: true } : {}), required };
}
