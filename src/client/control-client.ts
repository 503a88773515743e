// The client of the control API: a typed method for each operation, over whichever transport it is given.

import type { ControlApi } from "../../generated/control-api.ts";
import { SandboxError } from "../kernel/errors.ts";
import { type CallInput, type ControlCall, describeCall, divideInput, type Input, operationMethods } from "./control-call.ts";

/** Sends a call and resolves with its reply: JSON as a value, a document as text. */
export type ControlTransport = (call: ControlCall, input: CallInput) => Promise<unknown>;

export const createControlClient = (transport: ControlTransport): ControlApi =>
  operationMethods((operation, name) => async (input: Input = {}) => {
    const divided = divideInput(operation, input);
    for (const param of Object.keys(divided.params)) requireText(name, param, input[param]);
    return transport(describeCall(operation, divided), divided);
  }) as ControlApi;

function requireText(operation: string, param: string, value: unknown): void {
  if (typeof value === "string" && value !== "") return;
  throw new SandboxError(`${operation} needs ${param}, which is text; received ${JSON.stringify(value) ?? "none"}.`, "usage");
}
