// Audits a webhook receiver: in one call, or in steps between which the caller counts the receiver's effects.

import { endpointFactory } from "../areas/declare/operation.ts";
import type { Audit } from "../audit/probe-verdicts.ts";
import { VERDICTS } from "../contracts/verdict.ts";
import { PATTERNS } from "../schema/patterns.ts";
import { flag, nullable, oneOf, type Static, Type, text } from "../schema/shapes.ts";
import { spanOf } from "./given-values.ts";

export interface AuditRequest {
  url: string;
  secret: string | undefined;
  /** The type of the events (default: payment.succeeded). */
  event: string | undefined;
  /** The maximum age that the receiver allows for an event, such as 3d (default: unknown). */
  maxAge: string | undefined;
}

interface Parts {
  auditor: {
    audit(request: AuditRequest, gone: AbortSignal | undefined): Promise<Audit>;
    start(
      request: AuditRequest & { effects: number; canRestart: boolean },
      gone: AbortSignal | undefined,
    ): Promise<StartedAudit>;
    resume(id: string, effects: number, gone: AbortSignal | undefined): Promise<StartedAudit>;
  };
}

const endpoint = endpointFactory<Parts>("Verification");

const ProbeResult = Type.Object(
  {
    probe: Type.String(),
    verdict: oneOf(
      VERDICTS,
      "`inconclusive` if the receiver also refuses genuine events, or does not answer, or if its effects were not " +
        "counted, or if it accepts old events",
    ),
    sent: Type.String(),
    did: Type.String({ description: "What the receiver did" }),
    should: Type.String({ description: "What it should have done" }),
    why: Type.String(),
  },
  { title: "probe" },
);

const AuditResult = Type.Object(
  {
    url: Type.String(),
    verdict: oneOf(VERDICTS, "The worst verdict of all probes; an old event that was accepted does not count"),
    forgeryAccepted: Type.Boolean({ description: "Whether the receiver accepted an event signed without the secret" }),
    probes: Type.Array(ProbeResult),
  },
  { title: "audit_result" },
);

const audited = {
  url: text("Address of the receiver; the same addresses are allowed as for webhook endpoints"),
  secret: Type.Optional(
    text("Secret the receiver verifies with (default: the secret of the endpoint registered at this address)", {
      minLength: 1,
    }),
  ),
  event: Type.Optional(
    text("Type of the events, which are modelled on the newest event of this type (default: payment.succeeded)", {
      pattern: PATTERNS.eventType.pattern,
      maxLength: 255,
    }),
  ),
  maxAge: Type.Optional(
    text(
      "Maximum age that the receiver allows for an event, such as 3d (default: unknown, so an old event that it " +
        "accepts decides nothing)",
    ),
  ),
};

function auditRequest({ url = "", secret, event, maxAge }: Partial<AuditRequest>): AuditRequest {
  spanOf("maxAge", maxAge);
  return { url, secret, event, maxAge };
}

const refusals = [
  "invalid_state",
  "resource_not_found",
  "invalid_webhook_url",
  "webhook_url_not_local",
  "webhook_url_loopback",
] as const;

const auditReceiver = endpoint({
  id: "sandbox.audit",
  method: "POST",
  path: "/audit",
  summary: "Test a webhook receiver with genuine, repeated, malformed and forged events",
  description:
    "Sends about 220 synthetic payment events to the receiver, which takes a few seconds. " +
    "They belong to no merchant, are not logged as deliveries, and are not retried. " +
    "Their `created` is the sandbox time, or the machine's time if the receiver accepts only that. " +
    "The verdict is never `pass`, because this call does not check whether the receiver acts once on each event: " +
    "`POST /audits` does.",
  body: Type.Object(audited),
  example: { url: "http://localhost:3000/hooks" },
  reply: AuditResult,
  errors: refusals,
  handle: ({ body, auditor, gone }) => auditor.audit(auditRequest(body), gone),
});

const count = Type.Integer({ minimum: 0, description: "How often the receiver has acted so far" });

const Started = Type.Object(
  {
    id: Type.String(),
    next: nullable(
      Type.Object(
        {
          do: oneOf(
            ["count", "restart", "wait and count"],
            "`count`: read the count once the receiver has finished its work. `restart`: restart the receiver, then " +
              "read the count. `wait and count`: wait a second for late work, then read the count",
          ),
          probe: Type.String(),
          atLeast: nullable(Type.Integer({ description: "The count to wait for; null before a restart" })),
          atMost: nullable(Type.Integer({ description: "The highest count of a correct receiver" })),
        },
        { description: "What to do before the next call; null at the end" },
      ),
    ),
    result: nullable(AuditResult),
  },
  { title: "started_audit" },
);

/** An audit that waits for its caller, or its result. */
export type StartedAudit = Static<typeof Started>;

const startAudit = endpoint({
  id: "audits.start",
  method: "POST",
  path: "/audits",
  summary: "Test a webhook receiver and how often it acts",
  description:
    "Like `POST /audit`, but in steps. After each step, send the count of the receiver's effects, such as the rows " +
    "in a table, until the reply has a `result`. The command `audit --effects <command>` and `sandbox.audit({ url, " +
    "effects: () => count() })` do this for you. During the audit, nothing else may change the count.",
  body: Type.Object({
    ...audited,
    effects: count,
    canRestart: Type.Optional(flag("Whether the receiver can be restarted in between (default: false)")),
  }),
  example: { url: "http://localhost:3000/hooks", effects: 0 },
  reply: Started,
  errors: refusals,
  handle: ({ body: { effects = 0, canRestart = false, ...body }, auditor, gone }) =>
    auditor.start({ ...auditRequest(body), effects, canRestart }, gone),
});

const resumeAudit = endpoint({
  id: "audits.resume",
  method: "POST",
  path: "/audits/{id}",
  summary: "Continue an audit with the count of the receiver's effects",
  body: Type.Object({ effects: count }),
  example: { effects: 1 },
  exampleParams: { id: "aud_1" },
  reply: Started,
  errors: ["resource_not_found", "invalid_state"],
  handle: ({ params, body: { effects = 0 }, auditor, gone }) => auditor.resume(params.id, effects, gone),
});

export const operations = [auditReceiver, startAudit, resumeAudit];
