// The signature of deliveries, as the documented service sends it. A service file may change the header and the form.

export interface Signature {
  /** The header with the signature; null if the service sends none. */
  header: string | null;
  /** How the signature is computed, in the words of the list of facts. */
  form: string;
}

export const plainSignature = {
  header: "X-Webhook-Signature",
  form: "hex digest of the body, keyed with the whole secret",
} as const satisfies Signature;
