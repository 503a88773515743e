// Translates at the edge of the service, as a service file says: replies and events with their envelopes, records,
// errors and headers.

import { envelope, errorObject } from "../contracts/envelopes.ts";
import { memoize } from "../kernel/bounded-cache.ts";
import { httpDate } from "../kernel/clock.ts";
import { once } from "../kernel/once.ts";
import type { TSchema } from "../schema/shapes.ts";
import { fieldsOf } from "../schema/walk.ts";
import type { Operation } from "../store/operation-context.ts";
import { createErrorShape, type ErrorShape, enveloped, type OwnError, ownErrorIn } from "./error-shape.ts";
import { adoptedEventTypes, type EventTypes, showsTypes } from "./event-types.ts";
import type { AdoptedFacts } from "./service-file.ts";
import { createTranslateRequest } from "./translate-request.ts";
import {
  adoptedPrefixes,
  createTranslator,
  type Fields,
  MOST_KEPT,
  type Prefixes,
  TOP,
  type Translate,
  type Translator,
} from "./translator.ts";
import { adoptedError, headerName } from "./values.ts";

export type Translation = ReturnType<typeof createTranslation>;

/** `records` are the schemas by kind of record. */
export function createTranslation(facts: AdoptedFacts, records: ReadonlyMap<string, TSchema>) {
  const prefixes = adoptedPrefixes(facts, records);
  const types = adoptedEventTypes(facts);
  return {
    /** Translates a request to the sandbox's names and forms, before it is validated. */
    request: createTranslateRequest(facts, prefixes, types),
    reply: createTranslateReply(facts, prefixes, types),
    event: createTranslateEvent(facts, prefixes, types, records),
  };
}

type SentHeaders = Record<string, string | number>;

/** The call to which a reply responds. */
export interface CallAtEdge {
  readonly id: string;
  readonly operation: Operation | undefined;
  readonly replayOf: string | undefined;
  readonly headers: Record<string, string>;
}

/** The header that names types of events that the sandbox does not know. */
const WARNING = "X-Sandbox-Warning";

function createTranslateReply(facts: AdoptedFacts, prefixes: Prefixes, types: EventTypes | undefined) {
  const translator = createTranslator(facts, prefixes);
  const bodyOf = memoize(MOST_KEPT, (_: string, operation: Operation) =>
    replyTranslation(operation, facts, translator),
  );
  const errorShape = once(() => createErrorShape(facts, prefixes, translator.object("outwards", "error", errorObject)));
  const success = ({ operation, headers }: CallAtEdge, body: string): string => {
    const translate = operation && bodyOf(operation.id, operation);
    const id = operation?.id ?? "";
    const hasTypes = types !== undefined && showsTypes(id);
    if (body === "" || (translate === undefined && !hasTypes)) return body;
    const named = hasTypes ? types.inReply(id, JSON.parse(body)) : JSON.parse(body);
    const warning = hasTypes ? headers[WARNING] : undefined;
    if (warning !== undefined) headers[WARNING] = warning.replace(/[\w:/-]+(\.[\w:/-]+)*/g, types?.shown ?? String);
    return JSON.stringify(translate === undefined ? named : translate(named, TOP));
  };
  /** `reply` has the sandbox's form. */
  return (call: CallAtEdge, reply: { status: number; body: string }) => {
    const { operation } = call;
    const answer = (status: number, body: string) => ({
      status,
      body,
      /** All headers of the reply in the names and forms of the service. */
      headersOut: (headers: SentHeaders, at: number) => headersOut(facts, operation?.id, headers, status, at),
    });
    const refusal = refusedReplay(facts, errorShape, call);
    if (refusal) return answer(refusal.status, refusal.body);
    if (reply.status === 204) return answer(204, "");
    if (reply.status < 400) return answer(reply.status, success(call, reply.body));
    const error = ownErrorIn(reply);
    // Other errors, such as those with a fault rule's own code, are not translated.
    if (!error) return answer(reply.status, reply.body);
    const { status, ...shown } = adoptedError(facts, error.code, operation?.id);
    return answer(status, errorShape()(error, shown, operation));
  };
}

/**
 * The response to a second call with a key, from a service that keeps keys but no responses; undefined if the service
 * replays the first.
 */
function refusedReplay(facts: AdoptedFacts, shape: () => ErrorShape, { id, operation, replayOf, headers }: CallAtEdge) {
  const refused = replayOf === undefined ? undefined : facts.text("idempotency.replay", operation?.id);
  const status = /^refused with (\d+)$/.exec(refused ?? "")?.[1];
  if (status === undefined) return undefined;
  delete headers["Idempotent-Replayed"];
  const { status: _, ...shown } = adoptedError(facts, "idempotency_key_reused", operation?.id);
  const message =
    "This idempotency key was used before. The service refuses it, and does not repeat the first response.";
  const error: OwnError = {
    error: "",
    code: "idempotency_key_reused",
    message,
    details: { firstRequestId: replayOf, requestId: id },
  };
  return { status: Number(status), body: shape()(error, shown, operation) };
}

function replyTranslation(
  { id, reply }: Operation,
  facts: AdoptedFacts,
  translator: Translator,
): Translate | undefined {
  const translate = translator.object("outwards", `${id}.reply`, reply);
  const name = facts.text(`${id}.reply.envelope`);
  const isList = fieldsOf(reply).some(([field]) => field === "data");
  const isPlain = name === undefined || name === (isList ? "data" : "none");
  if (isPlain) return translate;
  const wrap = isList ? (value: unknown) => listIn(name, value as Fields) : (value: unknown) => enveloped(name, value);
  return (value, at) => wrap(translate === undefined ? value : translate(value, at));
}

const listIn = (name: string, list: Fields): unknown => {
  if (name === "the response itself") return list.data;
  return Object.fromEntries(Object.entries(list).map(([field, value]) => [field === "data" ? name : field, value]));
};

const CHALLENGE = "WWW-Authenticate";

function headersOut(
  facts: AdoptedFacts,
  operation: string | undefined,
  own: SentHeaders,
  status: number,
  at: number,
): SentHeaders {
  const { [CHALLENGE]: _, ...others } = own;
  // HTTP requires WWW-Authenticate on a 401, even if the sandbox has another status for the error.
  const all = status === 401 ? { [CHALLENGE]: "Bearer", ...others } : others;
  const entries = Object.entries(all).flatMap(([name, value]) => {
    const shown = headerName(facts, `header.${name}`, name, operation);
    return shown === undefined ? [] : [[shown, inForm(facts, name, value, at)]];
  });
  return Object.fromEntries(entries);
}

function inForm(facts: AdoptedFacts, name: string, value: string | number, at: number): string | number {
  const form = facts.text(`header.${name}.format`);
  if (form === undefined || !/^\d+$/.test(String(value))) return value;
  if (form === "HTTP date") return httpDate(at + Number(value) * 1_000);
  if (form === "Unix milliseconds, as text") return String(Number(value) * 1_000);
  return form === "seconds from now" ? String(Math.max(0, Number(value) - Math.floor(at / 1_000))) : value;
}

export type TranslateEvent = <E extends { body: string; eventType: string }>(event: E) => E;

function createTranslateEvent(
  facts: AdoptedFacts,
  prefixes: Prefixes,
  types: EventTypes | undefined,
  records: ReadonlyMap<string, TSchema>,
): TranslateEvent {
  const translator = createTranslator(facts, prefixes);
  const recordOf = memoize(MOST_KEPT, (kind: string) => {
    const schema = records.get(kind);
    return schema && translator.object("outwards", kind, schema);
  });
  const whole = once(() => translator.object("outwards", "event", envelope));
  return (event) => {
    const own = JSON.parse(event.body) as Fields;
    const { type, data } = own;
    // `object` names the kind of the record.
    const record = recordOf(String((data as Fields | null)?.object));
    const shown = types?.shown ?? String;
    const named = { ...own, type: shown(String(type)), ...(record && { data: record(data, { ...TOP, record: own }) }) };
    return { ...event, eventType: shown(event.eventType), body: JSON.stringify(whole()?.(named, TOP) ?? named) };
  };
}
