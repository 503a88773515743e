// Checks replies before a command uses them: the server at an address may be another program, another version, or hostile.

import type { CallInput, ControlCall, ControlTransport } from "../../client/control-call.ts";
import { SandboxError } from "../../kernel/errors.ts";
import type { TSchema } from "../../schema/shapes.ts";
import { fieldErrors, matchesSchema } from "../../schema/validator.ts";

/** Characters of a reply; more are not read, so the reply is refused. The largest are reports and full pages of the request log. */
export const MAX_REPLY = 64 * 1_048_576;

/** A transport whose replies match the schemas of their operations; `refused` makes the error for one that does not. */
export const checkedTransport =
  (
    url: string,
    send: (call: ControlCall) => Promise<unknown>,
    refused = (message: string): Error => new SandboxError(message),
  ): ControlTransport =>
  async (call: ControlCall, { operation: id, search }: CallInput) => {
    // The schemas are loaded while the request is on its way.
    const [reply, { controlCatalogue }] = await Promise.all([send(call), import("../../control/index.ts")]);
    const operation = controlCatalogue.find((one) => one.id === id);
    if (!operation) throw new Error(`The catalogue has no operation ${id}`);
    const isDocument = typeof reply === "string" && (new URLSearchParams(search).get("format") ?? "json") !== "json";
    if (isDocument && Object.keys(operation.documents).length > 0) return reply;
    const problem = problemOf(operation.reply, reply);
    if (problem === undefined) return reply;
    throw refused(foreignReply(call.method, `${url}/_sandbox${call.path}`, problem));
  };

const foreignReply = (method: string, address: string, problem: string) =>
  `${method} ${address} returned a reply that this version does not know: ${problem} Use the version of the command that belongs to the sandbox.`;

/** The first mismatch of a reply with its schema, as a sentence; undefined without one. */
export function problemOf(schema: TSchema, reply: unknown): string | undefined {
  return matchesSchema(schema, reply) ? undefined : (fieldErrors(schema, reply)[0]?.message ?? "The body has the wrong shape.");
}
