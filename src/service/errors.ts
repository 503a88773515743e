// Errors as the real service sends them: status, category and code of each condition.

import { type ErrorBody, type ErrorCode, errors } from "../kernel/errors.ts";
import type { AdoptedFacts } from "./adopted-facts.ts";

export interface AdoptedError {
  status: number;
  error: string;
  code: string;
}

export type AdoptError = (code: ErrorCode, operation: string | undefined) => AdoptedError;

/** Looks up the status, category and code of a condition; undefined if the file changes no error. */
export function errorAdoption(facts: AdoptedFacts): AdoptError | undefined {
  if (![...facts.values.keys()].some((id) => /(^|\/)error\.\w+\.(status|category|code)$/.test(id))) return undefined;
  return (code, operation) => {
    const { status, error } = errors[code];
    return {
      status: facts.number(`error.${code}.status`, operation) ?? status,
      error: facts.text(`error.${code}.category`, operation) ?? error,
      code: facts.text(`error.${code}.code`, operation) ?? code,
    };
  };
}

/** The error of a reply with the sandbox's own codes; undefined for other replies, such as those of a fault with a code of its own. */
export function ownError({ status, body }: { status: number; body: string }): (ErrorBody & { code: ErrorCode }) | undefined {
  if (status < 400 || !body.startsWith("{")) return undefined;
  const parsed = JSON.parse(body) as ErrorBody;
  const { code } = parsed;
  const isOwn = typeof code === "string" && Object.hasOwn(errors, code) && errors[code as ErrorCode].status === status;
  return isOwn ? (parsed as ErrorBody & { code: ErrorCode }) : undefined;
}
