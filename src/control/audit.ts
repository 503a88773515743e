// The audit of a webhook receiver, asked for from outside.

import { VERDICTS } from "../contracts/expectations.ts";
import { oneOf, Type, text } from "../schema/shapes.ts";
import { endpoint } from "./control-context.ts";

const Tried = Type.Object(
  {
    probe: Type.String(),
    verdict: oneOf(VERDICTS, "`inconclusive` where the receiver refuses genuine events too, or is not there"),
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
  summary: "Try a webhook receiver with everything that it may meet, forgeries among it",
  description:
    "Sends some 220 made-up payment events to the receiver, which takes a few seconds. They belong to no merchant, are not logged as deliveries and are not retried.",
  body: Type.Object({
    url: text("Where the receiver is; the same addresses are allowed as for webhook endpoints"),
    secret: Type.Optional(text("What it verifies with; that of the endpoint registered at this address unless given", { minLength: 1 })),
  }),
  example: { url: "http://localhost:3000/hooks" },
  reply: Type.Object({
    url: Type.String(),
    verdict: oneOf(VERDICTS, "The worst of all probes"),
    forgeryAccepted: Type.Boolean({ description: "Whether it took what only the holder of the secret may send, from somebody who is not" }),
    probes: Type.Array(Tried),
  }),
  errors: ["validation_failed", "resource_not_found", "invalid_webhook_url", "webhook_url_not_local"],
  handle: ({ body: { url = "", secret }, auditor }) => auditor.audit(url, secret),
});
