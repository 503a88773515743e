// The catalogue: every operation of the emulated API, every resource, and every type of event.

import type { Resource } from "../contracts/resource.ts";
import { didYouMean } from "../kernel/did-you-mean.ts";
import { type Behaviour, factOf } from "../schema/assumed.ts";
import type { Operation } from "../store/operation-context.ts";
import { EVERY_TYPE } from "../store/webhooks/outbox.ts";
import * as customers from "./customers.ts";
import * as employees from "./employees.ts";
import * as govPayments from "./gov-payments.ts";
import * as hospitality from "./hospitality.ts";
import * as integrations from "./integrations.ts";
import * as marketplace from "./marketplace.ts";
import * as memberships from "./memberships.ts";
import * as merchants from "./merchants.ts";
import * as organizers from "./organizers.ts";
import * as payments from "./payments.ts";
import * as payoutMethods from "./payout-methods.ts";
import * as payouts from "./payouts.ts";
import * as retail from "./retail.ts";
import * as statutory from "./statutory.ts";
import * as webhooks from "./webhooks.ts";

/** The declarations in an area's file. */
const areas: readonly { operations: readonly Operation[]; resources?: readonly Resource[] }[] = [
  merchants,
  customers,
  payments,
  payouts,
  payoutMethods,
  marketplace,
  hospitality,
  employees,
  memberships,
  organizers,
  integrations,
  retail,
  statutory,
  govPayments,
  webhooks,
];

/** The operations in the order of the service's documentation. */
export const catalogue: readonly Operation[] = areas
  .flatMap(({ operations }) => operations)
  .toSorted((one, other) => one.position - other.position);

export const resources: readonly Resource[] = areas.flatMap(({ resources = [] }) => resources);

/** One sentence about each area. */
export const areaDescriptions: Readonly<Record<string, string>> = {
  Customers: "The people and companies that pay the merchant.",
  Hospitality: "Pricing rules for rooms, and bookings by guests.",
  Employees: "Payroll runs and their items, disciplinary records and appraisals of the merchant's staff.",
  Merchants: "The merchant's own account: creation, login, profile and payout method.",
  Payouts: "Money sent from the merchant's balance to its bank account or mobile wallet.",
  "Marketplace orders": "Orders that arrive from a marketplace.",
  Payments: "Money received from customers, with refunds and fees.",
  Memberships: "Renewals of the memberships that customers hold.",
  "Event organizers": "The merchant's profile as an organizer of events.",
  Integrations: "The log of synchronisations with other systems, such as accounting.",
  Retail: "Products and their variants, each with a price and stock.",
  Statutory: "Contributions and taxes remitted to authorities, and the settings that determine them.",
  "Government payments": "Payments to government agencies, and their posting to the books.",
  Webhooks: "Endpoints that receive signed events, the log of delivery attempts, and test events.",
};

/** Every event type that the service sends, from operations and from changes of records. */
export const eventTypes: ReadonlySet<string> = new Set([
  ...catalogue.flatMap(({ emits }) => emits.map(factOf)),
  ...resources.flatMap(({ events }) => Object.values(events)),
]);

/** Expands words such as payment.* to event types, and keeps `*`. Calls `fail` for a word that matches no type. */
export function matchingTypes(words: readonly string[], fail: (message: string) => never): string[] {
  const types = words.flatMap((word) => {
    if (word === EVERY_TYPE || eventTypes.has(word)) return [word];
    const isPattern = word.endsWith(".*");
    const found = isPattern ? [...eventTypes].filter((type) => type.startsWith(word.slice(0, -1))) : [];
    if (found.length > 0) return found;
    const known = isPattern ? new Set([...eventTypes].map((type) => `${type.split(".")[0]}.*`)) : eventTypes;
    return fail(`No event type matches ${word}.${didYouMean(word, known) || " docs/events.md lists all types."}`);
  });
  return [...new Set(types)];
}

export const eventsText = (types: readonly string[]) => (types.includes(EVERY_TYPE) ? "all events" : types.join(", "));

const NO_OPERATION = "The service's documentation shows neither such a record nor an operation that creates one.";

export const behaviours: Behaviour[] = [
  {
    id: "samples.values",
    fact:
      "A record made through the control API gets generated values for missing fields, in the merchant's " +
      "currency. Generated values resemble those of the merchant's newest records of the same kind and with the " +
      "same given values. Products, plans, channels and payment methods take turns. The seed, the merchant and the " +
      "number of records made this way determine the values.",
    why: NO_OPERATION,
  },
  {
    id: "samples.references",
    fact:
      "A generated record refers to existing records: one of the merchant's 50 newest customers, with that " +
      "customer's name and address; a free room and a guest without another stay in those nights; variants in " +
      "stock; an active product. A missing product is created. An order of a merchant without products contains a " +
      "gift box.",
    why: NO_OPERATION,
  },
  {
    id: "samples.dates",
    fact:
      "The dates of a generated record fit its status. A stay begins in 3 to 30 days; a checked-in stay began " +
      "today, and a checked-out stay ended today. A member's renewal is due on the day after the current period, a " +
      "new member's first renewal in 3 to 20 days. A remittance covers a month that its scheme has not remitted: " +
      "the next such month if it is pending, otherwise the latest. A tax is due once its period is over, a yearly " +
      "fee after a year; if nothing is due, a government payment is an administrative fee. Times of earlier states " +
      "that are not given equal the earliest given time.",
    why: NO_OPERATION,
  },
  {
    id: "samples.office",
    fact:
      "A generated payroll pays the staff of the latest regular run (default: two people) for the next period of " +
      "`payFrequency`, on the usual pay day or the business day before it. If the next regular pay is not due yet, " +
      "a paid payroll without given days is off-cycle, like a bonus. Deductions use the rates of the schemes in the " +
      "settings (default: typical rates of the country).",
    why: "The service's documentation has no employees and no tax rates.",
  },
  {
    id: "records.singletons",
    fact:
      "`/merchants/me`, `/events/organizer` and `/statutory/settings` return one object. Without an organizer " +
      "profile, `/events/organizer` returns 404; settings that were never changed have defaults.",
    why: "The service's documentation does not show these responses; the paths are singular.",
  },
  {
    id: "customers.missing_fields",
    fact: "A customer without an email, name or phone is returned without that field, never with null.",
    why:
      "The service's documentation calls these fields strings; null is not a string, and an empty string is not an " +
      "email address.",
  },
  {
    id: "records.series",
    fact:
      "A payment, order or government payment without a number gets the next one of a series: the initials of the " +
      "merchant, the channel or the agency, and a number of four digits, above every number of the series so far. " +
      "Each channel has its own series, without gaps. A paid remittance gets a reference of the series REM, a paid " +
      "government payment a receipt number of the series RC. A confirmed remittance also gets a receipt number of " +
      "the series R, except in `remittances.confirm`, where only the caller sets it.",
    why: NO_OPERATION,
  },
  {
    id: "records.values",
    fact:
      "Amounts are integers in the currency's smallest unit, up to 2^53 - 1, beside an ISO 4217 code; rates are " +
      "basis points, times Unix seconds, days YYYY-MM-DD. Texts have at most 5,000 characters.",
    why: "The service's documentation shows one amount, an integer, and no bounds; these units avoid rounding.",
  },
  {
    id: "rules.sums",
    fact:
      "Amounts agree: an order's amount is the sum of its items and shipping, a refund is at most the payment, a " +
      "payout's amount is the sum of its payments, net pay is the gross pay less deductions, and a remittance's " +
      "amount is the sum of both shares. Times follow the order of the states; currencies are ISO 4217 codes.",
    why:
      "The service's documentation gives no such rules, but a record that contradicts itself is useless for " +
      "testing a client.",
  },
  {
    id: "rules.states",
    fact: "An override needs a draft payroll, and a new variant needs an active product (otherwise 409).",
    why: "The service's documentation lists two error responses for these operations, without their conditions.",
  },
  {
    id: "rules.unlikely",
    fact:
      "Unlikely values are accepted with a warning: under `/v1` in `X-Sandbox-Warning`, in replies of the control " +
      "API in `warnings`. Warnings name a stay in a full room or with too many guests, an order beyond the stock, " +
      "a discount above 100 %, a pricing rule for an unknown room type, a fee above its amount, a payment in two " +
      "payouts, days that two regular payrolls pay an employee for, an employee twice in a run, net pay below zero " +
      "or above twice the gross pay, a pay date before its period or more than ten years away, a second remittance " +
      "of a scheme for a month or payroll, and a posting that debits and credits the same account.",
    why: "The service's documentation has no such rules, and a test may want exactly such a record.",
  },
  {
    id: "rules.rooms",
    fact:
      "A merchant's `roomTypes` say how many rooms of each type it lets, how many guests each sleeps, and its " +
      "nightly rate. The control API rejects other room types; if the list is empty, it accepts any.",
    why: "The service's documentation names no rooms; a misspelt room type would otherwise go unnoticed.",
  },
  {
    id: "links.bookings",
    fact:
      "Confirming a booking charges 20 % of its price as a deposit, and the departure charges the rest; declining " +
      "or cancelling it refunds the deposit. A booking that already names a payment gets no new one.",
    why:
      "The service's documentation does not connect bookings and payments. Guests pay for a stay, and get their " +
      "money back if they are turned away.",
  },
  {
    id: "links.renewals",
    fact:
      "Renewing a membership makes a payment of its amount. The new period lasts a month if the name of the plan " +
      "contains `month`, otherwise a year. Seeded renewals move by whole weeks, with their payments.",
    why: "The service's documentation does not connect renewals and payments.",
  },
  {
    id: "links.payouts",
    fact:
      "A payout contains payments less fees and refunds; if it fails or is canceled, a later payout may contain " +
      "these payments. A payout without an amount contains all payments that are in no payout yet. A pending payout " +
      "to a replaced payout method goes to the new method.",
    why: "The service's documentation does not connect payouts, payments and payout methods; sums must agree.",
  },
  {
    id: "links.orders",
    fact:
      "Accepting an order subtracts its items from the stock of the variants, even below zero; canceling the order " +
      "afterwards adds them again.",
    why: "The service's documentation does not connect orders and variants.",
  },
  {
    id: "links.order_payments",
    fact:
      "An order makes no payment: the marketplace takes the money and pays it out itself, so no payout contains an " +
      "order.",
    why: "The service's documentation does not connect orders and payments; marketplaces collect for their sellers.",
  },
  {
    id: "links.payroll",
    fact:
      "When a payroll is paid, each enabled scheme of the settings gets a pending remittance of the deductions and " +
      "the employer's share, unless it has a remittance without a payroll for that month. The remittance is due on " +
      "`remittanceDueDay` of the month after the period (on a weekend: the business day before), and goes to the " +
      "agency of the scheme's latest remittance.",
    why: "The service's documentation shows the settings and the remittances, but not how they are made.",
  },
];
