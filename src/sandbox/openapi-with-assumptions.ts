// Adapts the service's OpenAPI document to the assumptions that are set: statuses, bounds and error codes.

import { STATUS_CODES } from "node:http";
import { catalogue } from "../areas/index.ts";
import { type ErrorCode, errors } from "../kernel/errors.ts";
import { grouped } from "../kernel/grouped.ts";
import type { OpenApiDocument } from "../reference/openapi-forms.ts";
import { type Assumptions, BOUNDS, NO_ASSUMPTIONS, shownError } from "../store/assumptions.ts";
import type { Operation } from "../store/operation-context.ts";

// biome-ignore lint/suspicious/noExplicitAny: a document has no types of its own.
type Node = any;

export function withAssumptions(given: OpenApiDocument, set: Assumptions): OpenApiDocument {
  if (set === NO_ASSUMPTIONS) return given;
  const document: Node = structuredClone(given);
  document.info["x-sandbox-assumptions"] = set;
  for (const operation of catalogue) {
    const node = document.paths[operation.path][operation.method.toLowerCase()];
    setBounds(node, operation, set);
    setStatus(node.responses, operation, set);
    for (const response of Object.keys(node.responses)) moveErrors(document, node.responses, response, set);
  }
  dropUnusedResponses(document);
  for (const [code, example] of Object.entries<Node>(document.components.examples))
    if (isError(code)) Object.assign(example.value, shownNames(set, code));
  const own = Object.keys(errors) as ErrorCode[];
  replaceIn(document.components.schemas.ErrorCode, new Map(own.map((code) => [code, shownError(set, code).code])));
  addTo(
    document.components.schemas.ErrorCategory,
    own.map((code) => shownError(set, code).error),
  );
  return document;
}

const isError = (code: string): code is ErrorCode => Object.hasOwn(errors, code);

function shownNames(set: Assumptions, own: ErrorCode) {
  const { error, code } = shownError(set, own);
  return { error, code };
}

function setBounds(node: Node, { id }: Operation, set: Assumptions): void {
  const limit = node.parameters?.find(({ name }: Node) => name === "limit");
  for (const kind of BOUNDS) {
    const value = set[`${id}.query.limit.${kind}`];
    if (value !== undefined) limit.schema[kind] = value;
  }
}

function setStatus(responses: Node, { id }: Operation, set: Assumptions): void {
  const status = set[`${id}.status`];
  const own = Object.keys(responses).find((name) => name.startsWith("2")) as string;
  if (status === undefined || String(status) === own) return;
  const { [own]: success } = responses;
  delete responses[own];
  const { content, ...empty } = { ...success, description: STATUS_CODES[Number(status)] ?? "Success" };
  responses[String(status)] = status === 204 || status === 205 ? empty : { ...empty, content };
}

/**
 * Moves errors between the responses of an operation: if an assumption sets the status of an error, the error moves to
 * the response with that status.
 */
function moveErrors(document: Node, responses: Node, name: string, set: Assumptions): void {
  const resolved = (status: string) => {
    const shared = responses[status]?.$ref?.split("/").at(-1);
    return shared === undefined ? responses[status] : document.components.responses[shared];
  };
  const statusOf = (code: string) => String(shownError(set, code as ErrorCode).status);
  const response = resolved(name);
  const examples = response?.content?.["application/json"]?.examples ?? {};
  const moved = Object.keys(examples).filter((code) => isError(code) && statusOf(code) !== name);
  if (moved.length === 0 || Number(name) < 400) return;
  for (const [status, codes] of grouped(moved, statusOf)) {
    const target = resolved(status);
    responses[status] = withExamples(target ?? response, status, {
      ...target?.content["application/json"].examples,
      ...Object.fromEntries(codes.map((code) => [code, examples[code]])),
    });
  }
  const left = Object.entries(examples).filter(([code]) => !moved.includes(code));
  if (left.length === 0) delete responses[name];
  else responses[name] = withExamples(response, name, Object.fromEntries(left));
}

function withExamples(response: Node, status: string, examples: Node): Node {
  const codes = Object.keys(examples).map((code) => `\`${code}\``);
  return {
    ...response,
    description: `${STATUS_CODES[Number(status)] ?? status}: ${codes.join(", ")}`,
    content: { "application/json": { ...response.content["application/json"], examples } },
  };
}

/** Deletes the shared responses that no operation refers to any more. */
function dropUnusedResponses({ paths, components }: Node): void {
  const used = JSON.stringify(paths);
  for (const name of Object.keys(components.responses))
    if (!used.includes(`"#/components/responses/${name}"`)) delete components.responses[name];
}

function replaceIn(schema: Node, names: ReadonlyMap<string, string>): void {
  schema.enum = [...new Set(schema.enum.map((one: string) => names.get(one) ?? one))];
}

function addTo(schema: Node, values: readonly string[]): void {
  schema.enum = [...new Set([...schema.enum, ...values])];
}
