// Merchants: profiles, creation and login, and the currency, country and time zone that other areas use.

import type { Arrival, OwnRecords, RecordBase } from "../contracts/resource.ts";
import { dayAt, timeOfDay } from "../kernel/calendar.ts";
import { assumed } from "../schema/assumed.ts";
import {
  amount,
  count,
  country,
  currency,
  email,
  metadata,
  nullables,
  oneOf,
  optionals,
  Type,
  text,
  timestamp,
} from "../schema/shapes.ts";
import type { OperationContext } from "../store/operation-context.ts";
import { SESSION_SECONDS } from "../store/records/tenants.ts";
import { assumedBody, endpoint } from "./declare/operation.ts";
import { resource, withFields } from "./declare/resource.ts";

const requiredFields = {
  name: text("Name of the merchant", { minLength: 1 }),
  email: email("The merchant's email address; unique among merchants"),
};

const optionalFields = {
  phone: text("The merchant's phone number"),
  country: country(),
  currency: currency(),
};

export const suspension = {
  suspendedAt: timestamp("Time of the suspension"),
  suspensionReason: text("Reason for the suspension"),
};

export const roomTypes = Type.Array(
  Type.Object({
    id: text("Id of the room type, such as `room_double`"),
    rooms: count("Number of rooms", { minimum: 1 }),
    sleeps: count("Number of guests that a room sleeps", { minimum: 1 }),
    nightlyRate: amount("Price per night before pricing rules", { minimum: 0 }),
  }),
  { description: "Room types that the merchant lets; if empty, records may name any room type" },
);

/** Declares no `created` event: `merchant.created` goes to the merchant that made the request, not to the new one. */
export const merchants = resource({
  kind: "merchant",
  prefix: "mer",
  view: "merchants",
  fields: { ...nullables({ ...requiredFields, ...optionalFields, ...suspension }), roomTypes },
  defaults: { roomTypes: [] },
  states: {
    active: { to: ["suspended"], event: "merchant.reactivated", sets: () => ({ suspensionReason: null }) },
    suspended: {
      to: ["active"],
      event: "merchant.suspended",
      at: "suspendedAt",
      fills: { suspensionReason: "under_review" },
    },
  },
  created: null,
  updated: "merchant.updated",
  onePerMerchant: true,
});

/** A minute less than the token's lifetime, so that a replayed login never returns a token that is about to expire. */
const SESSION_REPLAY_SECONDS = SESSION_SECONDS - 60;

const login = endpoint({
  id: "merchants.login",
  position: 5,
  area: "Merchants",
  method: "POST",
  path: "/merchants/login",
  summary: "Log in as a merchant",
  description:
    "Any API key can log in as any merchant of the sandbox. The access token is sent like an API key and expires " +
    "after an hour.",
  body: assumedBody({ email: requiredFields.email, password: text("The merchant's password") }),
  example: { email: "ola@lodge.example", password: "lodge-password" },
  reply: assumed(
    Type.Object({
      object: oneOf(["session"], "Type of the object"),
      accessToken: text("Access token to send in the Authorization header"),
      tokenType: oneOf(["Bearer"], "Authentication scheme of the token"),
      expiresIn: count("Lifetime of the token, in seconds"),
      merchant: merchants.schema,
    }),
    "The service's documentation does not say whether login returns a token; a login that returned none would have " +
      "no use.",
  ),
  headers: { "Cache-Control": "no-store" },
  replayWindow: SESSION_REPLAY_SECONDS * 1_000,
  errors: ["validation_failed", "invalid_credentials"],
  handle({ body, of, tenants }) {
    const id = tenants.checkLogin(body.email, body.password);
    const { token, expiresIn } = tenants.openSession(id);
    return {
      object: "session" as const,
      accessToken: token,
      tokenType: "Bearer" as const,
      expiresIn,
      merchant: of(id, merchants).require(id),
    };
  },
});

const createMerchant = endpoint({
  id: "merchants.create",
  position: 6,
  area: "Merchants",
  method: "POST",
  path: "/merchants",
  summary: "Create a merchant",
  description: "The new merchant has a profile and no other records. Its API key is returned only in this response.",
  body: assumedBody({
    ...requiredFields,
    ...optionals({
      ...optionalFields,
      password: text("Password for login; do not use a real one"),
      metadata: metadata(),
    }),
  }),
  example: {
    name: "Café Lusíada",
    email: "bomdia@lusiada.example",
    password: "not-a-real-one",
    country: "PT",
    currency: "EUR",
  },
  reply: withFields(merchants, { apiKey: text("API key of the new merchant") }),
  errors: ["validation_failed", "already_exists"],
  emits: [assumed("merchant.created", "Derived from the name of the operation.")],
  trigger: {
    body: (_, unique) => ({
      name: "Café Lusíada",
      email: `${unique}@lusiada.example`,
      country: "PT",
      currency: "EUR",
    }),
  },
  handle({ merchant: creator, body, extra, mint, of, tenants, emit }) {
    const { password, ...profile } = body;
    const id = freshId(mint, (id) => of(id, merchants).find(id) !== undefined);
    if (profile.email !== undefined) tenants.addLogin(profile.email, id, password ?? undefined);
    const merchant = of(id, merchants).create({ ...extra, ...profile, id });
    emit("merchant.created", merchant);
    return { ...merchant, apiKey: tenants.mintKey(id, creator) };
  },
});

const getOwnMerchant = endpoint({
  id: "merchants.me",
  position: 15,
  area: "Merchants",
  method: "GET",
  path: "/merchants/me",
  summary: "Retrieve your merchant profile",
  reply: merchants.schema,
  handle: ({ merchant, own }) => own(merchants).show(merchant),
});

export const operations = [login, createMerchant, getOwnMerchant];

export const resources = [merchants];

/** Skips ids in use: a reset of a merchant restarts its id counter, but keeps the merchants that it created. */
function freshId(mint: OperationContext["mint"], isTaken: (id: string) => boolean): string {
  const id = mint(merchants.prefix);
  return isTaken(id) ? freshId(mint, isTaken) : id;
}

/** The merchant's name, country and currency. */
export function profileOf(merchant: string, own: OwnRecords): Record<"name" | "country" | "currency", string | null> {
  return own(merchants).find(merchant) ?? { name: null, country: null, currency: null };
}

/** The merchant's currency, the default for amounts in requests that omit `currency`. */
export const merchantCurrency = ({ merchant, own }: { merchant: string; own: OwnRecords }) =>
  profileOf(merchant, own).currency;

/** A record, and access to its merchant's records. */
type OwnedRecord = Pick<Arrival<RecordBase>, "record" | "own">;

const countryOf = ({ record, own }: OwnedRecord) => profileOf(record.merchantId, own).country;

/** Hours of the day in the merchant's time zone. */
const HOURS = { midnight: 0, morning: 8, opening: 9, checkOut: 11, checkIn: 15 };

/** Schedules a record's next state for an hour of a day; undefined if the day is null or invalid. */
export function onDay<S extends string>(
  owned: OwnedRecord,
  day: string | null,
  hour: keyof typeof HOURS,
  status: S,
): { at: number; status: S } | undefined {
  const at = day === null ? undefined : timeOfDay(countryOf(owned), day, HOURS[hour]);
  return at === undefined ? undefined : { at, status };
}

/** The calendar day in the merchant's time zone, at a time in Unix seconds. */
export const merchantDay = (owned: OwnedRecord, seconds: number) => dayAt(countryOf(owned), seconds * 1000);
