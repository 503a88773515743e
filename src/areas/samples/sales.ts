// Samples of sales records: payments and payout methods, orders and products, bookings, memberships, customers,
// organizers.

import { isDeepStrictEqual } from "node:util";
import type { AnyRecord, SampleContext } from "../../contracts/resource.ts";
import { addDays, addMonths } from "../../kernel/calendar.ts";
import { fullNight, type Nights, type RoomType } from "../rooms.ts";
import { inCurrency } from "./currency-worth.ts";
import { customerOf, earlier, moneyLike, numberOf, ofSeries, textOf } from "./earlier-records.ts";
import { endingMemberships, GRACE_DAYS, mayJoin, memberships, monthsOf } from "./renewed-periods.ts";

const GUESTS: readonly [string, string] = [
  "Amara Zoë Tiago Noor Siobhán Łucja Mateo Sakura Ingrid Kofi Leïla Duarte Ana Bruno Clara Dilan Elif Farid Greta " +
    "Hugo Ilse Jonas Keiko Lars",
  "Okafor Müller Nunes Haddad Byrne Nowak Ibáñez Kobayashi Lindqvist Mensah Benali Rocha Alves Bauer Costa Diallo " +
    "Evans Ferrari Grün Horvat",
];
/** The first and last names in countries where a merchant's customers have local names. */
const NAMES: Readonly<Record<string, readonly [string, string]>> = {
  JP: [
    "佐藤 鈴木 高橋 伊藤 渡辺 山本 中村 小林 加藤 吉田 山田 佐々木 山口 松本 井上 木村 清水 斎藤 阿部 森",
    "ひなた 蓮 結衣 颯太 葵 陽翔 さくら 大翔 美咲 湊 凛 悠真 陽菜 樹 莉子 朝陽 杏 律 紬 蒼",
  ],
  KE: [
    "Wanjiku Achieng Baraka Halima Kiprono Neema Zawadi Juma Fatuma Otieno Amani Rehema Njeri Wambui Kamau Atieno " +
      "Makena Salim Akinyi Barasa",
    "Muthoni Odhiambo Mwangi Abdi Chebet Nyota Pendo Bahari Noor Omondi Salama Kariuki Wekesa Mutua Kiptoo Njoroge " +
      "Wafula Kimani Maina Ouma",
  ],
};

export function sampleCustomer({ given, merchant, pick, number }: SampleContext) {
  const [first, last] = NAMES[String(merchant.country)] ?? GUESTS;
  const parts = [pick("first name", first.split(" ")), pick("last name", last.split(" "))];
  const name = textOf(given.name, parts.join(merchant.country === "JP" ? "" : " "));
  const [word = "customer"] = /[a-z]{3,}/i.exec(name) ?? [];
  return { name, email: `${word.toLowerCase()}-${number}@mail.example`, phone: `+44 7700 900${100 + (number % 900)}` };
}

/**
 * A payment like an earlier sale, large enough for the given fee and refund. Does not imitate payments of stays and
 * renewals, which bookings and renewals create themselves.
 */
export function samplePayment(context: SampleContext) {
  const { given, status } = context;
  const isSale = ({ metadata }: AnyRecord) => metadata.bookingId === undefined && metadata.renewalId === undefined;
  const sales = (kind: string) => context.newest(kind).filter(isSale);
  const like = earlier({ ...context, newest: sales }, "payment", "description", "amount", "method", "currency");
  const paid = (kind: string) => sales(kind).filter((sale) => sale.status === "succeeded");
  const payer =
    given.description == null ? earlier({ ...context, newest: paid }, "payment", "method", "currency") : like;
  const { amount: usual, currency } = moneyLike(context, like, 400);
  const refund = numberOf(given.refundedAmount, 0);
  const amount = status === "refunded" && refund > 0 ? refund : Math.max(usual, 2 * refund, numberOf(given.fee, 0));
  const isRefund = status === "succeeded" && given.refundedAt != null;
  return {
    amount,
    currency,
    ...(given.refundedAt != null && { paidAt: given.refundedAt }),
    ...(isRefund && { refundedAmount: Math.ceil(numberOf(given.amount, amount) / 4) }),
    method: textOf(payer.method, "card"),
    customerId: customerOf(context)?.id ?? null,
    description: like.description ?? null,
  };
}

export function samplePayoutMethod(context: SampleContext) {
  const { merchant, newest, between, given } = context;
  const current: Partial<AnyRecord> =
    newest("payout_method").find(({ type }) => given.type == null || type === given.type) ?? {};
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
  const { given, merchant, newest, between } = context;
  const customer = customerOf(context, (given.shippingAddress as { name?: unknown } | undefined)?.name);
  const like = earlier(ofSeries(context, "marketplace_order", "number"), "marketplace_order", "channel");
  const orders = newest("marketplace_order").filter(
    ({ customerId, shippingAddress }) => customerId === customer?.id && shippingAddress !== null,
  );
  const { street, city } = ADDRESSES[String(merchant.country)] ?? { street: "Market Street", city: "Riverton" };
  const home = {
    line1: `${street} ${between("house", 1, 90)}`,
    line2: null,
    city,
    postalCode: null,
    country: merchant.country ?? "PT",
  };
  const address = (customer && (orders[0]?.shippingAddress as object | undefined)) ?? home;
  return {
    customerId: customer?.id ?? null,
    channel: textOf(like.channel, "Marketplace"),
    // The amount is calculated from the items and the shipping.
    items: given.items ?? orderItems(context),
    currency: merchant.currency ?? null,
    shippingAddress: { ...address, name: textOf(customer?.name, "Amara Okafor") },
  };
}

const ADDRESSES: Readonly<Record<string, { street: string; city: string }>> = {
  CH: { street: "Musterweg", city: "Seeheim" },
  JP: { street: "見本町", city: "星見市" },
  KE: { street: "Njia ya Mfano", city: "Bandari" },
  PT: { street: "Rua das Flores", city: "Vila Nova" },
};

/** A gift box of the given amount. Without an amount, one or two variants in stock; if none is in stock, a gift box. */
function orderItems({ given, merchant, newest, pick, between }: SampleContext) {
  const box = (unitAmount: number) => [
    { productId: null, variantId: null, sku: null, name: "Gift box", quantity: 1, unitAmount },
  ];
  if (typeof given.amount === "number") return box(Math.max(0, given.amount - numberOf(given.shippingAmount, 0)));
  const goods = newest("product_variant").filter(
    ({ status, stockQuantity }) => status === "active" && numberOf(stockQuantity, 9) >= 2,
  );
  const first = pick("item", goods);
  const second = between("items", 1, 2) === 2 ? pick("second item", goods) : undefined;
  const chosen = [first, second === first ? undefined : second].filter((variant) => variant !== undefined);
  const usual = inCurrency(25, merchant.currency);
  if (chosen.length === 0) return box(usual);
  return chosen.map((variant) => ({
    productId: variant.productId,
    variantId: variant.id,
    sku: variant.sku,
    name: textOf(variant.name, String(variant.sku)),
    quantity: between(`quantity ${variant.id}`, 1, 2),
    unitAmount: numberOf(variant.price, usual),
  }));
}

const GOODS = ["Olive oil", "Linen towel", "Clay bowl", "Wool scarf", "Herb tea"] as const;

export const sampleProduct = ({ pick }: SampleContext) => ({ name: pick("name", GOODS), description: "Made by hand" });

/** A variant of the given product, or else of any active product. Its options are new among the product's variants. */
export function sampleVariant(context: SampleContext) {
  const { given, someOf, newest, merchant, number, between } = context;
  const variantsOf = (product: AnyRecord) =>
    newest("product_variant").filter(({ productId }) => productId === product.id);
  const isNew = ({ options }: AnyRecord) => !isDeepStrictEqual(options, given.options);
  const product = someOf("product", (one) =>
    given.productId == null ? one.status === "active" && variantsOf(one).every(isNew) : one.id === given.productId,
  );
  const siblings = variantsOf(product);
  const like = siblings.toSorted((one, other) => numberOf(other.price, 0) - numberOf(one.price, 0))[0];
  const options = (given.options as Record<string, unknown> | undefined) ?? nextOptions(siblings, number);
  const [label = ""] = Object.values(options).map(String);
  return {
    productId: product.id,
    sku: `SKU-${1_000 + number}`,
    name: [textOf(product.name, "Variant"), label].filter((part) => part !== "").join(", "),
    price: numberOf(like?.price, inCurrency(between("price", 5, 60), merchant.currency)),
    currency: merchant.currency ?? null,
    stockQuantity: between("stock", 5, 50),
    options,
  };
}

/** An option value that the other variants do not have: 3 after the sizes 1 and 2, or else another colour. */
function nextOptions(siblings: readonly AnyRecord[], number: number): Record<string, unknown> {
  const all = siblings
    .map(({ options }) => Object.entries(options as Record<string, unknown>)[0])
    .filter((one) => one !== undefined);
  const [key = "size"] = all[0] ?? [];
  const sizes = all.flatMap(([, value]) => {
    const [, size, unit] = /^(\d{1,9})(\D*)$/.exec(String(value)) ?? [];
    return size === undefined ? [] : [{ size: Number(size), unit: unit as string }];
  });
  const unit = sizes[0]?.unit;
  if (all.length > 0 && unit === undefined) return { [key]: `${NEW_VALUES[number % NEW_VALUES.length]} ${number}` };
  const [largest = 0, second = 0] = sizes.map(({ size }) => size).sort((one, other) => other - one);
  return { [key]: `${largest + (largest - second || 100)}${unit ?? " g"}` };
}

const NEW_VALUES = ["Blue", "Amber", "Olive"] as const;

/** Days from today to check-in, for each status that a stay can have only from that day on. */
const BEGUN: Readonly<Record<string, number>> = { checked_in: 0, no_show: -1 };

export function sampleBooking(context: SampleContext) {
  const { given, status = "", between, day, merchant, newest, pick } = context;
  const nights = between("nights", 1, 5);
  const start = status === "checked_out" ? -nights : (BEGUN[status] ?? between("arrival", 3, 30));
  const rooms = (merchant.roomTypes as RoomType[]).filter(
    ({ id, sleeps }) => id === (given.roomTypeId ?? id) && numberOf(given.guests, 1) <= sleeps,
  );
  const { room, guest, checkIn, checkOut } = freeRoom(context, rooms, day(start), nights);
  const priced = newest("booking").filter(
    ({ nightlyRate, roomTypeId }) => numberOf(nightlyRate, 0) > 0 && roomTypeId === (given.roomTypeId ?? roomTypeId),
  );
  const like = room ? undefined : pick("room", priced);
  return {
    guestName: textOf(guest?.name, "Tiago Nunes"),
    customerId: guest?.id ?? null,
    roomTypeId: room?.id ?? textOf(like?.roomTypeId, "room_double"),
    checkIn,
    checkOut,
    guests: between("guests", 1, room?.sleeps ?? 2),
    // The price is calculated from the rate, the nights and the pricing rules.
    ...(given.amount == null && {
      nightlyRate: room?.nightlyRate ?? numberOf(like?.nightlyRate, inCurrency(90, merchant.currency)),
    }),
    currency: merchant.currency ?? null,
  };
}

/**
 * Finds a free room, and a guest without another stay in the same nights. If it does not find both and no day is given,
 * it tries later days, or earlier days for a stay that has ended, up to two months away.
 */
function freeRoom(context: SampleContext, rooms: readonly RoomType[], start: string, nights: number) {
  const { given, pick, outstanding, newest, status } = context;
  const recent = newest("booking") as readonly (AnyRecord & Nights)[];
  const others = [
    ...(outstanding("booking") as typeof recent),
    ...recent.filter((stay) => stay.status === "checked_out"),
  ];
  const named = given.customerId ?? given.guestName;
  const guests = newest("customer").filter(({ id, name }) => named == null || named === id || named === name);
  const canMove = given.checkIn == null && given.checkOut == null && !["checked_in", "no_show"].includes(status ?? "");
  const direction = status === "checked_out" ? -1 : 1;
  for (let days = 0; days < (canMove ? MOST_DAYS : 1); days++) {
    const stay = stayOf(given, addDays(start, days * direction), nights);
    const meanwhile = [...others, ...recent.filter((one) => one.status === "pending")].filter(
      ({ checkIn, checkOut }) => (checkIn ?? "9") < stay.checkOut && (checkOut ?? "") > stay.checkIn,
    );
    const isFree = ({ id }: AnyRecord) => meanwhile.every(({ customerId }) => customerId !== id);
    const guest = pick("customer", guests.filter(isFree));
    const free = rooms.filter((one) => fullNight(one, stay.checkIn, stay.checkOut, others) === undefined);
    const room = pick("room", free);
    if ((room || rooms.length === 0) && (guest || guests.length === 0)) return { ...stay, room, guest };
  }
  return { ...stayOf(given, start, nights), room: pick("room", rooms), guest: pick("customer", guests) };
}

const MOST_DAYS = 60;

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

/**
 * Renews a membership for its next period: the given membership, the membership of the given customer, or one that ends
 * soon. If there is none, a customer without a membership joins. The due date determines the period.
 */
export function sampleRenewal(context: SampleContext) {
  const { given, status = "", day, between, number, newest, pick, someOf } = context;
  const renewals = newest("membership_renewal");
  const fits = (one: AnyRecord) =>
    ["membershipId", "customerId", "plan"].every((field) => given[field] == null || given[field] === one[field]);
  const isDated = ["dueDate", "periodStart", "periodEnd", "graceUntil"].some((field) => given[field] != null);
  const named = given.membershipId ?? given.customerId;
  const candidates = () => {
    if (named != null) return memberships(renewals);
    return isDated ? [] : endingMemberships(renewals, day(0));
  };
  const last = candidates().find(fits);
  const like = last ?? earlier(context, "membership_renewal", "plan", "membershipId", "amount");
  const plan = textOf(like.plan, "yearly");
  const end = given.periodEnd;
  const start = textOf(
    given.periodStart,
    typeof end === "string" ? addMonths(addDays(end, 1), -monthsOf(given.plan ?? plan)) : "",
  );
  // A membership lapses after the days of grace, so a lapsed membership was due before those days.
  const dueIfCurrent = status === "pending" && !last ? between("due", 3, 20) : 0;
  const due = status === "lapsed" ? -GRACE_DAYS - 1 : dueIfCurrent;
  const first = typeof given.graceUntil === "string" ? addDays(given.graceUntil, -GRACE_DAYS) : day(due);
  const customers = newest("customer");
  const isFree = (customer: AnyRecord) => mayJoin(customer, renewals, day(0));
  const joining = () =>
    customers.length === 0
      ? undefined
      : (pick("new member", customers.filter(isFree)) ?? someOf("customer", isFree)).id;
  return {
    ...moneyLike(context, like, 120),
    membershipId: last?.membershipId ?? `mem_${number}`,
    customerId: given.customerId ?? (given.membershipId == null && !last ? joining() : like.customerId) ?? null,
    plan,
    autoRenew: renewsItself(last, status),
    ...(start !== "" && { periodStart: start }),
    dueDate: textOf(
      start,
      last && !isDated && status !== "lapsed" ? later(first, addDays(String(last.periodEnd), 1)) : first,
    ),
    ...(status === "lapsed" && { graceAt: context.now + due * 86_400 }),
  };
}

/** A sample in the grace period or after it does not renew automatically, because an automatic renewal has no grace. */
const renewsItself = (last: AnyRecord | undefined, status: string) =>
  last?.autoRenew === true && !["grace", "lapsed"].includes(status);

const later = (one: string, other: string) => (one > other ? one : other);

export const sampleOrganizer = ({ merchant, given }: SampleContext) => ({
  name: merchant.name ?? null,
  description: `Events of ${textOf(given.name, textOf(merchant.name, "this merchant"))}`,
  email: merchant.email ?? null,
  phone: merchant.phone ?? null,
  verified: true,
  upcomingEvents: 2,
  pastEvents: 5,
});
