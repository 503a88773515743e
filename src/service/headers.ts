// Headers as the real service sends and reads them: names, headers that it lacks, and the forms of times.

import { memoize } from "../kernel/bounded-cache.ts";
import { httpDate } from "../kernel/clock.ts";
import type { RequestEntry } from "../store/request-log/request-log.ts";
import type { AdoptedFacts } from "./adopted-facts.ts";

type Headers = Record<string, string | number>;

export interface HeaderAdoption {
  /** The name of the idempotency header, as it is written. */
  idempotency: string;
  /** The name of a response header; undefined if the service does not send it. */
  nameOf(header: string, operation?: string): string | undefined;
  /** The headers of a response as the service sends them. */
  outwards(headers: Headers, response: { status: number; at: number; operation: string | undefined }): Headers;
  /** A logged request with its headers in the names and forms of the sandbox. */
  inwards(entry: RequestEntry): RequestEntry;
}

const IDEMPOTENCY_KEY = "Idempotency-Key";
const RETRY_AFTER = "Retry-After";
const HEADER_FACT = /^(?:[\w.]+\/)?header\.([\w-]+?)(?:\.name)?$/;
const MOST_OPERATIONS = 100;

export function adoptedHeaders(facts: AdoptedFacts): HeaderAdoption {
  const idempotency = facts.text("idempotency.header") ?? IDEMPOTENCY_KEY;
  const changed = [...new Set([...facts.values.keys()].flatMap((id) => HEADER_FACT.exec(id)?.[1] ?? []))];
  const namesOf = memoize(
    MOST_OPERATIONS,
    (operation: string) => new Map(changed.map((name) => [name, shownName(facts, name, operation)])),
  );
  const forms = { wait: facts.text("header.Retry-After.format"), reset: facts.text("header.RateLimit-Reset.format") };
  return {
    idempotency,
    nameOf: (header, operation = "") => (namesOf(operation).has(header) ? namesOf(operation).get(header) : header),
    outwards(headers, { status, at, operation = "" }) {
      const names = namesOf(operation);
      const sent: Headers = {};
      for (const [name, value] of Object.entries(headers)) {
        const shown = names.has(name) ? names.get(name) : name;
        if (shown !== undefined) sent[shown] = inForm(name, value, at, forms);
      }
      return withChallenge(sent, status, names);
    },
    inwards(entry) {
      const requestHeaders = { ...entry.requestHeaders };
      delete requestHeaders["idempotency-key"];
      const key = entry.requestHeaders[idempotency.toLowerCase()];
      if (key !== undefined) requestHeaders["idempotency-key"] = key;
      const asked = entry.responseHeaders[namesOf(entry.operation ?? "").get(RETRY_AFTER) ?? RETRY_AFTER];
      if (asked === undefined) return { ...entry, requestHeaders };
      return { ...entry, requestHeaders, responseHeaders: { ...entry.responseHeaders, [RETRY_AFTER]: asked } };
    },
  };
}

/** The name that the service gives the header; undefined if it does not send it. */
const shownName = (facts: AdoptedFacts, name: string, operation: string) =>
  facts.value(`header.${name}`, operation) === "absent" ? undefined : (facts.text(`header.${name}.name`, operation) ?? name);

interface HeaderForms {
  wait: string | undefined;
  reset: string | undefined;
}

function inForm(name: string, value: string | number, at: number, { wait, reset }: HeaderForms): string | number {
  if (!/^\d+$/.test(String(value))) return value;
  if (name === RETRY_AFTER && wait === "HTTP date") return httpDate(at + Number(value) * 1_000);
  if (name !== "RateLimit-Reset") return value;
  if (reset === "Unix milliseconds, as text") return String(Number(value) * 1_000);
  return reset === "seconds from now" ? String(Math.max(0, Number(value) - Math.floor(at / 1_000))) : value;
}

/** HTTP requires WWW-Authenticate on a 401, whatever the status of the condition is in the sandbox. */
function withChallenge(headers: Headers, status: number, names: ReadonlyMap<string, string | undefined>): Headers {
  const name = names.has("WWW-Authenticate") ? names.get("WWW-Authenticate") : "WWW-Authenticate";
  if (name === undefined) return headers;
  if (status === 401) return { [name]: "Bearer", ...headers };
  delete headers[name];
  return headers;
}
