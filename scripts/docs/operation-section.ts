// Generates the section of one operation: example, parameters, body, response, errors and events.

import { paramNames } from "../../src/client/control-call.ts";
import { errors } from "../../src/kernel/errors.ts";
import { factOf, isAssumed } from "../../src/schema/assumed.ts";
import {
  type Catalogue,
  type DeclaredOperation,
  describePathParameter,
  ownErrorsOf,
  type Surface,
} from "../reference/api-surface.ts";
import { prerequisiteOf, type Replies } from "../reference/examples.ts";
import { titleOf } from "../reference/subschemas.ts";
import { curl, exampleCall } from "./example-calls.ts";
import {
  ASSUMED_MARK,
  boundsOf,
  fieldLines,
  isMarked,
  marked,
  markedDescriptionOf,
  receivedTable,
  sentTable,
  typeOf,
} from "./fields.ts";
import { blocks, code, fence, heading, link, table } from "./markdown.ts";

/** `replies` holds the response bodies of the example requests. */
export function operationSection(catalogue: Catalogue, operation: DeclaredOperation, replies: Replies): string {
  const { surface } = catalogue;
  const { id, method, path, summary, description } = operation;
  const prerequisite = prerequisiteOf(catalogue, operation);
  const address = new URL(surface.server).pathname.replace(/\/$/, "") + surface.prefix + path;
  return blocks(
    heading(3, summary, id),
    `${code(`${method} ${address}`)} · ${code(id)}`,
    description,
    prerequisite ? `Run the example of ${link(code(prerequisite.id), `#${prerequisite.id}`)} first.` : "",
    fence("sh", curl(surface.server, exampleCall(catalogue, operation, replies))),
    parameters(operation),
    body(operation),
    response(operation, replies[id]),
    failures(surface, operation),
    events(operation),
  );
}

/** A short entry for an operation: its parameters, its example if it has a body, and its errors. */
export function controlEntry({ surface }: Catalogue, operation: DeclaredOperation): string {
  const { id, method, path, summary, description, query, body, status, example } = operation;
  const taken = [...(query.properties ? fieldLines(query) : []), ...(body ? fieldLines(body) : [])];
  const failed = ownErrorsOf(surface, operation).map((name) => `${errors[name].status} ${code(name)}`);
  return blocks(
    heading(3, summary, id),
    `${code(`${method} ${surface.prefix}${path}`)} · ${code(id)} · ${factOf(status)}`,
    description,
    taken.join("\n"),
    body && example
      ? fence("sh", curl(surface.server, exampleCall({ surface, operations: [operation] }, operation, {})))
      : "",
    failed.length === 0 ? "" : `Errors: ${failed.join(", ")}`,
  );
}

function parameters({ path, query }: DeclaredOperation): string {
  const inPath = paramNames(path).map((name) => [code(name), "path", "string", describePathParameter(name)]);
  const inQuery = Object.entries(query.properties).map(([name, schema]) => [
    code(name),
    query.required?.includes(name) ? "query, required" : "query",
    typeOf(schema) + boundsOf(schema),
    markedDescriptionOf(schema),
  ]);
  const rows = [...inPath, ...inQuery];
  return rows.length === 0 ? "" : blocks("**Parameters**", table(["Name", "In", "Type", "Description"], rows));
}

function body({ body }: DeclaredOperation): string {
  if (!body) return "";
  return blocks(marked("**Body**", body), sentTable(body));
}

function response({ status, reply, documents, headers }: DeclaredOperation, example: unknown): string {
  const fixed = Object.entries(headers).map(([name, value]) => ` Sent with ${code(`${name}: ${value}`)}.`);
  const mark = isAssumed(status) ? ` ${ASSUMED_MARK}` : "";
  const types = Object.values(documents);
  const others = types.length > 0 ? ` or ${types.map(code).join(", ")}` : "";
  const intro = `**Returns ${code(String(factOf(status)))}**${mark} with ${shapeOf(reply)}${others}.${fixed.join("")}`;
  return blocks(intro, ownFields(reply), example === undefined ? "" : fence("json", mask(example)));
}

type ReplySchema = DeclaredOperation["reply"];

const propertiesOf = (schema: ReplySchema) => (schema as { properties?: Record<string, ReplySchema> }).properties ?? {};

const isList = (schema: ReplySchema) => "has_more" in propertiesOf(schema);

function shapeOf(reply: ReplySchema): string {
  const mark = isMarked(reply) && titleOf(reply) === undefined ? ` ${ASSUMED_MARK}` : "";
  const { data } = propertiesOf(reply);
  if (isList(reply) && data) return `a list object whose \`data\` is an ${typeOf(data)}${mark}`;
  return titleOf(reply) === undefined ? `an object${mark}` : `the ${typeOf(reply)}`;
}

/** The fields of the response or, for a list, of its items. Schemas with a title have a separate table. */
function ownFields(reply: ReplySchema): string {
  const { data } = propertiesOf(reply);
  const shape = isList(reply) && data ? ((data as { items?: ReplySchema }).items ?? data) : reply;
  const isOwn = titleOf(shape) === undefined && Object.keys(propertiesOf(shape)).length > 0;
  return isOwn ? receivedTable(shape) : "";
}

/** Masks keys and secrets of the example data, because secret scanners would report them. */
const mask = (example: unknown) =>
  JSON.stringify(example, null, 2).replaceAll(/(sk_test_session_|sk_test_|whsec_)[0-9A-Za-z]{20,}/g, "$1…");

function failures(surface: Surface, operation: DeclaredOperation): string {
  const rows = ownErrorsOf(surface, operation).map((name) => [
    String(errors[name].status),
    code(name),
    errors[name].when,
  ]);
  return rows.length === 0 ? "" : blocks("**Errors**", table(["Status", "Code", "When"], rows));
}

function events({ emits, mayEmit }: DeclaredOperation): string {
  const links = [
    ...emits.map((fact) => link(code(factOf(fact)), "#events") + (isAssumed(fact) ? ` ${ASSUMED_MARK}` : "")),
    ...Object.entries(mayEmit).map(([type, when]) => `${link(code(type), "#events")} ${when}`),
  ];
  return links.length === 0 ? "" : `**Events** ${links.join(", ")}`;
}
