// The two API surfaces that the documentation describes (service and control API): address, authentication and common
// errors.

import type { DeclaredOperation, ObjectSchema } from "../../src/contracts/endpoint.ts";
import { type ErrorCode, errors } from "../../src/kernel/errors.ts";
import { type HeaderFact, serviceHeaders } from "../../src/reference/headers.ts";
import { ASSUMED, factOf } from "../../src/schema/assumed.ts";
import { errorCodeOf, type TSchema } from "../../src/schema/shapes.ts";
import { mapSubschemas, type Printed } from "./subschemas.ts";

export type { DeclaredOperation };

/** A surface with its operations. */
export interface Catalogue {
  surface: Surface;
  operations: readonly DeclaredOperation[];
}

export interface Surface {
  title: string;
  description: string;
  /** The version of the package. */
  version: string;
  /** The base URL of the paths. */
  server: string;
  /** The prefix of every path, after the base URL. */
  prefix: string;
  security: { scheme: string; description: string; required: boolean };
  /** Errors returned by the request pipeline before a handler runs; operations do not declare them. */
  errors: {
    always: readonly ErrorCode[];
    /** For operations that accept a body. */
    body: readonly ErrorCode[];
    /** For operations that honour `Idempotency-Key`. */
    key: readonly ErrorCode[];
  };
  headers: readonly HeaderFact[];
  /**
   * Whether the surface emulates a service. Facts that the documentation of that service does not state are then marked
   * as assumed.
   */
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
  title: "Merchant operations API (sandbox)",
  description:
    "A local emulator of a merchant-operations API. No money moves. " +
    "Facts that the service's documentation does not state are marked `x-sandbox-assumed`, with the reason and, " +
    "where available, the setting that changes the behaviour.",
  version,
  server: `${url}/v1`,
  prefix: "",
  security: {
    scheme: "apiKey",
    description: "A test API key such as `sk_test_lodge`, or an access token from login.",
    required: true,
  },
  errors: {
    always: [
      "missing_api_key",
      "malformed_authorization",
      "invalid_api_key",
      "token_expired",
      "live_key_refused",
      "test_merchant_refused",
      "test_merchant_missing",
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
  title: "Control API of merchant-sandbox",
  description:
    "Controls and inspects the sandbox. Its requests are not subject to faults or rate limits and are not recorded " +
    "in the request log. It is not part of the emulated service.",
  version,
  server: url,
  prefix: "/_sandbox",
  security: {
    scheme: "controlToken",
    description: "The control token. Required only if the sandbox listens beyond loopback.",
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

/** The operations grouped by area, in the order of the catalogue. */
export function areasOf(operations: readonly DeclaredOperation[]): [area: string, members: DeclaredOperation[]][] {
  const areas = [...new Set(operations.map(({ area }) => area))];
  return areas.map((name) => [name, operations.filter(({ area }) => area === name)]);
}

/** Every error that an operation can return, in the order of the error table. */
export function errorsOf(surface: Surface, operation: DeclaredOperation): ErrorCode[] {
  const { always, body, key } = surface.errors;
  const possible = new Set<ErrorCode>([
    ...operation.errors,
    ...always,
    ...Object.values(operation.query.properties).map(errorCodeOf),
    ...(operation.body ? (["validation_failed"] as const) : []),
    ...(operation.method === "GET" ? [] : body),
    ...(operation.idempotent ? key : []),
  ]);
  return codes.filter((code) => possible.has(code));
}

export const codes = Object.keys(errors) as ErrorCode[];

/** The errors of an operation. Errors common to all operations are left out, unless the operation declares them. */
export function ownErrorsOf(surface: Surface, operation: DeclaredOperation): ErrorCode[] {
  const { always, body, key } = surface.errors;
  const common = new Set<ErrorCode>([...always, ...body, ...key]);
  return errorsOf(surface, operation).filter((code) => !common.has(code) || operation.errors.includes(code));
}

/** The description of a path parameter, derived from its name. */
export function describePathParameter(name: string): string {
  const owner = /^(.+)Id$/.exec(name)?.[1] ?? "record";
  return /id$/i.test(name) ? `Id of the ${owner}` : `The ${name}`;
}

/** The operations as the documentation of the surface shows them. */
export const shownOn = (
  { assumes }: Surface,
  operations: readonly DeclaredOperation[],
): readonly DeclaredOperation[] => (assumes ? operations : operations.map(withoutMarks));

function withoutMarks(operation: DeclaredOperation): DeclaredOperation {
  const { query, body, reply, status, emits } = operation;
  return {
    ...operation,
    query: unmarked(query),
    body: body && unmarked(body),
    reply: unmarked(reply),
    status: factOf(status),
    emits: emits.map(factOf),
  };
}

export const unmarked = <S extends TSchema | ObjectSchema>(schema: S): S => strip(schema) as unknown as S;

function strip(schema: TSchema): Printed {
  const { [ASSUMED]: _, ...rest } = mapSubschemas(schema, strip);
  return rest;
}
