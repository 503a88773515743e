// The translation of a service file at the edge of the service: requests in, replies and events out.

import type { TSchema } from "../schema/shapes.ts";
import { adoptedEventTypes } from "./event-types.ts";
import type { AdoptedFacts } from "./service-file.ts";
import { createTranslateEvent, createTranslateReply, type TranslateEvent, type TranslateReply } from "./translate-reply.ts";
import { createTranslateRequest, type TranslateRequest } from "./translate-request.ts";
import { adoptedPrefixes } from "./translator.ts";

export interface Translation {
  /** The request as the sandbox would have got it, before it is validated. */
  request: TranslateRequest;
  /** The reply as the service sends it. */
  reply: TranslateReply;
  /** The event as the service delivers it. */
  event: TranslateEvent;
}

/** `records` are the schemas by kind of record. */
export function createTranslation(facts: AdoptedFacts, records: ReadonlyMap<string, TSchema>): Translation {
  const prefixes = adoptedPrefixes(facts, records);
  const types = adoptedEventTypes(facts);
  return {
    request: createTranslateRequest(facts, prefixes, types),
    reply: createTranslateReply(facts, prefixes, types),
    event: createTranslateEvent(facts, prefixes, types, records),
  };
}
