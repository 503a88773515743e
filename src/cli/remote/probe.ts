// Probes the control API at an address: whether a sandbox responds and is ready, and its description. Also checks
// replies by schema.

import type { ControlApi, SandboxOverviewReply } from "../../../generated/control-api.ts";
import {
  type CallInput,
  type ControlCall,
  type ControlTransport,
  createControlClient,
} from "../../client/control-call.ts";
import { type HttpReply, httpTransport, reasonOf } from "../../client/http-transport.ts";
import { type ErrorBody, SandboxError } from "../../kernel/errors.ts";
import type { TSchema } from "../../schema/shapes.ts";
import { fieldErrors, matchesSchema } from "../../schema/validator.ts";

const MAX_RESPONSE = 1_048_576;
const TIMEOUT = 2_000;
/** Milliseconds to wait for a process that is known to be a sandbox. It may be advancing its clock by a year. */
export const TIMEOUT_OF_KNOWN = 20_000;

/** An error reply, or no reply. */
class ProbeFailure extends Error {
  readonly reply: HttpReply | undefined;

  constructor(message: string, reply?: HttpReply) {
    super(message);
    this.reply = reply;
  }
}

function probe(url: string, token: string | undefined, timeout = TIMEOUT): ControlApi {
  const words = {
    refused: (_: unknown, reply: HttpReply) => new ProbeFailure(`answered ${reply.status}`, reply),
    unreachable: (error: Error) => new ProbeFailure(reasonOf(error)),
  };
  const send = httpTransport({ url, token }, words, { timeout, largest: MAX_RESPONSE });
  return createControlClient(checkedTransport(url, send, () => new ProbeFailure(stranger(200))));
}

/** The overview of the sandbox at an address; undefined if there is none. */
export async function describeSandboxAt(
  url: string,
  token: string | undefined,
  timeout?: number,
): Promise<SandboxOverviewReply | undefined> {
  const reply = await probe(url, token, timeout).overview().catch(orFailure);
  return reply instanceof ProbeFailure || reply?.name !== "merchant-sandbox" ? undefined : reply;
}

/** Why no sandbox is ready at an address; undefined if one is ready. A sandbox that requires its token is ready. */
export async function whyNotReady(url: string, token: string | undefined): Promise<string | undefined> {
  const reply = await probe(url, token).health().catch(orFailure);
  if (!(reply instanceof ProbeFailure)) return reply?.status === "ready" ? undefined : stranger(200);
  if (!reply.reply) return reply.message;
  const { code, message } = (reply.reply.body ?? {}) as Partial<ErrorBody>;
  if (code === "control_token_required") return undefined;
  return code === undefined ? stranger(reply.reply.status) : (message ?? code);
}

const stranger = (status: number) => `the server there (status ${status}) is not a merchant-sandbox`;

function orFailure(error: unknown): ProbeFailure {
  if (error instanceof ProbeFailure) return error;
  throw error;
}

/** Maximum characters of a reply. The longest replies are reports and full pages of the request log. */
export const MAX_REPLY = 64 * 1_048_576;

/** Checks each reply against its operation's schema. `refused` creates the error for a mismatch. */
export const checkedTransport =
  (
    url: string,
    send: (call: ControlCall) => Promise<unknown>,
    refused = (message: string): Error => new SandboxError(message),
  ): ControlTransport =>
  async (call: ControlCall, { operation: id, search }: CallInput) => {
    // Loads the schemas while the request is in flight.
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
  `${method} ${address} returned a reply that this version does not know: ` +
  `${problem} Use the command in the version of the sandbox.`;

/** Describes the first mismatch between a reply and its schema; undefined if the reply fits. */
export function problemOf(schema: TSchema, reply: unknown): string | undefined {
  return matchesSchema(schema, reply)
    ? undefined
    : (fieldErrors(schema, reply)[0]?.message ?? "The body has the wrong shape.");
}
