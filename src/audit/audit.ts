// Tries a webhook receiver with everything that it may meet, and says of each what it did, what it should have done, and why.

import type { Verdict } from "../contracts/expectations.ts";
import { fail } from "../kernel/errors.ts";
import { type Probe, probes } from "./probes.ts";
import { createPacker, type PackerNeeds, type Parcel } from "./test-deliveries.ts";

export interface Audit {
  url: string;
  verdict: Verdict;
  /** Whether it took something that only the holder of the secret may send, from somebody who is not. */
  forgeryAccepted: boolean;
  probes: Tried[];
}

/** What came of one probe. */
export interface Tried {
  probe: string;
  verdict: Verdict;
  sent: string;
  did: string;
  should: string;
  why: string;
}

/** One request as it goes over the wire. */
interface Plan {
  url: string;
  headers: Record<string, string>;
  body: string;
  transport?: "slow_send";
}

interface Answer {
  /** Null when no whole answer came. */
  responseStatus: number | null;
  errorCode: string | null;
  errorMessage: string | null;
  /** Real milliseconds. */
  duration: number;
}

export interface AuditNeeds extends PackerNeeds {
  /** Refuses an address that nothing may be sent to. */
  checkTarget(url: string): void;
  /** The request that a delivery of an event would be. */
  plan(event: { eventId: string; eventType: string; body: string }, receiver: { url: string; secret: string }): Omit<Plan, "transport">;
  send(plan: Plan): Promise<Answer>;
  /** The secret of the endpoint that is registered at an address. */
  secretOf(url: string): string | undefined;
}

const SIGNATURE = "X-Webhook-Signature";
/** Real milliseconds in which a receiver should answer. */
const ACKNOWLEDGE = 5_000;

/** `run` tells the events of one audit from those of another. */
export async function auditReceiver(needs: AuditNeeds, url: string, given: string | undefined, run: number): Promise<Audit> {
  needs.checkTarget(url);
  const secret = given ?? needs.secretOf(url) ?? refuseUnknown(url);
  const packer = createPacker(needs, secret, run);
  const send = (parcel: Parcel) => needs.send(planned(needs, parcel, url, secret));
  const [genuine, ...others] = probes;
  const first = await sendAll(genuine, genuine.parcels(packer), send);
  const answers = new Map([[genuine, first]]);
  for (const probe of others) if (isWorthTrying(probe, first)) answers.set(probe, await sendAll(probe, probe.parcels(packer), send));
  const tried = probes.map((probe) => judge(probe, answers.get(probe), first));
  const worst = (["fail", "inconclusive"] as const).find((verdict) => tried.some((one) => one.verdict === verdict));
  const forgeryAccepted = probes.some((probe) => probe.isForgery && forged(probe, answers.get(probe) ?? []).some(isTaken));
  return { url, verdict: worst ?? "pass", forgeryAccepted, probes: tried };
}

function refuseUnknown(url: string): never {
  return fail("resource_not_found", `No endpoint is registered at ${url}: say with secret what its receiver verifies with.`);
}

function planned({ plan }: AuditNeeds, { signature, slow, ...event }: Parcel, url: string, secret: string): Plan {
  const { headers, ...request } = plan(event, { url, secret });
  const { [SIGNATURE]: _, ...others } = headers;
  return {
    ...request,
    headers: signature === undefined ? others : { ...others, [SIGNATURE]: signature },
    ...(slow ? { transport: "slow_send" } : {}),
  };
}

async function sendAll({ isBurst }: Probe, parcels: readonly Parcel[], send: (parcel: Parcel) => Promise<Answer>): Promise<Answer[]> {
  if (isBurst) return Promise.all(parcels.map(send));
  const answers: Answer[] = [];
  for (const parcel of parcels) answers.push(await send(parcel));
  return answers;
}

const isTaken = ({ responseStatus }: Answer) => responseStatus !== null && responseStatus >= 200 && responseStatus < 300;
const isRefused = ({ responseStatus }: Answer) => responseStatus !== null && responseStatus >= 400 && responseStatus < 500;

/** Where nothing answers, or a genuine event is refused, only a forgery that is taken can still tell something. */
const isWorthTrying = ({ isForgery }: Probe, first: readonly Answer[]) =>
  first.every(isTaken) || (isForgery === true && first.some(({ responseStatus }) => responseStatus !== null));

/** The answers to what is forged: the genuine event that one probe begins with is none of them. */
const forged = ({ id }: Probe, answers: readonly Answer[]) => (id === "body_changed" ? answers.slice(1) : answers);

function judge(probe: Probe, answers: readonly Answer[] | undefined, first: readonly Answer[]): Tried {
  const { id, sent, should, why, wanted } = probe;
  const about = { probe: id, sent, should, why };
  if (!answers) return { ...about, verdict: "inconclusive", did: "was not tried: a genuine event was not taken either" };
  const counted = wanted === "refused" ? forged(probe, answers) : answers;
  const did = describe(counted);
  if (wanted === "taken") return { ...about, verdict: verdictOnTaking(probe, counted), did };
  const isOpen = counted.some(isTaken);
  if (!isOpen && !first.every(isTaken)) return { ...about, verdict: "inconclusive", did: `${did}, as it did to a genuine event` };
  return { ...about, verdict: counted.every(isRefused) ? "pass" : "fail", did };
}

/** Only the first probe measures time: what is slow is slow everywhere, and is one mistake. */
function verdictOnTaking({ id }: Probe, answers: readonly Answer[]): Verdict {
  if (id === probes[0].id && answers.every(isUnreached)) return "inconclusive";
  if (!answers.every(isTaken)) return "fail";
  return id === probes[0].id && answers.some(({ duration }) => duration > ACKNOWLEDGE) ? "fail" : "pass";
}

/** Nobody was there, which is no mistake of a receiver. */
const isUnreached = ({ errorCode }: Answer) =>
  errorCode === "connection_refused" || errorCode === "dns" || errorCode === "target_not_allowed";

function describe(answers: readonly Answer[]): string {
  const counts = new Map<string, number>();
  for (const answer of answers) counts.set(outcomeOf(answer), (counts.get(outcomeOf(answer)) ?? 0) + 1);
  const told = [...counts].map(([outcome, count]) => (count > 1 ? `${outcome} ×${count}` : outcome)).join(", ");
  const slowest = Math.round(Math.max(...answers.map(({ duration }) => duration)));
  return `${told}, ${answers.length > 1 ? "the slowest " : ""}in ${slowest} ms`;
}

const outcomeOf = ({ responseStatus, errorMessage }: Answer) =>
  responseStatus === null ? (errorMessage ?? "no answer").replace(/\.$/, "") : `answered ${responseStatus}`;
