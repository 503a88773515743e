// The tools that the MCP server offers: short views of the control API, and calls of the service with a test key.

import type { ClockSetInput } from "../../../generated/control-api.ts";
import { catalogue } from "../../areas/index.ts";
import { controlCatalogue } from "../../control/index.ts";
import { tryParseJson } from "../../kernel/attempt.ts";
import { didYouMean } from "../../kernel/did-you-mean.ts";
import { usageError } from "../../kernel/errors.ts";
import { randomToken } from "../../kernel/random.ts";
import { REQUEST_ID_HEADER } from "../../reference/headers.ts";
import { ruleOf } from "../commands/fault.ts";
import { requestDetails } from "../commands/lists.ts";
import type { RunningSandbox } from "../remote/running-sandbox.ts";

type Given = Readonly<Record<string, unknown>>;

export interface Tool {
  name: string;
  description: string;
  /** Offered only with --allow-changes. */
  changes?: true;
  /** JSON Schemas of the arguments by name. */
  properties: Readonly<Record<string, object>>;
  required?: readonly string[];
  call(sandbox: RunningSandbox, given: Given, mayChange: boolean): Promise<unknown>;
}

const text = (description: string) => ({ type: "string", description });

/** The JSON Schemas of some filters of a list, without the keywords that only the sandbox's own pages need. */
function filtersOf(id: string, names: readonly string[]) {
  const { properties = {} } = controlCatalogue.find((operation) => operation.id === id)?.query ?? {};
  return Object.fromEntries(
    names.map((name) => {
      const { type, description } = properties[name] as { type?: string; description?: string };
      return [name, { type: type ?? "string", description }];
    }),
  );
}

const list = (name: "requests" | "deliveries" | "verdicts", description: string, filters: string[]): Tool => ({
  name,
  description,
  properties: filtersOf(`${name}.list`, filters),
  call: ({ control }, given) =>
    (control[name] as { list(query: object): Promise<unknown> }).list({ limit: 10, ...given }),
});

export const tools: readonly Tool[] = [
  {
    name: "overview",
    description: "The sandbox: its address, merchants with their test keys, clock, counts and pending deliveries.",
    properties: {},
    call: ({ control }) => control.overview(),
  },
  list("requests", "The newest requests of clients.", ["limit", "operation", "merchant", "status", "filter"]),
  {
    name: "request",
    description: "One request with its headers, bodies, events, deliveries and verdicts.",
    properties: { id: text("such as req_…") },
    required: ["id"],
    call: ({ control }, { id }) => requestDetails(control, String(id)),
  },
  list("deliveries", "The newest webhook delivery attempts, with the receiver's answers.", [
    "limit",
    "eventId",
    "merchant",
    "filter",
  ]),
  {
    name: "verdicts",
    description: "What the judge found: mistakes of clients and receivers, each with its evidence and how to fix it.",
    properties: filtersOf("verdicts.list", ["verdict", "rule", "merchant"]),
    call: ({ control }, given) => control.verdicts.list(given),
  },
  {
    name: "explain_signature",
    description: "Explains why the signature that a receiver computed differs from the delivery's.",
    properties: {
      endpoint: text("we_…, the endpoint of the delivery"),
      body: text("the body as the receiver hashed it"),
      signature: text("the signature that the receiver computed or received"),
    },
    required: ["endpoint", "body", "signature"],
    call: ({ control }, { endpoint, body, signature }) =>
      control.signature.explain({ endpoint: String(endpoint), body: String(body), signature: String(signature) }),
  },
  {
    name: "call_operation",
    description:
      "Calls an operation of the API under /v1 with a test key, such as payments.list; " +
      "GET only, unless changes are allowed.",
    properties: {
      operation: text("such as payroll.create"),
      params: { type: "object", description: "path parameters" },
      query: { type: "object" },
      body: { type: "object" },
      apiKey: text("sk_test_… (default: the key of the first merchant)"),
      idempotencyKey: text("default: a new one"),
    },
    required: ["operation"],
    call: callOperation,
  },
  {
    name: "fault",
    description: "Arms a fault for the next matching call or delivery, or removes one; without arguments, lists them.",
    changes: true,
    properties: {
      action: text("503, 429, lost-response, latency=2s, …"),
      on: text("an operation, or an event type for a fault of deliveries"),
      times: { type: "integer" },
      merchant: text("only this merchant"),
      remove: text("id of a rule to remove, or all"),
    },
    call: fault,
  },
  {
    name: "clock",
    description: "Shows or sets the sandbox time; advance makes everything due by then happen.",
    changes: true,
    properties: {
      advance: text("such as 1h or 30d"),
      mode: { type: "string", enum: ["frozen", "offset", "real"] },
      now: text("the time for frozen or offset, such as 2026-01-05T09:00:00Z"),
    },
    call({ control }, { advance, ...given }) {
      if (advance !== undefined) return control.clock.advance({ by: String(advance) });
      return Object.keys(given).length === 0
        ? control.clock.get()
        : control.clock.set(given as unknown as ClockSetInput);
    },
  },
  {
    name: "reset",
    description: "Resets records, logs, faults and clock to the start, or the data of only one merchant.",
    changes: true,
    properties: { merchant: text("such as mer_lodge") },
    call: ({ control }, given) => control.reset(given),
  },
];

function fault({ control }: RunningSandbox, { action, on, times, merchant, remove }: Given): Promise<unknown> {
  if (remove === "all") return control.faults.clear();
  if (remove !== undefined) return control.faults.remove({ id: String(remove) });
  if (action === undefined) return control.faults.list();
  const flags = { times: times === undefined ? undefined : String(times), merchant: merchant as string | undefined };
  return control.faults.add(ruleOf(String(action), on === undefined ? [] : [String(on)], flags));
}

async function callOperation(sandbox: RunningSandbox, given: Given, mayChange: boolean): Promise<unknown> {
  const { operation: id, params = {}, query = {}, body, apiKey, idempotencyKey = randomToken() } = given;
  const operation = catalogue.find((one) => one.id === id);
  if (!operation)
    return usageError(
      `There is no operation ${id}.${didYouMean(
        String(id),
        catalogue.map((one) => one.id),
      )}`,
    );
  const { method, path } = operation;
  if (method !== "GET" && !mayChange)
    return usageError(`${operation.id} changes data. Start the server with --allow-changes to call it.`);
  const testKey = String(apiKey ?? (await sandbox.merchant(undefined)).key);
  if (!testKey.startsWith("sk_test_")) return usageError("The key must begin with sk_test_.");
  const filled = path.replaceAll(/\{(\w+)\}/g, (_, name: string) =>
    encodeURIComponent(String((params as Given)[name] ?? usageError(`params.${name} is missing.`))),
  );
  const search = new URLSearchParams(query as Record<string, string>);
  const answer = await fetch(`${sandbox.url}/v1${filled}${search.size > 0 ? `?${search}` : ""}`, {
    method,
    headers: {
      Authorization: `Bearer ${testKey}`,
      ...(method !== "GET" && { "Content-Type": "application/json", "Idempotency-Key": String(idempotencyKey) }),
    },
    ...(method !== "GET" && { body: JSON.stringify(body ?? {}) }),
  });
  const said = await answer.text();
  return {
    status: answer.status,
    request: answer.headers.get(REQUEST_ID_HEADER),
    // A fault may have corrupted the JSON.
    body: said === "" ? null : (tryParseJson(said) ?? said),
  };
}
