// The audit of a webhook receiver.

import { VERDICTS } from "../contracts/verdict.ts";
import { oneOf, Type, text } from "../schema/shapes.ts";
import { endpoint } from "./control-context.ts";

const ProbeResult = Type.Object(
  {
    probe: Type.String(),
    verdict: oneOf(VERDICTS, "`inconclusive` if the receiver also refuses genuine events, or does not answer"),
    sent: Type.String(),
    did: Type.String({ description: "What the receiver did" }),
    should: Type.String({ description: "What it should have done" }),
    why: Type.String(),
  },
  { title: "probe" },
);

export const auditReceiver = endpoint({
  id: "sandbox.audit",
  area: "Verification",
  method: "POST",
  path: "/audit",
  summary: "Test a webhook receiver with genuine, repeated, malformed and forged events",
  description:
    "Sends about 220 synthetic payment events to the receiver, which takes a few seconds. They belong to no merchant, are not logged as deliveries, and are not retried. Their `created` is the sandbox time, or the machine's if the receiver accepts only that.",
  body: Type.Object({
    url: text("Address of the receiver; the same addresses are allowed as for webhook endpoints"),
    secret: Type.Optional(
      text("Secret the receiver verifies with (default: that of the endpoint registered at this address)", { minLength: 1 }),
    ),
  }),
  example: { url: "http://localhost:3000/hooks" },
  reply: Type.Object({
    url: Type.String(),
    verdict: oneOf(VERDICTS, "The worst verdict of all probes"),
    forgeryAccepted: Type.Boolean({ description: "Whether the receiver accepted an event signed without the secret" }),
    probes: Type.Array(ProbeResult),
  }),
  errors: [
    "validation_failed",
    "invalid_state",
    "resource_not_found",
    "invalid_webhook_url",
    "webhook_url_not_local",
    "webhook_url_loopback",
  ],
  handle: ({ body: { url = "", secret }, auditor }) => auditor.audit(url, secret),
});
