// JSON-RPC 2.0 with one message per line, for the stdio transport of the Model Context Protocol.

import { isObject } from "../../kernel/json-object.ts";

/** The protocol's own errors. */
export const RPC_ERRORS = {
  parse: -32_700,
  request: -32_600,
  method: -32_601,
  params: -32_602,
  internal: -32_603,
} as const;

export class RpcError extends Error {
  readonly kind: keyof typeof RPC_ERRORS;

  constructor(kind: keyof typeof RPC_ERRORS, message: string) {
    super(message);
    this.kind = kind;
  }
}

/** The methods by name. The parameters are an object, whose fields the method checks. */
export type RpcMethods = Readonly<Record<string, (params: Record<string, unknown>) => Promise<object> | object>>;

/** Answers one line: a message, or a batch of messages, which the protocol had before version 2025-06-18. */
export async function answerLine(line: string, methods: RpcMethods): Promise<object | undefined> {
  let message: unknown;
  try {
    message = JSON.parse(line);
  } catch {
    return failure(null, new RpcError("parse", "The line is not JSON."));
  }
  if (!Array.isArray(message) || message.length === 0) return answer(message, methods);
  const answers = (await Promise.all(message.map((one) => answer(one, methods)))).filter((one) => one !== undefined);
  return answers.length === 0 ? undefined : answers;
}

/** Answers one message. A notification, which has no id, gets no answer. */
async function answer(message: unknown, methods: RpcMethods): Promise<object | undefined> {
  let id: unknown = null;
  try {
    if (!isObject(message) || message.jsonrpc !== "2.0")
      throw new RpcError("request", 'A message is an object with "jsonrpc": "2.0".');
    const { method, params = {} } = message;
    id = message.id ?? null;
    if (typeof method !== "string") {
      // Ignores responses of the client, because this server sends no requests.
      if ("result" in message || "error" in message) return undefined;
      throw new RpcError("request", "A request has a method.");
    }
    if (message.id === undefined) return undefined;
    const call = Object.hasOwn(methods, method) ? methods[method] : undefined;
    if (!call) throw new RpcError("method", `There is no method ${method}.`);
    if (!isObject(params)) throw new RpcError("params", "params must be an object.");
    return { jsonrpc: "2.0", id, result: await call(params) };
  } catch (error) {
    return failure(id, error as Error);
  }
}

function failure(id: unknown, error: Error): object {
  const kind = error instanceof RpcError ? error.kind : "internal";
  return { jsonrpc: "2.0", id, error: { code: RPC_ERRORS[kind], message: error.message } };
}
