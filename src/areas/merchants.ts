// Merchants: profiles, creating merchants, login and payout methods.

import { resource, withFields } from "../contracts/resource.ts";
import { assumed, assumedBody } from "../schema/assumed.ts";
import { count, country, currency, email, flag, metadata, nullables, oneOf, optionals, Type, text } from "../schema/shapes.ts";
import { endpoint, type OperationContext } from "../store/operation-context.ts";
import { SESSION_SECONDS } from "../store/records/tenants.ts";
import { samplePayoutMethod } from "./samples/sales.ts";

const requiredFields = {
  name: text("Name of the merchant", { minLength: 1 }),
  email: email("The merchant's email address; unique among merchants"),
};

const optionalFields = {
  phone: text("The merchant's phone number"),
  country: country(),
  currency: currency(),
};

/** Declares no `created` event: `merchant.created` goes to the merchant that made the request, not to the new one. */
export const merchants = resource({
  kind: "merchant",
  prefix: "mer",
  view: "merchants",
  fields: nullables({ ...requiredFields, ...optionalFields }),
  states: {
    active: { to: ["suspended"] },
    suspended: { to: ["active"] },
  },
});

const method = {
  type: oneOf(["bank_account", "mobile_money"], "Type of account"),
};

const account = {
  accountName: text("Name of the account holder"),
  bankName: text("Name of the bank or mobile money operator"),
  bankCode: text("Code of the bank"),
  country: country(),
  currency: currency(),
};

const isDefault = flag("Whether this is the default payout method");

/** Milliseconds. */
const VERIFICATION_TIME = 60_000;

export const payoutMethods = resource({
  kind: "payout_method",
  prefix: "pom",
  view: "payout_methods",
  sample: samplePayoutMethod,
  fields: {
    ...nullables({ ...method, last4: text("Last four characters of the account number; the full number is not stored"), ...account }),
    isDefault,
  },
  defaults: { isDefault: true },
  states: {
    pending_verification: {
      to: ["verified", "failed"],
      event: "payout_method.updated",
      next: ({ record }) => ({ at: record.created * 1000 + VERIFICATION_TIME, status: "verified" }),
    },
    verified: { to: [], event: "payout_method.updated" },
    failed: { to: [], event: "payout_method.updated" },
  },
});

export const setPayoutMethod = endpoint({
  id: "payout_method.set",
  area: "Merchants",
  method: "POST",
  path: "/merchants/payout-method",
  summary: "Set the payout method",
  description:
    "A merchant has one payout method; setting a new one replaces it. Only the last four characters of the account number are stored and returned.",
  body: assumedBody(
    {
      ...method,
      accountNumber: Type.String({
        description: "Account number, IBAN or phone number; spaces and dashes are allowed",
        pattern: "^\\+?([ -]?[0-9A-Za-z]){5,34}$",
      }),
      ...optionals({ ...account, isDefault, metadata: metadata() }),
    },
    "The service's documentation does not show this body; these fields are common to payout APIs.",
  ),
  example: {
    type: "bank_account",
    accountNumber: "0000 0000 0000 4321",
    accountName: "Quinta da Ribeira",
    bankName: "Banco de Exemplo",
    country: "PT",
    currency: "EUR",
  },
  reply: payoutMethods.schema,
  errors: ["validation_failed"],
  emits: [assumed("payout_method.updated", "Derived from the name of the operation.")],
  handle(call) {
    const { accountNumber, ...kept } = call.body;
    const methods = call.own(payoutMethods);
    for (let current = methods.newest(); current; current = methods.newest()) methods.remove(current);
    const last4 = accountNumber?.replace(/[ -]/g, "").slice(-4) ?? null;
    return methods.create({ ...call.extra, ...kept, currency: kept.currency ?? homeCurrency(call), last4 });
  },
});

/** A minute less than the token lives, so that no replay returns a token that has expired or is about to. */
const SESSION_REPLAY_SECONDS = SESSION_SECONDS - 60;

export const login = endpoint({
  id: "merchants.login",
  area: "Merchants",
  method: "POST",
  path: "/merchants/login",
  summary: "Log in as a merchant",
  description: "Any API key can log in as any merchant of the sandbox. The access token is sent like an API key and expires after an hour.",
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
    "The service's documentation does not say whether login returns a token; a login that returned none would have no use.",
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

export const createMerchant = endpoint({
  id: "merchants.create",
  area: "Merchants",
  method: "POST",
  path: "/merchants",
  summary: "Create a merchant",
  description: "The new merchant has a profile and no other records. Its API key is returned only in this response.",
  body: assumedBody({
    ...requiredFields,
    ...optionals({ ...optionalFields, password: text("Password for login; do not use a real one"), metadata: metadata() }),
  }),
  example: { name: "Café Lusíada", email: "bomdia@lusiada.example", password: "not-a-real-one", country: "PT", currency: "EUR" },
  reply: withFields(merchants, { apiKey: text("API key of the new merchant") }),
  errors: ["validation_failed", "already_exists"],
  emits: [assumed("merchant.created", "Derived from the name of the operation.")],
  handle({ merchant: creator, body, extra, mint, of, tenants, emit }) {
    const { password, ...profile } = body;
    const id = freshId(mint, (id) => of(id, merchants).find(id) !== undefined);
    if (profile.email !== undefined) tenants.addLogin(profile.email, id, password ?? undefined);
    const merchant = of(id, merchants).create({ ...extra, ...profile, id });
    emit("merchant.created", merchant);
    return { ...merchant, apiKey: tenants.mintKey(id, creator) };
  },
});

export const getOwnMerchant = endpoint({
  id: "merchants.me",
  area: "Merchants",
  method: "GET",
  path: "/merchants/me",
  summary: "Retrieve your merchant profile",
  reply: merchants.schema,
  handle: ({ merchant, own }) => own(merchants).show(merchant),
});

/** Skips ids already in use: resetting a merchant restarts its id counter but keeps the merchants that it created. */
function freshId(mint: OperationContext["mint"], isTaken: (id: string) => boolean): string {
  const id = mint(merchants.prefix);
  return isTaken(id) ? freshId(mint, isTaken) : id;
}

/** The merchant's currency, the default for amounts in requests that omit `currency`. */
export const homeCurrency = ({ merchant, own }: Pick<OperationContext, "merchant" | "own">) =>
  own(merchants).find(merchant)?.currency ?? null;
