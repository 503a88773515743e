// The OpenAPI documents: valid for the tools that read them, complete, and true to what the sandbox answers.

import { createConfig, lintFromString } from "@redocly/openapi-core";
import core from "@stoplight/spectral-core";
import parsers from "@stoplight/spectral-parsers";
import rulesets from "@stoplight/spectral-rulesets";
import fc from "fast-check";
import openapiTS, { astToString, type OpenAPI3 } from "openapi-typescript";
import ts from "typescript";
import { describe, expect, test } from "vitest";
import { catalogue } from "../../src/areas/index.ts";
import { controlCatalogue } from "../../src/control/index.ts";
import { type ErrorCode, errors } from "../../src/kernel/errors.ts";
import type { OpenApiDocument } from "../../src/reference/openapi.ts";
import { assumptions, controlOpenapi, exampleCalls, serviceOpenapi } from "../../src/sandbox/documents.ts";
import { factOf } from "../../src/schema/assumed.ts";
import { matchesSchema } from "../../src/schema/validator.ts";
import { exampleReplies } from "../support/example-calls.ts";
import { open } from "../support/sandbox.ts";

// biome-ignore lint/suspicious/noExplicitAny: the document is looked at as the JSON that tools read.
type Json = any;

const ADDRESS = "http://127.0.0.1:4747";
const service: Json = serviceOpenapi(ADDRESS);
const control: Json = controlOpenapi(ADDRESS);

const copy = (document: OpenApiDocument): Json => JSON.parse(JSON.stringify(document));

type Rules = Record<string, { severity: "error" } & Record<string, unknown>>;

/** Where the recommended rules of Redocly find fault, as `rule at pointer`; `rules` are set beside them. */
async function redocly(document: unknown, rules: Rules = {}): Promise<string[]> {
  const config = await createConfig({ extends: ["recommended"], rules });
  const problems = await lintFromString({ source: JSON.stringify(document), absoluteRef: "/openapi.json", config });
  return problems.map(({ ruleId, location }) => `${ruleId} at ${location[0]?.pointer}`);
}

async function spectral(document: unknown): Promise<string[]> {
  const linter = new core.Spectral();
  linter.setRuleset({ extends: [[rulesets.oas as core.RulesetDefinition, "recommended"]] });
  const problems = await linter.run(new core.Document(JSON.stringify(document), parsers.Json, "/openapi.json"));
  return problems.map(({ code, path }) => `${code} at ${path.join("/")}`);
}

describe.each([
  ["the service", service, "/payments", "get"],
  ["the control plane", control, "/_sandbox/clock", "get"],
] as const)("the document of %s", (_, document, path, method) => {
  test("has no error and no warning by Redocly's recommended rules, which do find planted ones", async () => {
    expect(await redocly(document)).toEqual([]);
    const broken = copy(document);
    delete broken.paths[path][method].summary;
    broken.components.schemas.nobodys = { type: "string" };
    expect(await redocly(broken)).toEqual([expect.stringContaining("operation-summary"), expect.stringContaining("no-unused-components")]);
  });

  test("has no error and no warning by Spectral's recommended rules, which do find planted ones", async () => {
    expect(await spectral(document)).toEqual([]);
    const broken = copy(document);
    delete broken.paths[path][method].tags;
    delete broken.servers;
    expect((await spectral(broken)).map((problem) => problem.split(" ")[0]).sort()).toEqual(["oas3-api-servers", "operation-tags"]);
  });

  test("is plain JSON and the same at each making", () => {
    expect(copy(document)).toStrictEqual(document);
    const again = document === service ? serviceOpenapi(ADDRESS) : controlOpenapi(ADDRESS);
    expect(JSON.stringify(again)).toBe(JSON.stringify(document));
    expect(JSON.stringify(document)).not.toContain('"~');
  });
});

test("a running sandbox serves both documents and the ledger, with its own address", async () => {
  const sandbox = await open();
  expect(await sandbox.control("GET", "/openapi.json")).toEqual(copy(serviceOpenapi(sandbox.url)));
  expect(await sandbox.control("GET", "/control.openapi.json")).toEqual(copy(controlOpenapi(sandbox.url)));
  expect(await sandbox.control("GET", "/assumptions")).toEqual(JSON.parse(JSON.stringify(assumptions())));
  expect(serviceOpenapi(sandbox.url).servers[0]?.url).toBe(sandbox.baseUrl);
});

const declared = [
  { document: service, operations: catalogue, prefix: "" },
  { document: control, operations: controlCatalogue, prefix: "/_sandbox" },
];

test("the documents have every operation of the catalogues, and nothing else", () => {
  for (const { document, operations, prefix } of declared) {
    const printed = Object.entries<Json>(document.paths).flatMap(([path, methods]) =>
      Object.entries<Json>(methods).map(([method, { operationId, tags }]) => `${method.toUpperCase()} ${path} ${operationId} ${tags}`),
    );
    const expected = operations.map(({ method, path, id, area }) => `${method} ${prefix}${path} ${id} ${area}`);
    expect(printed.sort()).toEqual(expected.sort());
    expect(document.tags.map((tag: Json) => tag.name)).toEqual(expect.arrayContaining(operations.map(({ area }) => area)));
  }
});

const resolved = (document: Json, part: Json): Json =>
  part.$ref === undefined
    ? part
    : part.$ref
        .split("/")
        .slice(1)
        .reduce((value: Json, step: string) => value[step], document);

const printedOperation = (document: Json, prefix: string, { path, method }: { path: string; method: string }) =>
  document.paths[prefix + path][method.toLowerCase()];

test("each operation has its success and each of its errors under the status of the table, with an example of each code", () => {
  for (const { document, operations, prefix } of declared)
    for (const operation of operations) {
      const { responses } = printedOperation(document, prefix, operation);
      const replies = Object.entries<Json>(responses).map(([status, response]) => ({ status, ...resolved(document, response) }));
      expect(replies.map(({ status }) => status)).toContain(String(factOf(operation.status)));
      const failed = replies.filter(({ status }) => Number(status) >= 400);
      const found = failed.flatMap(({ status, content }) => {
        const { schema, examples } = content["application/json"];
        expect(schema.allOf[1].properties.code.enum).toEqual(Object.keys(examples));
        return Object.entries<Json>(examples).map(([code, example]) => ({ status, code, value: resolved(document, example).value }));
      });
      for (const { status, code, value } of found) {
        const facts = errors[code as ErrorCode];
        expect({ code, status, ...value }).toMatchObject({ code, status: String(facts.status), error: facts.error, message: facts.when });
      }
      expect(found.map(({ code }) => code)).toEqual(expect.arrayContaining([...operation.errors]));
    }
});

test("what stops any call on its way is on every operation, and what a body or a key can bring only where there is one", () => {
  const codesOf = (id: string) => {
    const operation = catalogue.find((found) => found.id === id);
    if (!operation) throw new Error(`no operation ${id}`);
    const { responses } = printedOperation(service, "", operation);
    const all = Object.values<Json>(responses).map((response) => resolved(service, response));
    return all.flatMap(({ content }) => Object.keys(content["application/json"].examples ?? {}));
  };
  const everywhere = ["missing_api_key", "invalid_api_key", "live_key_refused", "rate_limit_exceeded", "internal_error", "outage"];
  const ofBodies = ["invalid_json", "body_not_object", "payload_too_large", "unsupported_media_type", "validation_failed"];
  const ofKeys = ["idempotency_key_empty", "idempotency_key_too_long", "idempotency_key_reused"];
  expect(codesOf("bookings.decline")).toEqual(expect.arrayContaining([...everywhere, ...ofBodies, ...ofKeys, "invalid_state"]));
  expect(codesOf("payments.list")).toEqual(expect.arrayContaining([...everywhere, "invalid_limit", "invalid_cursor"]));
  for (const code of [...ofBodies, ...ofKeys, "invalid_state"]) expect(codesOf("payments.list")).not.toContain(code);
});

test("the control plane has no rate limits, no idempotency keys and nothing assumed", () => {
  const text = JSON.stringify(control);
  // Words may speak of the service's keys and windows; no operation here takes a key, and no answer tells of a window.
  const absent = ['"RateLimit-', '"name":"Idempotency-Key"', '"rate_limit_exceeded"', '"x-sandbox-assumed"'];
  expect(absent.filter((word) => text.includes(word))).toEqual([]);
  expect(JSON.stringify(service)).toContain('"name":"Idempotency-Key"');
  expect(control.security).toEqual([{}, { controlToken: [] }]);
});

/** The faults that a strict compiler finds in the types of a document together with code that uses them. */
async function compile(document: OpenApiDocument, usage: string): Promise<string[]> {
  const types = astToString(await openapiTS(document as unknown as OpenAPI3));
  const files = new Map([
    ["/types.ts", types],
    ["/usage.ts", usage],
  ]);
  const options: ts.CompilerOptions = { strict: true, noEmit: true, target: ts.ScriptTarget.ES2022, types: [] };
  const host = ts.createCompilerHost(options);
  const { readFile, fileExists } = host;
  host.readFile = (path) => files.get(path) ?? readFile(path);
  host.fileExists = (path) => files.has(path) || fileExists(path);
  const { getSourceFile } = host;
  host.getSourceFile = (path, version, ...rest) => {
    const own = files.get(path);
    return own === undefined ? getSourceFile(path, version, ...rest) : ts.createSourceFile(path, own, version);
  };
  const program = ts.createProgram([...files.keys()], options, host);
  return ts.getPreEmitDiagnostics(program).map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, "\n"));
}

test("types made from the service's document compile strictly, and know right uses from wrong ones", async () => {
  const usage = `
    import type { components, operations, paths, webhooks } from "./types";
    type Json<T> = T extends { content: { "application/json": infer Body } } ? Body : never;
    type Decline = operations["bookings.decline"];
    type Refusal = NonNullable<Json<Decline["responses"][409]>["code"]>;
    export const status: components["schemas"]["booking"]["status"] = "pending";
    export const refusal: Refusal = "invalid_state";
    export const declinedAt = (answer: Json<Decline["responses"][200]>): number | null => answer.declinedAt;
    export const page: NonNullable<paths["/payments"]["get"]["parameters"]["query"]>["limit"] = 100;
    export const next = (list: Json<paths["/payments"]["get"]["responses"][200]>): string | undefined => list.data.at(-1)?.id;
    export const paid = (event: Json<NonNullable<webhooks["payment.succeeded"]["post"]["requestBody"]>>): number | null => event.data.amount;
    // @ts-expect-error: no booking has such a status.
    export const wrongStatus: components["schemas"]["booking"]["status"] = "nonsense";
    // @ts-expect-error: 409 is another error.
    export const wrongRefusal: Refusal = "rate_limit_exceeded";
    // @ts-expect-error: no operation has this path.
    export type WrongPath = paths["/refunds"];`;
  expect(await compile(service, usage)).toEqual([]);
});

test("types made from the control plane's document compile strictly", async () => {
  const usage = `
    import type { paths } from "./types";
    export type Clock = paths["/_sandbox/clock"]["get"]["responses"][200]["content"]["application/json"];`;
  expect(await compile(control, usage)).toEqual([]);
});

const ODD = [null, "", "odd", -1, 0.5, 1, true, false, [], [null], {}, { odd: 1 }];

/** The value, with one of its parts, chosen by number, gone or replaced by something odd. */
function mutate(value: Json, at: number, how: number): Json {
  const places: [Json, string][] = [];
  const whole = JSON.parse(JSON.stringify(value));
  const visit = (part: Json) => {
    if (typeof part !== "object" || part === null) return;
    for (const name of Object.keys(part)) {
      places.push([part, name]);
      visit(part[name]);
    }
  };
  visit(whole);
  const [owner, name] = places[at % places.length] ?? [whole, "id"];
  if (how === ODD.length && !Array.isArray(owner)) delete owner[name];
  else owner[name] = ODD[how % ODD.length];
  return whole;
}

test("the document's schemas take what the handlers answer, and refuse whatever the pipe would refuse", async () => {
  const replies = await exampleReplies();
  const mutation = fc.record({ operation: fc.nat(catalogue.length - 1), at: fc.nat(200), how: fc.nat(ODD.length) });
  await fc.assert(
    fc.asyncProperty(fc.array(mutation, { minLength: 100, maxLength: 200 }), async (mutations) => {
      const document = copy(service);
      const expected = new Set<string>();
      const hang = (number: number, index: number, value: Json) => {
        const operation = catalogue[number % catalogue.length];
        if (!operation) return;
        const status = factOf(operation.status);
        const media = printedOperation(document, "", operation).responses[status].content["application/json"];
        media.examples = { ...media.examples, [`value${index}`]: { value } };
        if (!matchesSchema(operation.reply, value)) expected.add(`value${index}`);
      };
      catalogue.forEach(({ id }, index) => void hang(index, index, replies[id]));
      expect([...expected]).toEqual([]);
      mutations.forEach(({ operation, at, how }, index) => {
        const reply = replies[catalogue[operation]?.id ?? ""];
        hang(operation, catalogue.length + index, mutate(reply, at, how));
      });
      const rules = { "no-invalid-media-type-examples": { severity: "error" as const, allowAdditionalProperties: true } };
      const refused = (await redocly(document, rules)).map((problem) => /examples\/(value\d+)/.exec(problem)?.[1] ?? problem);
      expect(new Set(refused)).toEqual(expected);
    }),
    { numRuns: 3 },
  );
});

/** The document's entry for an event, as a body that a receiver of these bodies would have. */
function withDelivered(bodies: Json[]): Json {
  const document = copy(service);
  for (const [index, body] of bodies.entries()) {
    const media = document.webhooks[body.type].post.requestBody.content["application/json"];
    media.examples = { ...media.examples, [`value${index}`]: { value: body } };
  }
  return document;
}

test("the document's webhooks take what the operations really send, each the record of its own kind", async () => {
  const sandbox = await open();
  for (const { id, method, path, headers, body } of exampleCalls())
    if (id !== "events.test") await sandbox.call(method, `/v1${path}`, { key: null, headers, body, contentType: null });
  const { data } = await sandbox.control("GET", "/events?limit=100");
  const bodies = data.map((event: Json) => event.body);
  expect(bodies.map(({ type }: Json) => type).sort()).toEqual(catalogue.flatMap(({ emits }) => emits.map(factOf)).sort());
  for (const body of bodies) {
    expect(Object.keys(body)).toEqual(Object.keys(service.components.schemas?.event?.properties));
    expect(service.webhooks?.[body.type]?.post.requestBody.content["application/json"].schema.allOf[1].properties.data).toEqual({
      $ref: `#/components/schemas/${body.data.object}`,
    });
  }
  const rules = { "no-invalid-media-type-examples": { severity: "error" as const, allowAdditionalProperties: true } };
  expect(await redocly(withDelivered(bodies), rules)).toEqual([]);
  const strangers = bodies.map((body: Json) => ({ ...body, data: { ...body.data, id: 1 } }));
  expect(await redocly(withDelivered(strangers), rules)).toHaveLength(strangers.length);
});
