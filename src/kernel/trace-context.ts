// W3C trace context: the `traceparent` header, which names the trace of a call and the span that made it.

import { type Random, randomToken } from "./random.ts";

export interface TraceContext {
  /** 32 hex digits. */
  readonly traceId: string;
  /** 16 hex digits. */
  readonly spanId: string;
  /** Two hex digits. */
  readonly flags: string;
}

/** The span of a call in the sandbox. */
export interface CallSpan {
  readonly own: TraceContext;
  /** The caller's span; undefined if the trace starts with the call. */
  readonly parent: string | undefined;
}

const FORM = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/;
/** The flags that version 00 defines: sampled, and random trace id. Others are sent as 0. */
const KNOWN_FLAGS = 0b11;
const SAMPLED = 0b1;

/** Undefined for a malformed header, which the standard says to ignore. A later version may have further fields. */
export function parseTraceparent(header: string | string[] | null | undefined): TraceContext | undefined {
  if (typeof header !== "string") return undefined;
  const [, version, traceId = "", spanId = "", flags = "", rest] = FORM.exec(header) ?? [];
  if (version === undefined || version === "ff" || (version === "00" && rest !== undefined)) return undefined;
  if (/^0+$/.test(traceId) || /^0+$/.test(spanId)) return undefined;
  const known = Number.parseInt(flags, 16) & KNOWN_FLAGS;
  return { traceId, spanId, flags: known.toString(16).padStart(2, "0") };
}

export const traceparentOf = ({ traceId, spanId, flags }: TraceContext): string => `00-${traceId}-${spanId}-${flags}`;

/** The trace id of a stored `traceparent`. */
export const traceIdOf = (traceparent: string | null): string | null => parseTraceparent(traceparent)?.traceId ?? null;

/** Whether the caller's tracer records the trace. */
export const isSampled = ({ flags }: TraceContext): boolean => (Number.parseInt(flags, 16) & SAMPLED) === SAMPLED;

/** A child span. Its id is derived from the parent and the name, so it is the same after a restart. */
export const childSpan = (random: Random, parent: TraceContext, name: string): TraceContext => ({
  ...parent,
  spanId: random.hex(8, "span", traceparentOf(parent), name),
});

/** The first span of a new trace. Random, because sandboxes with the same seed may report to one collector. */
export function newTrace(): TraceContext {
  const digits = randomToken();
  return { traceId: digits.slice(0, 32), spanId: digits.slice(32), flags: "01" };
}
