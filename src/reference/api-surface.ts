// What the documents must know of a surface beyond its operations: its address, who may call, and what can stop a call on its way.

import type { Endpoint } from "../contracts/endpoint.ts";
import { type ErrorCode, errors } from "../kernel/errors.ts";
import type { TSchema } from "../schema/shapes.ts";
import { type HeaderFact, serviceHeaders } from "./headers.ts";

/** An operation as the documents see it: everything but what it does. */
export type Declared = Omit<Endpoint, "handle">;

/** A surface together with what is declared on it. */
export interface Catalogue {
  surface: Surface;
  operations: readonly Declared[];
}

export interface Surface {
  title: string;
  description: string;
  /** The version of the package that serves it. */
  version: string;
  /** The address that the paths of the document follow. */
  server: string;
  /** What every path begins with after the server's address. */
  prefix: string;
  security: { scheme: string; description: string; required: boolean };
  /** Errors that no operation declares, because a stage before its handler answers them. */
  errors: {
    always: readonly ErrorCode[];
    /** Where a body may be sent. */
    body: readonly ErrorCode[];
    /** Where `Idempotency-Key` is honoured. */
    key: readonly ErrorCode[];
  };
  headers: readonly HeaderFact[];
  /** Whether it stands in for a service, so that what that service's document leaves open is marked as assumed. */
  assumes: boolean;
}

const BODY_ERRORS = [
  "invalid_json",
  "body_not_object",
  "body_too_deep",
  "payload_too_large",
  "unsupported_media_type",
  "unsupported_content_encoding",
] as const;

export const serviceSurface = (url: string, version: string): Surface => ({
  title: "Merchant operations, as the sandbox serves them",
  description:
    "A local emulator of a merchant-operations API. No money moves. What the service's own document does not state is marked `x-sandbox-assumed`, with the reason and, where there is one, the setting that gives another answer.",
  version,
  server: `${url}/v1`,
  prefix: "",
  security: { scheme: "apiKey", description: "A test key such as `sk_test_lodge`, or the token of a login.", required: true },
  errors: {
    always: [
      "missing_api_key",
      "malformed_authorization",
      "invalid_api_key",
      "token_expired",
      "live_key_refused",
      "merchant_suspended",
      "host_not_allowed",
      "origin_not_allowed",
      "rate_limit_exceeded",
      "injected_rate_limit",
      "internal_error",
      "injected_error",
      "outage",
    ],
    body: BODY_ERRORS,
    key: [
      "idempotency_key_empty",
      "idempotency_key_too_long",
      "idempotency_key_invalid",
      "idempotency_key_in_use",
      "idempotency_key_reused",
    ],
  },
  headers: serviceHeaders,
  assumes: true,
});

export const controlSurface = (url: string, version: string): Surface => ({
  title: "Control plane of merchant-sandbox",
  description:
    "What steers the sandbox and looks inside it. It is exempt from faults, rate limits and the journal of requests. Nothing here belongs to the emulated service.",
  version,
  server: url,
  prefix: "/_sandbox",
  security: {
    scheme: "controlToken",
    description: "The control token. It is asked for only when the sandbox listens beyond loopback.",
    required: false,
  },
  errors: {
    always: ["validation_failed", "host_not_allowed", "origin_not_allowed", "control_token_required", "internal_error"],
    body: BODY_ERRORS,
    key: [],
  },
  headers: [],
  assumes: false,
});

/** The operations by area, both in the order of the catalogue. */
export function areasOf(operations: readonly Declared[]): [area: string, members: Declared[]][] {
  const areas = [...new Set(operations.map(({ area }) => area))];
  return areas.map((name) => [name, operations.filter(({ area }) => area === name)]);
}

/** Every error that an operation can answer, in the order of the table of errors. */
export function errorsOf(surface: Surface, operation: Declared): ErrorCode[] {
  const { always, body, key } = surface.errors;
  const possible = new Set<ErrorCode>([
    ...operation.errors,
    ...always,
    ...Object.values(operation.query.properties).map(refusedWith),
    ...(operation.body ? (["validation_failed"] as const) : []),
    ...(operation.method === "GET" ? [] : body),
    ...(operation.idempotent ? key : []),
  ]);
  return codes.filter((code) => possible.has(code));
}

export const codes = Object.keys(errors) as ErrorCode[];

/** The errors of an operation that are not simply those of every other. */
export function ownErrorsOf(surface: Surface, operation: Declared): ErrorCode[] {
  const { always, body, key } = surface.errors;
  const common = new Set<ErrorCode>([...always, ...body, ...key]);
  return errorsOf(surface, operation).filter((code) => !common.has(code) || operation.errors.includes(code));
}

/** The code that a wrong value of a query parameter is refused with. */
const refusedWith = (parameter: TSchema): ErrorCode =>
  (parameter as { "x-sandbox-code"?: ErrorCode })["x-sandbox-code"] ?? "validation_failed";

/** What a parameter of the path names, as far as its own name tells. */
export function parameterWords(name: string): string {
  const owner = /^(.+)Id$/.exec(name)?.[1] ?? "record";
  return /id$/i.test(name) ? `Id of the ${owner}` : `The ${name} that is meant`;
}
