// Samples of sales records: payments and payout methods, orders and products, bookings, memberships, customers, organizers.

import type { SampleContext } from "../../contracts/resource.ts";
import { addDays } from "../../kernel/calendar.ts";
import { customerOf, daysBetween, earlier, moneyLike, monthsLater, nextNumber, numberOf, textOf } from "./parts.ts";

const NAMES = [
  "Amara Okafor",
  "Zoë Müller",
  "Tiago Nunes",
  "小林 さくら",
  "Noor Haddad",
  "Siobhán Byrne",
  "Łucja Nowak",
  "Mateo Ibáñez",
] as const;

export function sampleCustomer({ given, pick, number }: SampleContext) {
  const name = textOf(given.name, pick("name", NAMES));
  const [word = "customer"] = /[a-z]{3,}/i.exec(name) ?? [];
  return { name, email: `${word.toLowerCase()}-${number}@mail.example`, phone: `+44 7700 900${100 + (number % 900)}` };
}

export function samplePayment(context: SampleContext) {
  const like = earlier(context, "payment");
  return {
    ...moneyLike(context, like, 400),
    method: textOf(like.method, "card"),
    customerId: customerOf(context)?.id ?? null,
    reference: nextNumber(context, "payment", "reference", "INV"),
    description: like.description ?? null,
  };
}

export function samplePayoutMethod({ merchant, newest, between }: SampleContext) {
  const [current = {} as Record<string, unknown>] = newest("payout_method");
  return {
    type: current.type ?? "bank_account",
    last4: String(between("account", 1_000, 9_999)),
    accountName: merchant.name ?? null,
    bankName: textOf(current.bankName, "Example Bank"),
    bankCode: current.bankCode ?? null,
    country: merchant.country ?? null,
    currency: merchant.currency ?? null,
  };
}

export function sampleOrder(context: SampleContext) {
  const { given, merchant } = context;
  const customer = customerOf(context);
  const like = earlier(context, "marketplace_order");
  const items = (given.items as ReturnType<typeof orderItems> | undefined) ?? orderItems(context);
  const home = { line1: "Rua das Flores 1", line2: null, city: "Vila Nova", postalCode: null, country: textOf(merchant.country, "PT") };
  return {
    customerId: customer?.id ?? null,
    number: nextNumber(context, "marketplace_order", "number", "ORD"),
    channel: textOf(like.channel, "Marketplace"),
    items,
    amount: items.reduce((sum, { quantity, unitAmount }) => sum + quantity * unitAmount, 0),
    currency: merchant.currency ?? null,
    shippingAddress: { ...home, ...(like.shippingAddress as object | null | undefined), name: textOf(customer?.name, NAMES[0]) },
  };
}

/** One or two variants in stock, or a gift box if there are none. */
function orderItems({ newest, pick, between }: SampleContext) {
  const goods = newest("product_variant").filter(({ status, stockQuantity }) => status === "active" && numberOf(stockQuantity, 9) >= 2);
  const first = pick("item", goods);
  const second = between("items", 1, 2) === 2 ? pick("second item", goods) : undefined;
  const chosen = [first, second === first ? undefined : second].filter((variant) => variant !== undefined);
  if (chosen.length === 0) return [{ productId: null, variantId: null, sku: null, name: "Gift box", quantity: 1, unitAmount: 2_500 }];
  return chosen.map((variant) => ({
    productId: variant.productId,
    variantId: variant.id,
    sku: variant.sku,
    name: textOf(variant.name, String(variant.sku)),
    quantity: between(`quantity ${variant.id}`, 1, 2),
    unitAmount: numberOf(variant.price, 2_500),
  }));
}

const GOODS = ["Olive oil", "Linen towel", "Clay bowl", "Wool scarf", "Herb tea"] as const;

export const sampleProduct = ({ pick }: SampleContext) => ({ name: pick("name", GOODS), description: "Made by hand" });

export function sampleVariant({ someOf, newest, merchant, number, between }: SampleContext) {
  const product = someOf("product", ({ status }) => status === "active");
  const size = `${100 * (newest("product_variant").length + number)} g`;
  return {
    productId: product.id,
    sku: `SKU-${1_000 + number}`,
    name: `${textOf(product.name, "Variant")}, ${size}`,
    price: between("price", 5, 60) * 100,
    currency: merchant.currency ?? null,
    stockQuantity: between("stock", 5, 50),
    options: { size },
  };
}

/** Days from today to check-in, for a status that a stay reaches on or after that day. */
const BEGUN: Readonly<Record<string, number>> = { checked_in: 0, no_show: -1 };

export function sampleBooking(context: SampleContext) {
  const { given, status = "", between, day, merchant, newest, pick } = context;
  const guest = customerOf(context);
  const priced = newest("booking").filter(({ amount }) => numberOf(amount, 0) > 0);
  const like = pick("room", priced);
  const nights = between("nights", 1, 5);
  const start = status === "checked_out" ? -nights : (BEGUN[status] ?? between("arrival", 3, 30));
  const { checkIn, checkOut } = stayOf(given, day(start), nights);
  const usualRate = like ? Math.round(numberOf(like.amount, 0) / Math.max(1, daysBetween(like.checkIn, like.checkOut))) : 9_000;
  return {
    guestName: guest?.name ?? "Tiago Nunes",
    customerId: guest?.id ?? null,
    roomTypeId: textOf(like?.roomTypeId, "room_double"),
    checkIn,
    checkOut,
    guests: between("guests", 1, 3),
    // The price is calculated from the rate, the nights and the pricing rules.
    ...(given.amount == null && { nightlyRate: numberOf(like?.nightlyRate, usualRate) }),
    currency: merchant.currency ?? null,
  };
}

/** The days of a stay. If one day is given, the other follows from the number of nights. */
function stayOf({ checkIn, checkOut }: SampleContext["given"], start: string, nights: number) {
  const first = textOf(checkIn, typeof checkOut === "string" ? addDays(checkOut, -nights) : start);
  return { checkIn: first, checkOut: textOf(checkOut, addDays(first, nights)) };
}

export const samplePricingRule = ({ given, between }: SampleContext) => ({
  name: "Weekend rate",
  adjustmentType: "percentage",
  adjustmentValue: given.adjustmentType === "fixed" ? between("value", 5, 40) * 100 : between("value", 5, 25) * 100,
  daysOfWeek: ["friday", "saturday"],
});

export function sampleRenewal(context: SampleContext) {
  const { given, status = "", day, between, number } = context;
  const like = earlier(context, "membership_renewal");
  const dueDate = textOf(given.dueDate, day(status === "pending" ? between("due", 3, 20) : 0));
  const length = Math.max(1, Math.round(daysBetween(like.periodStart ?? "2026-01-01", like.periodEnd ?? "2026-12-31") / 30.4));
  return {
    ...moneyLike(context, like, 120),
    membershipId: `mem_${number}`,
    customerId: customerOf(context)?.id ?? null,
    plan: textOf(like.plan, "yearly"),
    dueDate,
    periodStart: dueDate,
    periodEnd: addDays(monthsLater(dueDate, length), -1),
  };
}

export const sampleOrganizer = ({ merchant }: SampleContext) => ({
  name: merchant.name ?? null,
  description: `Events of ${textOf(merchant.name, "this merchant")}`,
  email: merchant.email ?? null,
  phone: merchant.phone ?? null,
  verified: true,
  upcomingEvents: 2,
  pastEvents: 5,
});
