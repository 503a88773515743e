// Statutory: what is remitted to public schemes, and the settings by which it is.

import { isDeepStrictEqual } from "node:util";
import { resource } from "../contracts/resource.ts";
import { assumed } from "../schema/assumed.ts";
import {
  amount,
  basisPoints,
  count,
  country,
  currency,
  day,
  flag,
  metadata,
  month,
  nullable,
  nullables,
  oneOf,
  optionals,
  Type,
  text,
  timestamp,
} from "../schema/shapes.ts";
import { endpoint, type OperationContext } from "../store/operation-context.ts";
import { merchants } from "./merchants.ts";

const SCHEMES = ["income_tax", "pension", "social_security", "health_insurance", "housing_fund", "other"] as const;
const scheme = oneOf(SCHEMES, "The public scheme");

const receipt = {
  receiptNumber: text("The number of the agency's receipt"),
  confirmedDate: day("The day that the receipt bears"),
  note: text("What is to be remembered about it"),
};

export const remittances = resource({
  kind: "remittance",
  prefix: "rem",
  view: "remittances",
  fields: nullables({
    scheme,
    agency: text("Who receives it"),
    period: month("The month it is for"),
    amount: amount("The sum of both shares", { minimum: 0 }),
    employeeAmount: amount("The employees' share", { minimum: 0 }),
    employerAmount: amount("The employer's share", { minimum: 0 }),
    currency: currency(),
    dueDate: day("When it is due"),
    paidAt: timestamp("When it was paid"),
    paymentReference: text("The reference that it was paid under"),
    ...receipt,
    confirmedAt: timestamp("When it was confirmed"),
  }),
  defaults: { status: "pending" },
  moves: {
    pending: ["paid", "overdue", "confirmed", "cancelled"],
    paid: ["confirmed"],
    overdue: ["paid", "confirmed", "cancelled"],
    confirmed: [],
    cancelled: [],
  },
  events: { created: "remittance.created", confirmed: "remittance.confirmed" },
});

const settings = {
  country: country(),
  currency: currency(),
  payFrequency: oneOf(["weekly", "biweekly", "semimonthly", "monthly"], "How often employees are paid"),
  remittanceDueDay: count("The day of the following month on which remittances are due", { minimum: 1, maximum: 28 }),
};

const autoRemit = flag("Whether remittances are paid without being asked");

const schemes = Type.Array(
  Type.Object({
    scheme,
    enabled: flag("Whether the merchant takes part"),
    registrationNumber: nullable(text("The merchant's number with the scheme")),
    employeeRateBps: basisPoints("The employees' rate"),
    employerRateBps: basisPoints("The employer's rate"),
  }),
  { description: "The schemes that the merchant takes part in, or could", maxItems: 100 },
);

export const statutorySettings = resource({
  kind: "statutory_settings",
  prefix: "sts",
  view: "statutory_settings",
  fields: { ...nullables(settings), autoRemit, schemes, updated: nullable(timestamp("When they were last changed")) },
  defaults: { autoRemit: false, schemes: [] },
  events: { updated: "statutory_settings.updated" },
});

/** The id of a merchant's settings: there is one set of them, so nothing needs telling apart. */
const SETTINGS = "sts_settings";

export const confirmRemittance = endpoint({
  id: "remittances.confirm",
  area: "Statutory",
  method: "POST",
  path: "/statutory/remittances/{id}/confirm",
  summary: "Confirm that a remittance arrived",
  description: "Possible while it is pending, paid or overdue: the interface has no operation that pays one.",
  body: assumed(Type.Object(optionals(receipt)), "The document does not show the body.", "--bodies open"),
  exampleParams: { id: "rem_overdue" },
  example: { receiptNumber: "R-2025-1107", confirmedDate: "2025-11-19", note: "Receipt filed with the October papers." },
  reply: remittances.schema,
  errors: ["resource_not_found", "invalid_state"],
  emits: [assumed("remittance.confirmed", "Derived from the operation's name.")],
  handle({ params, body, extra, now, own }) {
    const remittance = own(remittances).require(params.id);
    return own(remittances).move(remittance, "confirmed", { ...extra, ...body, confirmedAt: now });
  },
});

export const updateStatutorySettings = endpoint({
  id: "statutory_settings.update",
  area: "Statutory",
  method: "PATCH",
  path: "/statutory/settings",
  summary: "Change statutory settings",
  description: "Fields that are sent replace those of the same name; null clears one; nothing is told where nothing changed.",
  body: assumed(
    Type.Object(optionals({ ...settings, autoRemit, schemes, metadata: metadata() })),
    "The document does not show the body; null clears a field, as in RFC 7396.",
    "--bodies open",
  ),
  example: { remittanceDueDay: 20, autoRemit: true },
  reply: statutorySettings.schema,
  errors: ["validation_failed"],
  emits: [assumed("statutory_settings.updated", "Derived from the operation's name.")],
  handle(call) {
    const { body, extra, now, own } = call;
    const collection = own(statutorySettings);
    const before = collection.newest() ?? collection.create(initial(call));
    const changes = Object.fromEntries(Object.entries({ ...extra, ...body }).map(([field, value]) => [field, value ?? cleared(field)]));
    const same = Object.entries(changes).every(([field, value]) => isDeepStrictEqual(before[field as keyof typeof before], value));
    return same ? before : collection.update(before, { ...changes, updated: now }, "statutory_settings.updated");
  },
});

export const getStatutorySettings = endpoint({
  id: "statutory_settings.get",
  area: "Statutory",
  method: "GET",
  path: "/statutory/settings",
  summary: "Read statutory settings",
  reply: statutorySettings.schema,
  handle: (call) => call.own(statutorySettings).newest() ?? call.own(statutorySettings).draft(initial(call)),
});

/** What a merchant has who has set nothing yet. */
function initial({ merchant, own }: Pick<OperationContext, "merchant" | "own">) {
  const { country, currency, created } = own(merchants).require(merchant);
  return { id: SETTINGS, country, currency, created };
}

/** What a field is after null was sent for it: its default, else null; an unknown field is gone. */
function cleared(field: string): unknown {
  if (field === "metadata") return {};
  const known = Object.hasOwn(statutorySettings.schema.properties, field);
  return known ? (statutorySettings.defaults[field as keyof typeof statutorySettings.defaults] ?? null) : undefined;
}
