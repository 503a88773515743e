// The parts of a recording that are compared: exchanges with the service, and webhook deliveries.

import type { Endpoint } from "../contracts/endpoint.ts";
import type { ServiceFact } from "../contracts/fact.ts";
import type { FieldError } from "../kernel/errors.ts";
import type { TSchema } from "../schema/shapes.ts";
import type { ReadBody } from "../service/translate-request.ts";

export type JsonFields = Readonly<Record<string, unknown>>;
/** Header values by name in lower case. */
export type HeaderValues = Readonly<Record<string, string>>;

export interface RecordedExchange {
  /** The recording and the number of the entry. */
  entry: string;
  method: string;
  url: URL;
  /** Unix milliseconds; NaN if the recording does not say. */
  at: number;
  /** Milliseconds until the end of the response; NaN if the recording does not say. */
  duration: number;
  headers: HeaderValues;
  /** The body as text; undefined if there is none or the recording leaves it out. */
  text: string | undefined;
  /** The parsed body; undefined if it is not JSON. */
  body: unknown;
  bytes: number;
  /** 0 for a call without a response. */
  status: number;
  responseHeaders: HeaderValues;
  /** The parsed response body; undefined if it is not JSON. */
  response: unknown;
  /** The browser took the response from its cache. */
  isCached: boolean;
}

/** One attempt to deliver a webhook. */
export interface RecordedDelivery {
  entry: string;
  at: number;
  url: string;
  headers: HeaderValues;
  text: string;
  /** The receiver's response; undefined if the recording does not say. */
  status: number | undefined;
  /** The number of the attempt; undefined if the recording does not say. */
  attempt: number | undefined;
}

export interface Recording {
  exchanges: RecordedExchange[];
  deliveries: RecordedDelivery[];
}

export type ComparedOperation = Pick<
  Endpoint,
  "id" | "method" | "path" | "query" | "body" | "reply" | "errors" | "idempotent" | "replayWindow" | "emits"
> & {
  /** Reads a body with the names and formats of a service file (default: the sandbox's own). */
  readBody?: ReadBody;
};

/** The sandbox that recordings are compared with. */
export interface ComparedSandbox {
  facts: readonly ServiceFact[];
  operations: readonly ComparedOperation[];
  /** The schema of each kind of record. */
  records: ReadonlyMap<string, TSchema>;
  /** The sets of fields whose values are unique, by kind of record. */
  unique: ReadonlyMap<string, readonly (readonly string[])[]>;
  /** The kind of record in each type of event. */
  eventKinds: ReadonlyMap<string, string>;
  event: TSchema;
  error: TSchema;
}

/** An exchange with an operation of the service. */
export interface RecordedCall extends RecordedExchange {
  operation: ComparedOperation;
  /** The path below the base URL. */
  path: string;
  /** The values of the path parameters, in order. */
  ids: string[];
}

export const isObject = (value: unknown): value is JsonFields => typeof value === "object" && value !== null && !Array.isArray(value);

/** The body with the sandbox's names, and errors for values without the service's format. */
export const ownBodyOf = ({ readBody }: ComparedOperation, body: JsonFields): { body: JsonFields; problems?: readonly FieldError[] } =>
  readBody ? readBody(body) : { body };

export const succeeded = ({ status }: { status: number }) => status >= 200 && status < 300;
export const refused = ({ status }: { status: number }) => status >= 400 && status < 500;
