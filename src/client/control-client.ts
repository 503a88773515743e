// Steering by a program: the control plane's methods, carried out in this process or by HTTP on a sandbox elsewhere.

import { Document } from "../contracts/document.ts";
import type { Console } from "../control/control-context.ts";
import { perform } from "../http/run-control-operation.ts";
import { asMisuse, type ErrorBody, type ErrorCode, SandboxError } from "../kernel/errors.ts";
import type { ControlPlane } from "./control-plane.generated.ts";
import { controlMethods } from "./methods.ts";

/** The methods on a sandbox of this process: the same checks and handlers as over HTTP, without the way there. */
export const steerHere = (console: () => Console): ControlPlane =>
  controlMethods(async (operation, { params, search, body }) => {
    const world = console();
    if (!world.database.sql.open) throw new SandboxError("The sandbox is closed.");
    // A copy, as a call over HTTP would bring one: what the caller changes later changes nothing here.
    const received = { search, body: JSON.parse(JSON.stringify(body)), headers: {}, query: {}, extra: {} };
    const reply = await perform(operation, world, params, received).catch((error: unknown) => {
      throw asMisuse(error);
    });
    return reply instanceof Document ? reply.text : JSON.parse(JSON.stringify(reply));
  });

export interface ConnectOptions {
  /** What the sandbox was given as `controlToken`, or printed. */
  controlToken?: string | undefined;
}

/** The methods on a sandbox elsewhere, such as one that `merchant-sandbox start` runs. `url` is its address, without a path. */
export function connect(url: string, { controlToken }: ConnectOptions = {}): ControlPlane {
  const base = `${originOf(url)}/_sandbox`;
  const authorization: Record<string, string> = controlToken === undefined ? {} : { authorization: `Bearer ${controlToken}` };
  return controlMethods(async ({ method, path, body: declared }, { params, search, body }) => {
    const place = path.replaceAll(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(params[name] as string));
    const json = { headers: { ...authorization, "content-type": "application/json" }, body: JSON.stringify(body) };
    const request = { method, ...(declared === undefined ? { headers: authorization } : json) };
    const address = `${base}${place}${search === "" ? "" : `?${search}`}`;
    return read(await fetch(address, request).catch((error: unknown) => unreachable(url, error)));
  });
}

function originOf(url: string): string {
  if (URL.canParse(url) && /^https?:$/.test(new URL(url).protocol)) return new URL(url).origin;
  throw new SandboxError(`connect takes an address such as http://127.0.0.1:4747; received ${JSON.stringify(url)}.`, "usage");
}

function unreachable(url: string, error: unknown): never {
  const { cause, message } = error as Error & { cause?: Error };
  throw new SandboxError(`No sandbox answers at ${url}: ${cause?.message ?? message}. Start one with npx merchant-sandbox.`);
}

async function read(answer: Response): Promise<unknown> {
  const text = await answer.text();
  const isJson = answer.headers.get("content-type")?.startsWith("application/json") === true;
  if (answer.ok) return isJson ? JSON.parse(text) : text;
  const refused = isJson ? (JSON.parse(text) as Partial<ErrorBody>) : {};
  if (refused.code === undefined) throw new SandboxError(`What answered ${answer.status} at ${answer.url} is no merchant-sandbox.`);
  throw new SandboxError(refused.message ?? "", "usage", { code: refused.code as ErrorCode, details: refused.details ?? {} });
}
