// The OpenTelemetry collector that OpenTelemetry's own environment variables name. The sandbox has no option for it,
// because a folder's merchant-sandbox.json must not decide where spans are sent.

import { percentDecoded } from "../kernel/text.ts";

export interface Collector {
  /** The address to which spans are posted. */
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly service: string;
}

/** Reads the collector from the environment; undefined if it names none, or turns tracing off. */
export function collectorOf(environment: NodeJS.ProcessEnv): Collector | undefined {
  const {
    OTEL_EXPORTER_OTLP_ENDPOINT: base,
    OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: traces,
    OTEL_EXPORTER_OTLP_HEADERS: headers,
    OTEL_EXPORTER_OTLP_TRACES_HEADERS: traceHeaders,
    OTEL_SERVICE_NAME: service,
    OTEL_SDK_DISABLED: disabled,
    OTEL_TRACES_EXPORTER: exporter,
  } = environment;
  // An empty variable counts as unset.
  const url = traces || (base && `${base.replace(/\/+$/, "")}/v1/traces`);
  if (!url || disabled?.toLowerCase() === "true" || exporter === "none") return undefined;
  return { url, headers: readHeaders(traceHeaders || headers || ""), service: service || "merchant-sandbox" };
}

/** Reads headers such as `authorization=Bearer%20abc,x-team=pay`. */
function readHeaders(text: string): Record<string, string> {
  const pairs = text.split(",").flatMap((pair): [string, string][] => {
    const cut = pair.indexOf("=");
    return cut < 1 ? [] : [[pair.slice(0, cut).trim(), percentDecoded(pair.slice(cut + 1).trim())]];
  });
  return Object.fromEntries(pairs);
}
