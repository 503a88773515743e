// The control plane as methods: one for each operation, in the group that its id names; how a call is carried out is another's business.

import { paramNames } from "../contracts/endpoint.ts";
import type { ControlOperation } from "../control/control-context.ts";
import { controlCatalogue } from "../control/index.ts";
import { SandboxError } from "../kernel/errors.ts";
import type { ControlPlane } from "./control-plane.generated.ts";

/** A call of one operation, parted as HTTP would have it. */
export interface ControlCall {
  params: Record<string, string>;
  /** Without its question mark. */
  search: string;
  body: Record<string, unknown>;
}

/** Carries a call out, wherever the sandbox is; a document is answered as text. */
export type Carry = (operation: ControlOperation, call: ControlCall) => Promise<unknown>;

type Given = Readonly<Record<string, unknown>>;
type Method = (given?: Given) => Promise<unknown>;

/** `rate_limits.set` as `rateLimits` and `set`. */
const named = controlCatalogue.map((operation) => ({ operation, names: camel(operation.id).split(".") as [string, string] }));

/** The group of what concerns the sandbox as a whole: its methods are the sandbox's own. */
const WHOLE = "sandbox";

export const controlMethods = (carry: Carry): ControlPlane =>
  Object.defineProperties({ [CARRY]: carry, ...methodsOf(WHOLE, carry) }, groups) as unknown as ControlPlane;

const CARRY = Symbol("carry");

/** Made when somebody looks at it: a test makes a sandbox for itself, and steers little of it. */
const groups: PropertyDescriptorMap = Object.fromEntries(
  named
    .filter(({ names: [group] }) => group !== WHOLE)
    .map(({ names: [group] }) => [group, { enumerable: true, configurable: true, get: madeAs(group) }]),
);

function madeAs(group: string) {
  return function (this: { [CARRY]: Carry }): Record<string, Method> {
    const value = methodsOf(group, this[CARRY]);
    Object.defineProperty(this, group, { enumerable: true, value });
    return value;
  };
}

function methodsOf(wanted: string, carry: Carry): Record<string, Method> {
  const methods: Record<string, Method> = {};
  for (const { operation, names } of named) {
    const [group, name] = names;
    if (group === wanted) methods[name] = async (given) => carry(operation, parted(operation, given ?? {}));
  }
  return methods;
}

/** What does not belong to the path or the body goes with the query, which refuses what it does not know. */
function parted({ id, path, query, body }: ControlOperation, given: Given): ControlCall {
  const names = paramNames(path);
  const params = Object.fromEntries(names.map((name) => [name, paramOf(id, name, given[name])]));
  const others = Object.entries(given).filter(([name, value]) => !names.includes(name) && value !== undefined);
  const isAsked = ([name]: [string, unknown]) => body === undefined || Object.hasOwn(query.properties, name);
  const asked = others.filter(isAsked).map(([name, value]): [string, string] => [name, String(value)]);
  return { params, search: new URLSearchParams(asked).toString(), body: Object.fromEntries(others.filter((entry) => !isAsked(entry))) };
}

function paramOf(id: string, name: string, value: unknown): string {
  if (typeof value === "string" && value !== "") return value;
  throw new SandboxError(`${camel(id)} needs ${name}, which is text; received ${JSON.stringify(value) ?? "none"}.`, "usage");
}

function camel(id: string): string {
  return id.replaceAll(/_(\w)/g, (_, letter: string) => letter.toUpperCase());
}
