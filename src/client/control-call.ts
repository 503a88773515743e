// The client of the control API: describes calls as values, and creates a typed method for each operation over a given
// transport.

import type { ControlApi } from "../../generated/control-api.ts";
import { controlOperations } from "../../generated/control-operations.ts";
import type { Method } from "../contracts/endpoint.ts";
import { atCaller, usageError } from "../kernel/errors.ts";

/** The names of the path parameters, in order. */
export const paramNames = (path: string): string[] =>
  [...path.matchAll(/\{(\w+)\}/g)].map((match) => match[1] as string);

/** The entry of an operation in the generated table. */
export interface OperationEntry {
  readonly id: string;
  readonly method: Method;
  /** The path below /_sandbox, with parameters in braces. */
  readonly path: string;
  /** Whether the operation takes a body. */
  readonly body?: true;
  /** The query parameters, if the operation also takes a body. */
  readonly query?: readonly string[];
}

/** Operations by group and name: `faults.add` is in the group `faults` under `add`. */
type OperationTable = Readonly<Record<string, Readonly<Record<string, OperationEntry>>>>;

declare const REPLY: unique symbol;

/** A call whose reply has the type `Reply`. The property exists only for the compiler. */
export interface CallFor<Reply> {
  readonly [REPLY]?: Reply;
}

export interface ControlCall<Reply = unknown> extends CallFor<Reply> {
  readonly method: Method;
  /** The path below /_sandbox, with the query. */
  readonly path: string;
  readonly body?: object;
}

/** The input of a call, divided into the parts of an HTTP request. */
export interface CallInput {
  readonly operation: string;
  readonly params: Readonly<Record<string, string>>;
  /** The query without its question mark. */
  readonly search: string;
  readonly body: object | undefined;
}

/**
 * The control API with methods that return the call instead of sending it. An overloaded method has the type of its
 * last overload.
 */
export type ControlCalls<Plane = ControlApi> = {
  readonly [Name in keyof Plane]: Plane[Name] extends (...input: infer Input) => Promise<infer Reply>
    ? (...input: Input) => ControlCall<Reply>
    : ControlCalls<Plane[Name]>;
};

export type Input = Readonly<Record<string, unknown>>;

/**
 * Path parameters go into the path, and query parameters into the query. Other fields go into the body, or into the
 * query if the operation has no body.
 */
function divideInput({ id, path, body, query = [] }: OperationEntry, input: Input = {}): CallInput {
  const names = paramNames(path);
  const params = Object.fromEntries(names.map((name) => [name, String(input[name] ?? "")]));
  const rest = Object.entries(input).filter(([name, value]) => !names.includes(name) && value !== undefined);
  const isQuery = ([name]: [string, unknown]) => body === undefined || query.includes(name);
  const search = new URLSearchParams(
    rest.filter(isQuery).map(([name, value]): [string, string] => [name, String(value)]),
  ).toString();
  return { operation: id, params, search, body: body && Object.fromEntries(rest.filter((entry) => !isQuery(entry))) };
}

export function describeCall({ method, path }: OperationEntry, { params, search, body }: CallInput): ControlCall {
  const filled = path.replaceAll(/\{(\w+)\}/g, (_, name: string) =>
    encodeURIComponent((params[name] ?? "").toWellFormed()),
  );
  return { method, path: search === "" ? filled : `${filled}?${search}`, ...(body && { body }) };
}

const table: OperationTable = controlOperations;

/** The group whose methods belong to the control API object itself. */
const ROOT_GROUP = "sandbox";

const groups = Object.entries(table).map(
  ([group, operations]) =>
    [
      group,
      Object.entries(operations).map(([name, operation]) => ({ name, operation, fullName: `${group}.${name}` })),
    ] as const,
);

/**
 * Creates one function per operation, in its group. All are created at once, because lazy getters per group cost twice
 * as much.
 */
function operationMethods(methodFor: (operation: OperationEntry, name: string) => (input?: Input) => unknown): object {
  const methods: Record<string, unknown> = {};
  for (const [group, operations] of groups) {
    const inGroup: Record<string, unknown> = group === ROOT_GROUP ? methods : {};
    for (const { name, operation, fullName } of operations) inGroup[name] = methodFor(operation, fullName);
    if (inGroup !== methods) methods[group] = inGroup;
  }
  return methods;
}

/** Describes calls to show, store or send later: `controlCalls.faults.remove({ id })`. */
export const controlCalls = operationMethods(
  (operation) => (input) => describeCall(operation, divideInput(operation, input)),
) as ControlCalls;

/** Sends a call and resolves with its reply: JSON as a value, a document as text. */
export type ControlTransport = (call: ControlCall, input: CallInput) => Promise<unknown>;

export const createControlClient = (transport: ControlTransport): ControlApi =>
  operationMethods((operation, name) => {
    const method = async (input: Input = {}) => {
      try {
        const divided = divideInput(operation, input);
        for (const param of Object.keys(divided.params)) requireText(name, param, input[param]);
        return await transport(describeCall(operation, divided), divided);
      } catch (error) {
        throw atCaller(error, method);
      }
    };
    return method;
  }) as ControlApi;

function requireText(operation: string, param: string, value: unknown): void {
  if (typeof value === "string" && value !== "") return;
  usageError(`${operation} needs ${param}, which is text; received ${JSON.stringify(value) ?? "none"}.`);
}
