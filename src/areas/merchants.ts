// Merchants: the caller's own profile, a second merchant beside it, logging in, and where payouts go.

import { resource, withFields } from "../contracts/resource.ts";
import { assumed } from "../schema/assumed.ts";
import { count, country, currency, email, flag, metadata, nullables, oneOf, optionals, Type, text } from "../schema/shapes.ts";
import { endpoint, type OperationContext } from "../store/operation-context.ts";

const who = {
  name: text("What the merchant is called", { minLength: 1 }),
  email: email("Where the merchant is written to; no two merchants share it"),
};

const where = {
  phone: text("The merchant's telephone number"),
  country: country(),
  currency: currency(),
};

/** Creation is told to the merchant who created, not to the one who was: so no event hangs on the record itself. */
export const merchants = resource({
  kind: "merchant",
  prefix: "mer",
  view: "merchants",
  fields: nullables({ ...who, ...where }),
  defaults: { status: "active" },
  moves: { active: ["suspended"], suspended: ["active"] },
});

const method = {
  type: oneOf(["bank_account", "mobile_money"], "What kind of account it is"),
};

const account = {
  accountName: text("The name on the account"),
  bankName: text("The bank or the operator"),
  bankCode: text("The bank's code"),
  country: country(),
  currency: currency(),
};

const isDefault = flag("Whether payouts go here unless they say otherwise");

export const payoutMethods = resource({
  kind: "payout_method",
  prefix: "pom",
  view: "payout_methods",
  fields: {
    ...nullables({ ...method, last4: text("The last four characters of the account number; more of it is not kept"), ...account }),
    isDefault,
  },
  defaults: { status: "pending_verification", isDefault: true },
  moves: { pending_verification: ["verified", "failed"], verified: [], failed: [] },
  events: { created: "payout_method.updated", verified: "payout_method.updated", failed: "payout_method.updated" },
});

export const setPayoutMethod = endpoint({
  id: "payout_method.set",
  area: "Merchants",
  method: "POST",
  path: "/merchants/payout-method",
  summary: "Set where payouts go",
  description: "A merchant has one payout method: a new one replaces it. The account number is never kept or answered, only its last four.",
  body: assumed(
    Type.Object({
      ...method,
      accountNumber: Type.String({
        description: "Number of the account, IBAN or telephone; spaces and dashes are welcome",
        pattern: "^\\+?([ -]?[0-9A-Za-z]){5,34}$",
      }),
      ...optionals({ ...account, isDefault, metadata: metadata() }),
    }),
    "The document does not show the body; these are the fields that payout services share.",
    "--bodies open",
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
  emits: [assumed("payout_method.updated", "Derived from the operation's name.")],
  handle(call) {
    const { accountNumber, ...kept } = call.body;
    const methods = call.own(payoutMethods);
    for (let current = methods.newest(); current; current = methods.newest()) methods.remove(current);
    const last4 = accountNumber?.replace(/[ -]/g, "").slice(-4) ?? null;
    return methods.create({ ...call.extra, ...kept, currency: kept.currency ?? homeCurrency(call), last4 });
  },
});

export const login = endpoint({
  id: "merchants.login",
  area: "Merchants",
  method: "POST",
  path: "/merchants/login",
  summary: "Log in as a merchant",
  description: "Any key may log in any merchant of the sandbox. The token is a bearer value like a key, and expires.",
  body: assumed(
    Type.Object({ email: who.email, password: text("The merchant's password") }),
    "The document does not show the body.",
    "--bodies open",
  ),
  example: { email: "ola@lodge.example", password: "lodge-password" },
  reply: assumed(
    Type.Object({
      object: oneOf(["session"], "The kind of the answer"),
      accessToken: text("To be sent as the bearer value"),
      tokenType: oneOf(["Bearer"], "How the token is sent"),
      expiresIn: count("How many seconds the token is good for"),
      merchant: merchants.schema,
    }),
    "The document does not say whether login returns a token; an operation of this name that returned none would have no use.",
  ),
  headers: { "Cache-Control": "no-store" },
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
  description: "The new merchant is a world of its own, empty but for its profile. Its key is in this answer and in no other.",
  body: assumed(
    Type.Object({ ...who, ...optionals({ ...where, password: text("To log in with; not a real one"), metadata: metadata() }) }),
    "The document does not show the body.",
    "--bodies open",
  ),
  example: { name: "Café Lusíada", email: "bomdia@lusiada.example", password: "not-a-real-one", country: "PT", currency: "EUR" },
  reply: withFields(merchants, { apiKey: text("The new merchant's key") }),
  errors: ["validation_failed", "already_exists"],
  emits: [assumed("merchant.created", "Derived from the operation's name.")],
  handle({ body, extra, mint, of, tenants, emit }) {
    const { password, ...profile } = body;
    const id = freshId(mint, (id) => of(id, merchants).find(id) !== undefined);
    if (profile.email !== undefined) tenants.addLogin(profile.email, id, password ?? undefined);
    const merchant = of(id, merchants).create({ ...extra, ...profile, id });
    emit("merchant.created", merchant);
    return { ...merchant, apiKey: tenants.mintKey(id) };
  },
});

export const getOwnMerchant = endpoint({
  id: "merchants.me",
  area: "Merchants",
  method: "GET",
  path: "/merchants/me",
  summary: "Read your own profile",
  reply: merchants.schema,
  handle: ({ merchant, own }) => own(merchants).show(merchant),
});

/** A merchant that was reset counts from one again, and those that it made before are still there. */
function freshId(mint: OperationContext["mint"], isTaken: (id: string) => boolean): string {
  const id = mint(merchants.prefix);
  return isTaken(id) ? freshId(mint, isTaken) : id;
}

/** The caller's own currency: what an amount is in where the request does not say. */
export const homeCurrency = ({ merchant, own }: Pick<OperationContext, "merchant" | "own">) =>
  own(merchants).find(merchant)?.currency ?? null;
