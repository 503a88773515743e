// Observations of what differs by design: the service takes live keys and public webhook addresses, and has none of the sandbox's own headers.

import { isObject, type RecordedCall, succeeded } from "./recording.ts";
import type { Sightings } from "./sightings.ts";

const OWN_HEADER = "X-Sandbox-Request-Id";

export function observeDesign(call: RecordedCall, sightings: Sightings): void {
  const { entry, headers, responseHeaders, operation, body } = call;
  const where = { entry, operation: operation.id };
  // Exports may leave out all headers.
  if (Object.keys(responseHeaders).length > 0)
    sightings.compare(`header.${OWN_HEADER}`, responseHeaders[OWN_HEADER.toLowerCase()] === undefined ? "absent" : "sent", where);
  if (!succeeded(call)) return;
  const refusedHere = (code: string) => sightings.see(`error.${code}.status`, "accepted", false, where);
  if (/^bearer +sk_live_/i.test(headers.authorization ?? "")) refusedHere("live_key_refused");
  if (operation.errors.includes("webhook_url_not_local") && isObject(body) && isPublicAddress(body.url))
    refusedHere("webhook_url_not_local");
}

/** The address has a host name of several parts, and is no number. */
function isPublicAddress(url: unknown): boolean {
  if (typeof url !== "string" || !URL.canParse(url)) return false;
  const { hostname } = new URL(url);
  return /\.[a-z]+$/i.test(hostname) && !/\.(localhost|local|internal)$/i.test(hostname);
}
