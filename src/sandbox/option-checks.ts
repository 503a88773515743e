// What options must hold beyond their own text: that which only the whole sandbox can tell.

import { resolve } from "node:path";
import { didYouMean } from "../kernel/did-you-mean.ts";
import { SandboxError } from "../kernel/errors.ts";
import { randomToken } from "../kernel/random.ts";
import { lessonFiles } from "../lessons/lesson-files.ts";
import type { Options } from "./options.ts";

/** Beyond loopback, other machines can reach the control plane: then it wants a token, and a name it may be called by. */
export function controlToken({ host, allowedHost, controlToken: given }: Options): string | undefined {
  if (host === undefined || /^(localhost|127(\.\d+){3}|::1)$/.test(host)) return given;
  if (allowedHost.length === 0)
    throw new SandboxError(
      `--host ${host} opens the sandbox to the network: say with --allowed-host NAME by which name it may be called.`,
      "usage",
    );
  return given ?? randomToken();
}

/** The name by which the sandbox calls itself: one that a URL can hold, and that it answers to. */
export function ownName({ host = "127.0.0.1", allowedHost }: Options): string {
  const isEverywhere = host === "0.0.0.0" || host === "::";
  return isEverywhere ? (allowedHost.find((name) => !/:\d+$/.test(name)) ?? host) : host.includes(":") ? `[${host}]` : host;
}

/** A limit for an operation that does not exist would limit nothing. */
export function checkRates({ rateLimit }: Options, operations: readonly string[]): void {
  const known = ["all", ...operations];
  const unknown = Object.keys(rateLimit).find((name) => !known.includes(name));
  if (unknown !== undefined)
    throw new SandboxError(`--rate-limit names ${unknown}, which is no operation.${didYouMean(unknown, known)}`, "usage");
}

/** The pages are read when somebody learns, and may be written until then; a folder without any is a slip. */
export function checkLessons({ lessons }: Options): void {
  if (lessons !== undefined) lessonFiles(resolve(lessons));
}
