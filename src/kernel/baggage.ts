// The entry of the W3C header `baggage` that names the merchant of a test, in calls and in deliveries.

import { percentDecoded } from "./text.ts";

const ENTRY = "merchant-sandbox";

/** The value of the header for a merchant. */
export const baggageOf = (merchant: string): string => `${ENTRY}=${encodeURIComponent(merchant)}`;

/** The merchant that the header names; undefined without the entry. Properties after a semicolon have no meaning. */
export function merchantInBaggage(header: string | string[] | undefined): string | undefined {
  for (const member of [header ?? []].flat().join(",").split(",")) {
    const [name = "", value] = (member.split(";")[0] as string).split("=", 2);
    if (name.trim() === ENTRY && value !== undefined) return percentDecoded(value.trim());
  }
  return undefined;
}
