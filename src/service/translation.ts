// Translates at the edge of the service, as a service file says: requests that come in, replies and events that go out.

import type { TSchema } from "../schema/shapes.ts";
import { adoptedEventTypes } from "./event-types.ts";
import type { AdoptedFacts } from "./service-file.ts";
import { createTranslateEvent, createTranslateReply } from "./translate-reply.ts";
import { createTranslateRequest } from "./translate-request.ts";
import { adoptedPrefixes } from "./translator.ts";

export type Translation = ReturnType<typeof createTranslation>;

/** `records` are the schemas by kind of record. */
export function createTranslation(facts: AdoptedFacts, records: ReadonlyMap<string, TSchema>) {
  const prefixes = adoptedPrefixes(facts, records);
  const types = adoptedEventTypes(facts);
  return {
    /** Translates a request to the sandbox's names and forms, before it is validated. */
    request: createTranslateRequest(facts, prefixes, types),
    /** Translates a reply to the form in which the service sends it. */
    reply: createTranslateReply(facts, prefixes, types),
    /** Translates an event to the form in which the service delivers it. */
    event: createTranslateEvent(facts, prefixes, types, records),
  };
}
