// The OpenAPI documents in third-party tools: Redocly and Spectral report no problem, and the generated types compile.

import fc from "fast-check";
import ts from "typescript";
import { describe, expect, test } from "vitest";
import { controlOpenapi, serviceOpenapi } from "../../scripts/reference/documents.ts";
import { catalogue } from "../../src/areas/index.ts";
import type { OpenApiDocument } from "../../src/reference/openapi-forms.ts";
import { serviceOpenapi as serviceOpenapiUnder } from "../../src/sandbox/documents.ts";
import { factOf } from "../../src/schema/assumed.ts";
import { matchesSchema } from "../../src/schema/validator.ts";
import { exampleEvents, exampleReplies } from "../support/example-calls.ts";
import { otherAssumptions } from "../support/other-assumptions.ts";
import { importTool } from "./import-tool.ts";

// biome-ignore lint/suspicious/noExplicitAny: the tests read the documents as plain JSON, as other tools do.
type Json = any;

const { createConfig, lintFromString } = await importTool("@redocly/openapi-core");
const { default: core } = await importTool("@stoplight/spectral-core");
const { default: parsers } = await importTool("@stoplight/spectral-parsers");
const { default: rulesets } = await importTool("@stoplight/spectral-rulesets");
const { default: openapiTS, astToString } = await importTool("openapi-typescript");

const ADDRESS = "http://127.0.0.1:4747";
const service: Json = serviceOpenapi(ADDRESS);
const control: Json = controlOpenapi(ADDRESS);

const copy = (document: OpenApiDocument): Json => JSON.parse(JSON.stringify(document));

type Rules = Record<string, { severity: "error" } & Record<string, unknown>>;

/** Problems that the recommended rules of Redocly find, as `rule at pointer`. `rules` overrides some of these rules. */
async function redocly(document: unknown, rules: Rules = {}): Promise<string[]> {
  const config = await createConfig({ extends: ["recommended"], rules });
  const problems = await lintFromString({ source: JSON.stringify(document), absoluteRef: "/openapi.json", config });
  return problems.map(({ ruleId, location }: Json) => `${ruleId} at ${location[0]?.pointer}`);
}

async function spectral(document: unknown): Promise<string[]> {
  const linter = new core.Spectral();
  linter.setRuleset({ extends: [[rulesets.oas, "recommended"]] });
  const problems = await linter.run(new core.Document(JSON.stringify(document), parsers.Json, "/openapi.json"));
  return problems.map(({ code, path }: Json) => `${code} at ${path.join("/")}`);
}

describe.each([
  ["the service", service, "/payments", "get"],
  ["the control API", control, "/_sandbox/clock", "get"],
] as const)("the document of %s", (_, document, path, method) => {
  test("has no problem under Redocly's recommended rules, which find the mistakes of a broken copy", async () => {
    expect(await redocly(document)).toEqual([]);
    const broken = copy(document);
    delete broken.paths[path][method].summary;
    broken.components.schemas.Unused = { type: "string" };
    expect(await redocly(broken)).toEqual([
      expect.stringContaining("operation-summary"),
      expect.stringContaining("no-unused-components"),
    ]);
  });

  test("has no problem under Spectral's recommended rules, which find the mistakes of a broken copy", async () => {
    expect(await spectral(document)).toEqual([]);
    const broken = copy(document);
    delete broken.paths[path][method].tags;
    delete broken.servers;
    expect((await spectral(broken)).map((problem) => problem.split(" ")[0]).sort()).toEqual([
      "oas3-api-servers",
      "operation-tags",
    ]);
  });
});

test.each([
  ["the service", serviceOpenapi(ADDRESS, { version: "3.0", extensions: "off" })],
  ["the control API", controlOpenapi(ADDRESS, { version: "3.0" })],
] as const)("Redocly's rules find no problem in the OpenAPI 3.0 form of the document of %s", async (_, older) => {
  expect(older.openapi).toBe("3.0.3");
  expect(await redocly(older)).toEqual([]);
});

test.each(["3.1", "3.0"] as const)(
  "Redocly's rules find no problem in the service's OpenAPI %s document if every assumption is changed",
  async (version) => {
    const extensions = version === "3.0" ? "off" : "on";
    expect(await redocly(serviceOpenapiUnder(ADDRESS, { version, extensions }, otherAssumptions()))).toEqual([]);
  },
);

/** The errors of a strict compilation of the generated types and of code that uses them. */
async function compile(document: OpenApiDocument, usage: string): Promise<string[]> {
  const types = astToString(await openapiTS(document));
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

test("types generated from the service's document compile strictly and reject wrong uses", async () => {
  const usage = `
    import type { components, operations, paths, webhooks } from "./types";
    type Json<T> = T extends { content: { "application/json": infer Body } } ? Body : never;
    type Decline = operations["bookingsDecline"];
    type Refusal = NonNullable<Json<Decline["responses"][409]>["code"]>;
    export const status: components["schemas"]["Booking"]["status"] = "pending";
    export const refusal: Refusal = "invalid_state";
    export const declinedAt = (answer: Json<Decline["responses"][200]>): number | null => answer.declinedAt;
    export const page: NonNullable<paths["/payments"]["get"]["parameters"]["query"]>["limit"] = 100;
    export const next = (list: Json<paths["/payments"]["get"]["responses"][200]>): string | undefined =>
      list.data.at(-1)?.id;
    type Paid = Json<NonNullable<webhooks["payment.succeeded"]["post"]["requestBody"]>>;
    export const paid = (event: Paid): number | null => event.data.amount;
    // @ts-expect-error: no booking has such a status.
    export const wrongStatus: components["schemas"]["Booking"]["status"] = "nonsense";
    // @ts-expect-error: no operation returns this code.
    export const wrongRefusal: Refusal = "no_such_code";
    // @ts-expect-error: no operation has this path.
    export type WrongPath = paths["/refunds"];`;
  expect(await compile(service, usage)).toEqual([]);
});

test("types generated from the control API's document compile strictly", async () => {
  const usage = `
    import type { components, paths } from "./types";
    export const rule: components["schemas"]["FaultsAddInput"] = { action: { type: "rate_limit", retryAfter: 2 } };
    // @ts-expect-error: no action has this type.
    export const wrongRule: components["schemas"]["FaultsAddInput"] = { action: { type: "no_such_action" } };
    export type Clock = paths["/_sandbox/clock"]["get"]["responses"][200]["content"]["application/json"];`;
  expect(await compile(control, usage)).toEqual([]);
});

const ODD = [null, "", "odd", -1, 0.5, 1, true, false, [], [null], {}, { odd: 1 }];

/** A copy of the value with one part removed or replaced. `at` selects the part, and `how` the change. */
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

/** The document without its own examples, because the linter takes time for each example. */
const withoutExamples = (): Json =>
  JSON.parse(JSON.stringify(service, (name, value) => (name === "example" || name === "examples" ? undefined : value)));

test("the document's schemas accept every example reply, and reject the same mutations as the sandbox", async () => {
  const replies = await exampleReplies();
  const mutation = fc.record({ operation: fc.nat(catalogue.length - 1), at: fc.nat(200), how: fc.nat(ODD.length) });
  await fc.assert(
    fc.asyncProperty(fc.array(mutation, { minLength: 100, maxLength: 200 }), async (mutations) => {
      const document = withoutExamples();
      const expected = new Set<string>();
      const addExample = (number: number, index: number, value: Json) => {
        const operation = catalogue[number % catalogue.length];
        if (!operation) return;
        const status = factOf(operation.status);
        const { responses } = document.paths[operation.path][operation.method.toLowerCase()];
        const media = responses[status].content["application/json"];
        media.examples = { ...media.examples, [`value${index}`]: { value } };
        if (!matchesSchema(operation.reply, value)) expected.add(`value${index}`);
      };
      catalogue.forEach(({ id }, index) => void addExample(index, index, replies[id]));
      expect([...expected]).toEqual([]);
      mutations.forEach(({ operation, at, how }, index) => {
        const reply = replies[catalogue[operation]?.id ?? ""];
        addExample(operation, catalogue.length + index, mutate(reply, at, how));
      });
      const rules = {
        "no-invalid-media-type-examples": { severity: "error" as const, allowAdditionalProperties: true },
      };
      const refused = (await redocly(document, rules)).map(
        (problem) => /examples\/(value\d+)/.exec(problem)?.[1] ?? problem,
      );
      expect(new Set(refused)).toEqual(expected);
    }),
    { numRuns: 3 },
  );
});

/** The document with each event body as an example of the request body at its webhook entry. */
function withDelivered(bodies: Json[]): Json {
  const document = withoutExamples();
  for (const [index, body] of bodies.entries()) {
    const media = document.webhooks[body.type].post.requestBody.content["application/json"];
    media.examples = { ...media.examples, [`value${index}`]: { value: body } };
  }
  return document;
}

test("the document's webhook schemas accept every event, and reject a record whose id is a number", async () => {
  const bodies = await exampleEvents();
  const rules = { "no-invalid-media-type-examples": { severity: "error" as const, allowAdditionalProperties: true } };
  expect(await redocly(withDelivered(bodies), rules)).toEqual([]);
  const strangers = bodies.map((body: Json) => ({ ...body, data: { ...body.data, id: 1 } }));
  expect(await redocly(withDelivered(strangers), rules)).toHaveLength(strangers.length);
});
