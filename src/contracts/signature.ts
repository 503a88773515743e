// The signature of deliveries, as the documented service sends it. A service file may change the header and the form.

export const plainSignature = {
  header: "X-Webhook-Signature",
  form: "hex digest of the body, keyed with the whole secret",
} as const;
