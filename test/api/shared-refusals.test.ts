// Errors that many operations share: each operation returns all those that the OpenAPI document lists for it.

import { expect, test } from "vitest";
import { serviceOpenapi } from "../../scripts/reference/documents.ts";
import { catalogue } from "../../src/areas/index.ts";
import type { ErrorCode } from "../../src/kernel/errors.ts";
import { type CallOptions, shareForBlock } from "../support/sandbox.ts";

/** The request or fault that causes each error. With `again`, the error needs a second call with another query. */
const causes: Partial<Record<ErrorCode, CallOptions & { fault?: object; again?: true }>> = {
  invalid_json: { body: "{" },
  idempotency_key_in_use: { fault: { type: "idempotency", as: "in_progress" }, headers: { "idempotency-key": "busy" } },
  payload_too_large: { body: JSON.stringify({ x: "x".repeat(1_048_576) }) },
  unsupported_media_type: { body: "{}", contentType: "text/plain" },
  idempotency_key_reused: { headers: { "idempotency-key": "known" }, again: true },
  injected_rate_limit: { fault: { type: "rate_limit" } },
  injected_error: { fault: { type: "status", status: 500 } },
  outage: { fault: { type: "status", status: 503 } },
};

const document = serviceOpenapi("http://127.0.0.1:4747") as unknown as {
  paths: Record<string, Record<string, { responses: object }>>;
};

const documentedStatuses = ({ path, method }: (typeof catalogue)[number]) =>
  Object.keys(document.paths[path]?.[method.toLowerCase()]?.responses ?? {});

const shared = shareForBlock();

test.each(catalogue.map((operation) => [operation.id, operation] as const))(
  "%s returns the shared errors that the OpenAPI document lists for it",
  async (id, operation) => {
    const bench = shared();
    const example = (_: string, name: string) => operation.exampleParams[name] ?? "whe_1";
    const path = `/v1${operation.path.replace(/\{(\w+)\}/g, example)}`;
    const causable = operation.idempotent
      ? Object.keys(causes)
      : Object.keys(causes).filter((code) => !code.startsWith("idempotency"));
    const statuses = new Set<string>();
    for (const code of causable as ErrorCode[]) {
      const { fault, again, ...options } = causes[code] ?? {};
      if (operation.method === "GET" && options.body !== undefined) continue;
      if (fault) await bench.control("POST", "/faults", { match: { operation: id }, action: fault });
      const send = (query: string) =>
        bench.call(operation.method, path + query, { body: operation.example, ...options });
      if (again) await send("");
      const answer = await send(again ? "?other=1" : "");
      expect(answer.body.code, answer.text).toBe(code);
      statuses.add(String(answer.status));
    }
    // The other statuses that the document lists depend on the operation: contract.test.ts causes them.
    const own = ["200", "201", "401", "403", "404"];
    if (operation.method === "GET") own.push("400");
    if (!operation.idempotent) own.push("409");
    expect([...statuses].sort()).toEqual(
      documentedStatuses(operation)
        .filter((status) => !own.includes(status))
        .sort(),
    );
  },
);
