// The signature of deliveries as the documented service sends it. A service file may change both.

export interface Signature {
  /** The header that carries it; null if none does. */
  header: string | null;
  /** How it is computed, as the list of facts says it. */
  form: string;
}

export const plainSignature = {
  header: "X-Webhook-Signature",
  form: "hex digest of the body, keyed with the whole secret",
} as const satisfies Signature;
