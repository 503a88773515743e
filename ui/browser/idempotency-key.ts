// Makes Idempotency-Keys: random, so that no two calls of the explorer share one by accident.

export const newIdempotencyKey = () =>
  `ui-${Array.from(crypto.getRandomValues(new Uint8Array(8)), (byte) => byte.toString(16).padStart(2, "0")).join("")}`;
