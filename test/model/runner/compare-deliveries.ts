// Compares the delivery log, and the webhooks received, with the attempts of the model.

import { createHmac } from "node:crypto";
import { receiverOf } from "../deliveries.ts";
import { loggedAttempt } from "../webhooks.ts";
import { type Attempt, loggedMerchants, type World } from "../world.ts";
import { diff, format } from "./compare-responses.ts";
import type { Arrival } from "./webhook-receivers.ts";

type Row = Record<string, unknown>;

/**
 * Attempts at the same moment may start in any order, so each attempt is searched for in the log. Its row gives the
 * attempt its id, and the delivery its number.
 */
export function diffDeliveryLog(made: readonly Attempt[], rows: readonly Row[], world: World): string[] {
  const fresh = rows.slice(0, made.length).reverse();
  const known = loggedMerchants(world);
  const numbers = new Set(known.flatMap(({ deliveries }) => deliveries.map(({ number }) => number)));
  // Duplicates look the same in the log. The earlier delivery gets the earlier row.
  for (const attempt of made) {
    const differences = (row: Row) => [
      ...diff(loggedAttempt({ ...attempt, id: row.id as string }), modelled(row), "the log"),
      ...(attempt.delivery.number === undefined && numbers.has(row.delivery as number)
        ? [`the log/delivery: must be a new number, is ${row.delivery}`]
        : []),
    ];
    const place = fresh.findIndex((row) => differences(row).length === 0);
    if (place === -1) {
      const near = fresh.find(
        ({ eventId, endpointId }) => eventId === attempt.delivery.event.id && endpointId === attempt.delivery.endpoint,
      );
      return near
        ? differences(near)
        : [`the log must have ${format(loggedAttempt(attempt))}, but its new rows are ${format(fresh)}`];
    }
    const [row] = fresh.splice(place, 1);
    attempt.id = String(row?.id);
    attempt.delivery.number = Number(row?.delivery);
    numbers.add(attempt.delivery.number);
  }
  const before = rows[made.length];
  const isKnown = known.some(({ attempts }) => attempts.some(({ id }) => id === before?.id));
  return before === undefined || isKnown ? diffSequence(rows) : [`the log must not have ${format(before)}`];
}

/** The newest attempt comes first and has the highest number. */
function diffSequence(rows: readonly Row[]): string[] {
  const wrong = rows.find(
    ({ sequence }, place) => Number(sequence) >= Number(rows[place - 1]?.sequence ?? Number.POSITIVE_INFINITY),
  );
  return wrong ? [`the log/sequence: must fall from row to row, but ${wrong.id} has ${wrong.sequence}`] : [];
}

/** The row with only the fields that the model predicts. */
const modelled = ({ fault: _, summary: __, ...row }: Row): Row => row;

/** Checks that every attempt arrived exactly once with the right body and signature, and that nothing else arrived. */
export function diffArrivals(made: readonly Attempt[], arrivals: Arrival[]): string[] {
  const reached = made.filter(({ url, decided }) => !decided.drop && receiverOf(url) !== "closed");
  // Endpoints may share an address. An attempt with a wrong secret matches any wrong signature, so it is matched last.
  const isStrange = ({ decided }: Attempt) => decided.signature === "wrong_secret";
  const sent = [...reached.filter((attempt) => !isStrange(attempt)), ...reached.filter(isStrange)];
  for (const attempt of sent) {
    const path = new URL(attempt.url).pathname;
    const { event } = attempt.delivery;
    const there = arrivals.filter((arrival) => arrival.path === path && arrival.headers["x-webhook-id"] === event.id);
    const genuine = there.find((arrival) => diffArrival(attempt, arrival).length === 0);
    if (there[0] === undefined) return [`${event.id} (${event.type}) did not arrive at ${path}`];
    if (genuine === undefined) return diffArrival(attempt, there[0]);
    arrivals.splice(arrivals.indexOf(genuine), 1);
  }
  return arrivals.length === 0 ? [] : [`unexpected webhooks arrived: ${format(arrivals)}`];
}

function diffArrival({ delivery: { event }, decided, secret }: Attempt, { path, headers, text }: Arrival): string[] {
  const { id, type, created, merchant, data } = event;
  const usual = { id, object: "event", type, created, livemode: false, merchantId: merchant, data };
  const body = decided.extraField ? { ...usual, addedLater: { by: "a later version" } } : usual;
  const signature = headers["x-webhook-signature"];
  const genuine = secret === undefined ? signature : createHmac("sha256", secret).update(text).digest("hex");
  let isRight = signature !== genuine && signature !== undefined;
  if (decided.signature === undefined) isRight = signature === genuine;
  if (decided.signature === "missing") isRight = signature === undefined;
  return [
    ...diff(body, JSON.parse(text), `the body at ${path}`),
    ...diff(
      [type, "application/json"],
      [headers["x-webhook-event"], headers["content-type"]],
      `the headers at ${path}`,
    ),
    ...(isRight ? [] : [`the signature at ${path} must be ${decided.signature ?? genuine}, is ${signature}`]),
  ];
}
