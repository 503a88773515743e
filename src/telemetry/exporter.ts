// Exports spans to an OpenTelemetry collector, as OTLP over HTTP in JSON. Calls never wait for the export: they put a
// record into a bounded queue, which is sent in batches later. Spans that the collector does not accept are dropped.

import { exchange } from "../client/http-transport.ts";
import type { Firing } from "../contracts/fault.ts";
import { setBounded } from "../kernel/bounded-cache.ts";
import { afterRealTime, afterRealTimeIfRunning, realNow } from "../kernel/clock.ts";
import { SandboxError } from "../kernel/errors.ts";
import { mask } from "../kernel/mask.ts";
import type { Random } from "../kernel/random.ts";
import { type CallSpan, isSampled } from "../kernel/trace-context.ts";
import { withResolvers } from "../kernel/with-resolvers.ts";
import type { RequestEntry } from "../store/request-log/request-log.ts";
import type { RecordedAttempt } from "../webhooks/attempt-recorder.ts";
import type { Collector } from "./collector.ts";
import { otlpOf } from "./otlp.ts";
import { type Span, spansOfAttempt, spansOfRequest, type TimedFiring } from "./spans.ts";

interface ExporterOptions {
  collector: Collector;
  version: string;
  random: Random;
  /** The path of an operation with its parameters, such as /v1/payments/{id}. */
  routeOf(operation: string): string | undefined;
  /** Whether an address is the sandbox's own. An export to it would cause further spans, without end. */
  isOwn(port: number, path: string): boolean;
  /** Reports once that spans are dropped. */
  report(error: SandboxError): void;
}

/** The most requests and attempts in a batch. Each has some eight spans; writing them all takes a millisecond. */
const BATCH = 25;
/** The most requests and attempts that wait in the queue. Further ones are dropped. */
const MOST_QUEUED = 2_000;
/** Real milliseconds that a record waits for further records. */
const COLLECTED_FOR = 1_000;
/** Real milliseconds that a collector may take to respond. */
const TIMEOUT = 10_000;
/** Real milliseconds that the last spans may take when the sandbox closes. */
const FLUSHED_WITHIN = 1_000;
const LOOPBACK = /^(localhost|127\.[\d.]+|\[::1\])$/;
/** The most requests and attempts in flight whose faults are kept. */
const MOST_FIRINGS = 1_000;

export function createExporter(options: ExporterOptions) {
  const { random, routeOf } = options;
  const queue = createQueue(options);
  const firings = new Map<string, TimedFiring[]>();
  const firingsOf = (id: string): readonly TimedFiring[] => {
    const found = firings.get(id) ?? [];
    firings.delete(id);
    return found;
  };
  return {
    /** Keeps a fault that fired until the request or attempt that it affects has ended. */
    fired(firing: Firing) {
      const id = firing.requestId ?? firing.attemptId;
      if (id !== null) setBounded(firings, id, [...(firings.get(id) ?? []), { firing, at: realNow() }], MOST_FIRINGS);
    },
    request({ requestHeaders: _, requestBody: __, responseHeaders: ___, responseBody: ____, ...entry }: RequestEntry) {
      const own = firingsOf(entry.id);
      const route = entry.operation === undefined ? undefined : routeOf(entry.operation);
      if (isExported(entry.span)) queue.add(() => spansOfRequest(random, { entry, route, firings: own }));
    },
    attempt({ message, began, span }: RecordedAttempt) {
      const own = firingsOf(message.id);
      if (isExported(span)) queue.add(() => spansOfAttempt(random, { message, began, span, firings: own }));
    },
    /** Sends the queued spans, within some real milliseconds (default: a second). */
    close: queue.close,
  };
}

/**
 * Whether to export a span. If the caller's tracer does not record the trace, the trace would contain only the
 * sandbox's spans.
 */
const isExported = (span: CallSpan | undefined) => span === undefined || isSampled(span.own);

/** Creates the queue. A call only adds a record to it; the record becomes spans when it is sent. */
function createQueue({ collector, version, isOwn, report }: ExporterOptions) {
  const waiting: (() => Span[])[] = [];
  const aborted = new AbortController();
  let sending: Promise<void> | undefined;
  let cancelTimer: (() => void) | undefined;
  let isReported = false;
  const dropped = (reason: string) => {
    if (isReported) return;
    isReported = true;
    report(
      new SandboxError(
        `The OpenTelemetry collector at ${mask(collector.url)} does not take spans: ${mask(reason)}. ` +
          "They are dropped; calls and deliveries do not wait for it. " +
          "It must accept OTLP over HTTP in JSON, usually on port 4318.",
      ),
    );
  };
  const post = async (batch: readonly (() => Span[])[]) => {
    if (!URL.canParse(collector.url)) throw new Error("OTEL_EXPORTER_OTLP_ENDPOINT is not a URL");
    const { hostname, port, pathname } = new URL(collector.url);
    if (LOOPBACK.test(hostname) && isOwn(Number(port), pathname))
      throw new Error("this is the address of the sandbox itself");
    const spans = batch.flatMap((spansOf) => spansOf());
    const body = otlpOf(spans, { service: collector.service, version });
    const request = { method: "POST", headers: collector.headers, body };
    const { status } = await exchange(collector.url, request, {
      timeout: TIMEOUT,
      largest: 65_536,
      signal: aborted.signal,
    });
    if (status < 200 || status > 299) throw new Error(`it responded with ${status}`);
  };
  const cancelWait = () => {
    cancelTimer?.();
    cancelTimer = undefined;
  };
  const sendBatch = (): Promise<void> => {
    cancelWait();
    sending = post(waiting.splice(0, BATCH))
      .catch((error: Error) => dropped(error.message))
      .finally(() => {
        sending = undefined;
        schedule();
      });
    return sending;
  };
  const schedule = () => {
    if (sending || cancelTimer || waiting.length === 0 || aborted.signal.aborted) return;
    cancelTimer = afterRealTimeIfRunning(waiting.length >= BATCH ? 0 : COLLECTED_FOR, () => void sendBatch());
  };
  return {
    add(spansOf: () => Span[]) {
      if (waiting.length >= MOST_QUEUED) return dropped(`it is too slow, and ${MOST_QUEUED} calls and deliveries wait`);
      waiting.push(spansOf);
      if (waiting.length === BATCH) cancelWait();
      schedule();
    },
    async close(within = FLUSHED_WITHIN) {
      const { promise: late, resolve } = withResolvers();
      const cancel = afterRealTime(Math.min(within, FLUSHED_WITHIN), resolve);
      let isLate = false;
      void late.then(() => {
        isLate = true;
      });
      while (!isLate && (sending || waiting.length > 0)) await Promise.race([sending ?? sendBatch(), late]);
      cancel();
      cancelWait();
      if (isLate) dropped("it took too long when the sandbox closed");
      waiting.length = 0;
      aborted.abort();
    },
  };
}
