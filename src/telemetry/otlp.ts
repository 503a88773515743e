// Spans as OTLP in JSON, the body of a POST to a collector. Every text is masked.

import { unixNanoseconds } from "../kernel/clock.ts";
import { mask } from "../kernel/mask.ts";
import { maskIdempotencyKey } from "../kernel/mask-headers.ts";
import { KINDS, type Span } from "./spans.ts";

/** The program that sends the spans. */
export interface Exporter {
  service: string;
  version: string;
}

const SCOPE = "merchant-sandbox";
const LONGEST_TEXT = 1_024;
/** `STATUS_CODE_ERROR`. */
const ERROR = 2;

export const otlpOf = (spans: readonly Span[], { service, version }: Exporter) => ({
  resourceSpans: [
    {
      resource: { attributes: attributesOf({ "service.name": service, "service.version": version }) },
      scopeSpans: [{ scope: { name: SCOPE, version }, spans: spans.map(spanOf) }],
    },
  ],
});

const spanOf = ({ traceId, spanId, parent, name, kind, from, to, attributes, error }: Span) => ({
  traceId,
  spanId,
  ...(parent !== undefined && { parentSpanId: parent }),
  name: mask(name, LONGEST_TEXT),
  kind: KINDS[kind],
  startTimeUnixNano: unixNanoseconds(from),
  endTimeUnixNano: unixNanoseconds(to),
  attributes: attributesOf(attributes),
  ...(error !== undefined && { status: { code: ERROR, message: mask(error, LONGEST_TEXT) } }),
});

interface Attribute {
  key: string;
  /** OTLP writes 64-bit integers as JSON strings. */
  value: { intValue: string } | { stringValue: string };
}

const attributesOf = (attributes: Span["attributes"]) =>
  Object.entries(attributes).flatMap(([key, value]): Attribute[] => {
    if (value === null || value === undefined) return [];
    if (typeof value === "number") return [{ key, value: { intValue: String(value) } }];
    const isKey = key === "merchant_sandbox.idempotency_key";
    return [{ key, value: { stringValue: isKey ? maskIdempotencyKey(value) : mask(value, LONGEST_TEXT) } }];
  });
