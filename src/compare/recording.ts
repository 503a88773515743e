// The parts of a recording that are compared: exchanges with the service, and webhook deliveries.

import type { Endpoint } from "../contracts/endpoint.ts";
import type { ServiceFact } from "../contracts/fact.ts";
import { isObject, type JsonObject } from "../kernel/json-object.ts";
import type { TSchema } from "../schema/shapes.ts";

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
  /** Whether the browser took the response from its cache. */
  isCached: boolean;
}

/** One attempt to deliver a webhook. */
export interface RecordedDelivery {
  entry: string;
  at: number;
  url: string;
  headers: HeaderValues;
  text: string;
  /** The parsed body; undefined if it is not JSON. */
  event: unknown;
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
>;

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

/** A response, prepared for the comparison. */
export interface ReadReply {
  response: unknown;
  /** The field that holds the record or the error. */
  envelope?: string;
  /** The record, the records of a page, or the whole response. A replay must repeat it. */
  record: unknown;
  /** The parts that are not compared field by field. `page`: the envelope around the record or records. */
  foreign: { records?: true; page?: true; error?: true; body?: true };
}

/** A call whose response and body use the sandbox's field names, even if the service uses other names. */
export type RecordedCall = MatchedCall & ReadReply;

/** An exchange with an operation of the service. */
export interface MatchedCall extends RecordedExchange {
  operation: ComparedOperation;
  /** The path below the base URL. */
  path: string;
  /** The values of the path parameters, in order. */
  ids: string[];
}

/**
 * The records of a page, and the name of their field: `data`, the only array of the response, or none if the response
 * itself is the list.
 */
export function pageIn(response: unknown) {
  if (Array.isArray(response)) return { items: response as unknown[], name: undefined, rest: {} as JsonObject };
  if (!isObject(response)) return undefined;
  const arrays = Object.entries(response).filter(([, value]) => Array.isArray(value));
  const [name, items] =
    arrays.find(([field]) => field === "data") ?? (arrays.length === 1 ? (arrays[0] as [string, unknown]) : []);
  if (name === undefined) return undefined;
  const { [name]: _, ...rest } = response;
  return { items: items as unknown[], name, rest: rest as JsonObject };
}

/** A name without its case style, equal for `merchantId`, `merchant_id` and `Merchant-Id`. */
export const plainName = (name: string) => name.toLowerCase().replaceAll(/[_-]/g, "");

/** The minimum share of a kind's fields that an object must have to be compared field by field. */
export const RECOGNISED = 0.6;

/** The prefix with which an observation shows the service's own name of a field. */
export const CALLED = "called ";

/** Maximum entries that a result names. */
export const MOST_ENTRIES = 5;

export const succeeded = ({ status }: { status: number }) => status >= 200 && status < 300;
export const refused = ({ status }: { status: number }) => status >= 400 && status < 500;
