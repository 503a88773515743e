// Joins what proves a client, verification, report and audit, to everything that they look at. The last two are loaded when asked for.

import { catalogue, resources } from "../areas/index.ts";
import type { VerdictMessage } from "../contracts/live-messages.ts";
import type { RecordBase, Resource } from "../contracts/resource.ts";
import type { ScenarioState } from "../contracts/scenario.ts";
import type { ControlContext } from "../control/control-context.ts";
import type { Random } from "../kernel/random.ts";
import type { Receiver } from "../store/webhooks/deliveries.ts";
import { createVerifier, type Verifier } from "../verify/verifier.ts";
import { planAttempt, type Sent } from "../webhooks/attempt-recorder.ts";
import { createSender, type SenderOptions, type WebhookRequest } from "../webhooks/http/sender.ts";
import { sign } from "../webhooks/signature.ts";

interface Needs extends Pick<ControlContext, Used> {
  judge: { rules: readonly { id: string }[]; verdicts(): readonly VerdictMessage[] };
  faults: { list(): readonly { id: string; fired: number }[] };
  /** The scenarios that are armed. */
  scenarios(): readonly ScenarioState[];
  /** Hears of each request that was answered; the returned function ends that. */
  hear(happened: () => void): () => void;
  random: Random;
  /** Where and how webhooks are sent. */
  webhooks: SenderOptions & { userAgent: string };
}

type Used =
  | "about"
  | "coverage"
  | "clock"
  | "requestLog"
  | "runSummary"
  | "attempts"
  | "tenants"
  | "createOperationContext"
  | "deliveries"
  | "dispatcher";

export function openProof(needs: Needs): Pick<ControlContext, "report" | "auditor"> & { verifier: Verifier } {
  const { judge, faults, dispatcher, hear } = needs;
  const verdicts = () => judge.verdicts();
  const sources = { ...needs, verdicts };
  return {
    verifier: createVerifier({
      ...needs,
      resources,
      records: recordsOf(needs),
      operations: catalogue.map(({ id }) => id),
      judge: { rules: judge.rules.map(({ id }) => id), verdicts },
      faults: () => new Map(faults.list().map(({ id, fired }) => [id, fired])),
      listen(happened) {
        const deaf = [hear(happened), dispatcher.listen(happened)];
        return () => deaf.forEach((end) => void end());
      },
    }),
    auditor: openAuditor(needs),
    report: async (format) => (await import("../report/report.ts")).report(sources, format),
  };
}

const PAGE = 500;

const recordsOf = ({ tenants, createOperationContext, clock }: Needs) =>
  function* (merchant: string | undefined, resource: Resource): Generator<RecordBase> {
    for (const id of merchant === undefined ? tenants.list().map((tenant) => tenant.id) : [merchant]) {
      const collection = createOperationContext(id, clock.seconds(), undefined).own(resource);
      for (let after: string | undefined; ; ) {
        const { data, has_more } = collection.page({ limit: PAGE, ...(after === undefined ? {} : { starting_after: after }) });
        yield* data;
        if (!has_more) break;
        after = data.at(-1)?.id;
      }
    }
  };

function openAuditor({ clock, random, tenants, deliveries, webhooks }: Needs): ControlContext["auditor"] {
  let runs = 0;
  /** The newest of several, as whoever registers again means the new one. */
  const secretOf = (url: string) => {
    const endpoints = tenants.list().flatMap(({ id }) => deliveries.secrets(id).map(({ endpoint }) => deliveries.receiver(id, endpoint)));
    return endpoints.findLast((receiver) => receiver?.url === url)?.secret;
  };
  return {
    async audit(url, secret) {
      const { auditReceiver } = await import("../audit/audit.ts");
      const sender = createSender(webhooks);
      const needs = {
        clock,
        random,
        sign,
        secretOf,
        checkTarget: webhooks.targets.check,
        plan: (event: Sent, receiver: Receiver) => planAttempt(event, receiver, webhooks.userAgent),
        send: (request: WebhookRequest) => sender.send(request).outcome,
      };
      return auditReceiver(needs, url, secret, ++runs).finally(() => sender.close());
    },
  };
}
