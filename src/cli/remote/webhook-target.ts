// The endpoint of --forward-to, and the secret that a command gives to the app as MERCHANT_WEBHOOK_SECRET.

import type { ControlApi, ListedEndpoint } from "../../../generated/control-api.ts";
import { usageError } from "../../kernel/errors.ts";
import type { FlagDefinitions } from "../arguments.ts";
import type { Settings } from "../settings.ts";

export const forwardFlag = {
  "forward-to": {
    value: "url",
    description: "deliver webhooks to this URL of this machine; a port such as 3000, or 3000/hooks, is enough",
  },
} satisfies FlagDefinitions;

/** Completes a port, such as 3000 or 3000/hooks, and an address without its protocol, such as localhost:3000/hooks. */
export function fullUrl(target: string): string {
  const [, port, path] = /^(\d+)(\/.*)?$/.exec(target) ?? [];
  if (port !== undefined) return `http://localhost:${port}${path ?? "/"}`;
  if (target.includes("://")) return target;
  // Without this check, webhooks would go to port 80, although apps listen on a port such as 3000.
  const [, host, rest] = /^(localhost|127\.0\.0\.1|\[::1\])(\/.*)?$/.exec(target) ?? [];
  if (host !== undefined)
    usageError(`${target} has no port. Write ${host}:3000${rest ?? ""}, or http://${target} for port 80.`);
  return `http://${target}`;
}

/** Adds the endpoint of --forward-to to the settings. Flags replace the endpoints of the configuration file. */
export function withForwardTo<Given extends Settings>(
  given: Given,
  target: string | undefined,
  merchant: string | undefined,
): Given {
  if (target === undefined) return given;
  const { endpoints } = given.options;
  const others = given.sources.endpoints === "flag" && Array.isArray(endpoints) ? endpoints : [];
  const added = { url: fullUrl(target), ...(merchant !== undefined && { merchant }) };
  return {
    ...given,
    options: { ...given.options, endpoints: [added, ...others] },
    sources: { ...given.sources, endpoints: "flag" },
  };
}

/** The merchant's endpoint at the first of these URLs that has one (default: its oldest endpoint). */
export async function endpointForSecret(
  endpoints: Pick<ControlApi["endpoints"], "list">,
  merchant: string,
  urls: readonly string[] = [],
): Promise<ListedEndpoint | undefined> {
  const { data } = await endpoints.list({ merchant });
  const known = urls.map((url) => data.find((endpoint) => endpoint.url === url)).find((found) => found !== undefined);
  return known ?? data.at(-1);
}
