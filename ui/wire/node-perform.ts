// Makes the calls of the dashboard with node:http.

import { reasonOf } from "../../src/client/http-exchange.ts";
import { type HttpTarget, httpTransport } from "../../src/client/http-transport.ts";
import { callService } from "../../src/client/service-call.ts";
import { isControl, type Perform, refusalOf } from "./control-calls.ts";

export const perform: Perform = async (target, call) => {
  const unreachable = unreachableAt(target);
  const reply = isControl(call)
    ? { status: 200, body: await httpTransport(target, { refused: refusalOf, unreachable })(call) }
    : await callService(target.url, call).catch((error: Error) => {
        throw unreachable(error);
      });
  return reply as Awaited<ReturnType<typeof perform<never>>>;
};

const unreachableAt =
  ({ url }: HttpTarget) =>
  (error: Error & { code?: string }) =>
    error.code === "ECONNREFUSED" || error.code === "ECONNRESET"
      ? new Error(`No sandbox answers at ${url}`, { cause: error })
      : new Error(reasonOf(error), { cause: error });
