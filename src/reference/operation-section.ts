// One operation on a page: what to send, what comes back, what can go wrong, and whom it tells.

import { paramNames } from "../contracts/endpoint.ts";
import { errors } from "../kernel/errors.ts";
import { factOf, isAssumed } from "../schema/assumed.ts";
import { type Catalogue, type Declared, ownErrorsOf, parameterWords, type Surface } from "./api-surface.ts";
import { curl, exampleCall, makerOf, type Replies } from "./example.ts";
import { ASSUMED_MARK, boundsOf, isMarked, marked, meaningOf, receivedTable, sentTable, typeOf } from "./fields.ts";
import { blocks, code, fence, heading, link, table } from "./markdown.ts";
import { titleOf } from "./subschemas.ts";

/** `replies` is what the example calls were answered. */
export function operationSection(catalogue: Catalogue, operation: Declared, replies: Replies): string {
  const { surface } = catalogue;
  const { id, method, path, summary, description } = operation;
  const maker = makerOf(catalogue, operation);
  const address = new URL(surface.server).pathname.replace(/\/$/, "") + surface.prefix + path;
  return blocks(
    heading(3, summary, id),
    `${code(`${method} ${address}`)} · ${code(id)}`,
    description,
    maker ? `The example follows that of ${link(code(maker.id), `#${maker.id}`)}.` : "",
    fence("sh", curl(surface.server, exampleCall(catalogue, operation, replies))),
    parameters(operation),
    body(operation),
    answer(operation, replies[id]),
    failures(surface, operation),
    events(operation),
  );
}

function parameters({ path, query }: Declared): string {
  const inPath = paramNames(path).map((name) => [code(name), "path", "string", parameterWords(name)]);
  const inQuery = Object.entries(query.properties).map(([name, schema]) => [
    code(name),
    query.required?.includes(name) ? "query, required" : "query",
    typeOf(schema) + boundsOf(schema),
    meaningOf(schema),
  ]);
  const rows = [...inPath, ...inQuery];
  return rows.length === 0 ? "" : blocks("**Parameters**", table(["Name", "In", "Type", "Meaning"], rows));
}

function body({ body }: Declared): string {
  if (!body) return "";
  return blocks(marked("**Body**", body), sentTable(body));
}

function answer({ status, reply, documents, headers }: Declared, example: unknown): string {
  const fixed = Object.entries(headers).map(([name, value]) => ` It carries ${code(`${name}: ${value}`)}.`);
  const mark = isAssumed(status) ? ` ${ASSUMED_MARK}` : "";
  const types = Object.values(documents);
  const others = types.length > 0 ? `, or with ${types.map(code).join(", ")}` : "";
  const intro = `**Answers ${code(String(factOf(status)))}**${mark} with ${shapeOf(reply)}${others}.${fixed.join("")}`;
  return blocks(intro, ownFields(reply), example === undefined ? "" : fence("json", mask(example)));
}

type Reply = Declared["reply"];

const propertiesOf = (schema: Reply) => (schema as { properties?: Record<string, Reply> }).properties ?? {};

const isList = (schema: Reply) => "has_more" in propertiesOf(schema);

function shapeOf(reply: Reply): string {
  const mark = isMarked(reply) && titleOf(reply) === undefined ? ` ${ASSUMED_MARK}` : "";
  const { data } = propertiesOf(reply);
  if (isList(reply) && data) return `a list envelope, whose \`data\` is an ${typeOf(data)}${mark}`;
  return titleOf(reply) === undefined ? `an object${mark}` : `the ${typeOf(reply)}`;
}

/** The fields of a reply, or of what it lists, unless they are those of a record, which has a table of its own. */
function ownFields(reply: Reply): string {
  const { data } = propertiesOf(reply);
  const shape = isList(reply) && data ? ((data as { items?: Reply }).items ?? data) : reply;
  const isOwn = titleOf(shape) === undefined && Object.keys(propertiesOf(shape)).length > 0;
  return isOwn ? receivedTable(shape) : "";
}

/** Keys and secrets of the example world would alarm whoever scans a repository for them. */
const mask = (example: unknown) =>
  JSON.stringify(example, null, 2).replaceAll(/(sk_test_session_|sk_test_|whsec_)[0-9A-Za-z]{20,}/g, "$1…");

function failures(surface: Surface, operation: Declared): string {
  const rows = ownErrorsOf(surface, operation).map((name) => [String(errors[name].status), code(name), errors[name].when]);
  return rows.length === 0 ? "" : blocks("**Errors**", table(["Status", "Code", "When"], rows));
}

function events({ emits }: Declared): string {
  const told = emits.map((fact) => link(code(factOf(fact)), "#events") + (isAssumed(fact) ? ` ${ASSUMED_MARK}` : ""));
  return told.length === 0 ? "" : `**Events** ${told.join(", ")}`;
}
