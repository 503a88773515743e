// The control API of a sandbox in this process: the same checks and handlers as over HTTP, without a socket.

import type { ControlTransport } from "../client/control-client.ts";
import { Document } from "../contracts/endpoint.ts";
import type { ControlContext } from "../control/index.ts";
import { controlCatalogue } from "../control/index.ts";
import { runControlOperation } from "../http/run-control-operation.ts";
import { asMisuse } from "../kernel/errors.ts";
import { once } from "../kernel/once.ts";

const operations = once(() => new Map(controlCatalogue.map((operation) => [operation.id, operation])));

export const inProcessTransport =
  (context: () => ControlContext): ControlTransport =>
  async (_, { operation, params, search, body = {} }) => {
    const found = operations().get(operation);
    if (!found) throw new Error(`The control API has no operation ${operation}, which the client calls: run npm run docs`);
    const world = context();
    // Input and reply are copied, as over HTTP, so that later changes by the caller have no effect here.
    const received = { search, body: JSON.parse(JSON.stringify(body)), headers: {}, query: {}, extra: {} };
    const reply = await runControlOperation(found, world, { ...params }, received).catch((error: unknown) => {
      throw asMisuse(error);
    });
    return reply instanceof Document ? reply.text : JSON.parse(JSON.stringify(reply));
  };
