// Runs audits of receivers with the sender and the settings of the sandbox, and keeps audits that wait for a count.

import type { AuditDependencies, AuditStep, RunningAudit } from "../audit/audit.ts";
import type { Audit, OtherSecret } from "../audit/probe-verdicts.ts";
import type { WebhookRequest } from "../contracts/webhook.ts";
import type { AuditRequest, StartedAudit } from "../control/audits.ts";
import { fail } from "../kernel/errors.ts";
import { PROGRAM } from "../kernel/program-name.ts";
import type { ReceiverChecks } from "../report/receiver-checks.ts";
import type { Receiver } from "../store/webhooks/deliveries.ts";
import { eventWriterUnder } from "../webhooks/event-body.ts";
import { createSender } from "../webhooks/http/sender.ts";
import { buildRequest, type WebhookEvent } from "../webhooks/webhook-request.ts";
import { type Engine, senderOptions } from "./engine.ts";

/**
 * At most this many audits wait for a count. A caller may never send its count, so a new audit then replaces the oldest
 * one.
 */
const MAX_RUNNING = 20;

interface Running {
  audit: RunningAudit;
  /** Aborts the requests of the audit. */
  gone: AbortSignal | undefined;
  maxAge: string | undefined;
  isBusy: boolean;
  close(): void;
}

export function openAuditor(engine: Engine, checks: Pick<ReceiverChecks, "audited">) {
  const running = new Map<string, Running>();
  let runs = 0;
  const ended = (audit: Audit, how: Parameters<typeof checks.audited>[1]): Audit => {
    checks.audited(audit, how);
    return audit;
  };
  const proceed = async (id: string, one: Running, count: number): Promise<StartedAudit> => {
    if (one.isBusy) return fail("invalid_state", `The audit ${id} is sending: wait for the reply to its last call.`);
    one.isBusy = true;
    try {
      const { done, value } = await one.audit.next(count);
      if (!done) return { id, next: stepOf(value), result: null };
      running.delete(id);
      one.close();
      return { id, next: null, result: ended(value, { effects: true, maxAge: one.maxAge }) };
    } catch (error) {
      running.delete(id);
      one.close();
      throw error;
    } finally {
      one.isBusy = false;
    }
  };
  return {
    /** Runs the whole audit without counting effects. */
    async audit({ url, secret, event, maxAge }: AuditRequest, gone: AbortSignal | undefined) {
      const { auditWithoutEffects } = await import("../audit/audit.ts");
      const { deps, close } = await openDependencies(engine, event, () => gone);
      const result = await auditWithoutEffects(deps, { url, secret, maxAge, run: ++runs }).finally(close);
      return ended(result, { effects: false, maxAge });
    },
    /** Starts an audit that waits for the count of effects after each probe. */
    async start(request: AuditRequest & { effects: number; canRestart: boolean }, gone: AbortSignal | undefined) {
      const { url, secret, event, maxAge, effects, canRestart } = request;
      const { auditReceiver } = await import("../audit/audit.ts");
      const { deps, close } = await openDependencies(engine, event, () => one.gone);
      const run = ++runs;
      const id = `aud_${run}`;
      const input = { url, secret, maxAge, run, effects, canRestart, isEventChosen: event !== undefined };
      const one: Running = { audit: auditReceiver(deps, input), gone, maxAge, isBusy: false, close };
      running.set(id, one);
      const [oldest] = running.keys();
      if (running.size > MAX_RUNNING && oldest !== undefined) {
        running.get(oldest)?.close();
        running.delete(oldest);
      }
      return proceed(id, one, 0);
    },
    /** Continues an audit with the count of effects so far. */
    async resume(id: string, count: number, gone: AbortSignal | undefined) {
      const one = running.get(id);
      if (!one) return fail("resource_not_found", `No audit ${id} waits for a count: start one with POST /audits.`);
      one.gone = gone;
      return proceed(id, one, count);
    },
  };
}

const stepOf = (step: AuditStep): NonNullable<StartedAudit["next"]> =>
  step.do === "restart" ? { ...step, atLeast: null, atMost: null } : step;

/** Loads the audit's parts at its first run. */
async function openDependencies(engine: Engine, event: string | undefined, gone: () => AbortSignal | undefined) {
  const { clock, random, targets } = engine;
  const { likeEvent, paymentEvents } = await import("../audit/test-deliveries.ts");
  const options = senderOptions(engine);
  const sender = createSender(options);
  const deps: AuditDependencies = {
    clock,
    random,
    writeEvent: eventWriterUnder(engine.assumed),
    checkTarget: targets.check,
    template: event === undefined ? paymentEvents : likeEvent(event, newestData(engine, event)),
    // Some forms of the signature cover the id of the event.
    sign: (body: string, key: string) => options.sign(body, key, /"id"\s*:\s*"(evt_\w+)"/.exec(body)?.[1] ?? ""),
    buildRequest: (webhook: WebhookEvent, receiver: Pick<Receiver, "url" | "secret">) =>
      buildRequest(webhook, receiver, options),
    send(request: WebhookRequest) {
      gone()?.throwIfAborted();
      return sender.send(request).outcome;
    },
    /** The secret of the newest endpoint at an address: a client that registers again uses the new secret. */
    secretOf: (url: string) => endpointsOf(engine).findLast((endpoint) => endpoint.url === url)?.secret,
    otherSecrets: (url, secret) => otherSecrets(endpointsOf(engine), url, secret),
  };
  return { deps, close: () => sender.close() };
}

const endpointsOf = ({ stores: { tenants, deliveries } }: Engine) =>
  tenants.list().flatMap(({ id: merchant }) =>
    deliveries.secrets(merchant).flatMap(({ endpoint }) => {
      const receiver = deliveries.receiver(merchant, endpoint);
      return receiver ? [{ ...receiver, endpoint, merchant }] : [];
    }),
  );

/** The most secrets that an audit tries. */
const MAX_OTHERS = 20;

/**
 * Wrong secrets that receivers use by mistake: a part of the right one, the one before a rotation, or another
 * endpoint's.
 */
function otherSecrets(endpoints: ReturnType<typeof endpointsOf>, url: string, secret: string): OtherSecret[] {
  const own = endpoints.filter((endpoint) => endpoint.url === url);
  const bare = secret.replace(/^whsec_/, "");
  return [
    ...(bare === secret ? [] : [{ secret: bare, what: "the secret without its whsec_" }]),
    { secret: `${secret}\n`, what: "the secret and the line break after it" },
    { secret: `"${secret}"`, what: "the secret and the quotes around it" },
    ...own.flatMap(({ endpoint, previousSecret }) =>
      previousSecret ? [{ secret: previousSecret, what: `the secret of ${endpoint} before its last rotation` }] : [],
    ),
    ...endpoints.map(({ endpoint, merchant, secret: other }) => ({
      secret: other,
      what: `the secret of the endpoint ${endpoint} of ${merchant}`,
    })),
  ]
    .filter((other) => other.secret !== secret)
    .slice(0, MAX_OTHERS);
}

/** The data of the newest event of a type, which the audit copies into its events. */
function newestData({ stores }: Engine, type: string): Record<string, unknown> {
  const [newest] = stores.eventLog.page({ type, limit: 1 }).data;
  if (!newest)
    return fail(
      "resource_not_found",
      `The audit copies the newest ${type} event, and there is none yet: cause one first, as with ` +
        `${PROGRAM} trigger ${type}.`,
    );
  const { data } = JSON.parse(newest.body) as { data: Record<string, unknown> };
  return data;
}
