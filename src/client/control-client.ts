// The client of the control plane: a typed method for each operation, over whichever transport it is given.

import { SandboxError } from "../kernel/errors.ts";
import { type ControlCall, describeCall, type Input, operationMethods } from "./control-call.ts";
import type { ControlPlane } from "./control-plane.generated.ts";

/** Sends a call and resolves with its reply: JSON as a value, a document as text. */
export type ControlTransport = (call: ControlCall) => Promise<unknown>;

export const createControlClient = (transport: ControlTransport): ControlPlane =>
  operationMethods((operation, name) => async (input: Input = {}) => {
    const call = describeCall(operation, input);
    for (const param of Object.keys(call.params)) requireText(name, param, input[param]);
    return transport(call);
  }) as ControlPlane;

function requireText(operation: string, param: string, value: unknown): void {
  if (typeof value === "string" && value !== "") return;
  throw new SandboxError(`${operation} needs ${param}, which is text; received ${JSON.stringify(value) ?? "none"}.`, "usage");
}
