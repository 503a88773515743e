// The shop's client of the merchant service. It waits for Retry-After, and retries a lost response with the same
// Idempotency-Key.

import { randomUUID } from "node:crypto";

export interface Account {
  baseUrl: string;
  apiKey: string;
}

const MOST_TRIES = 4;

const wait = (seconds: number) => new Promise((resolve) => setTimeout(resolve, seconds * 1_000));

export function createClient({ baseUrl, apiKey }: Account) {
  async function call<T>(method: string, path: string, body?: object): Promise<T> {
    const headers = {
      Authorization: `Bearer ${apiKey}`,
      ...(body === undefined ? {} : { "Content-Type": "application/json", "Idempotency-Key": randomUUID() }),
    };
    for (let tries = 1; ; tries++) {
      const last = tries === MOST_TRIES;
      const sent = fetch(baseUrl + path, { method, headers, ...(body && { body: JSON.stringify(body) }) });
      const answer = await sent.catch((error: unknown) => {
        if (last) throw error;
      });
      if (answer?.ok) return (await answer.json()) as T;
      if (answer && (last || ![429, 503].includes(answer.status)))
        throw new Error(`${method} ${path}: ${await answer.text()}`);
      await wait(Number(answer?.headers.get("retry-after") ?? 0));
    }
  }
  return {
    get: <T>(path: string) => call<T>("GET", path),
    post: <T>(path: string, body: object) => call<T>("POST", path, body),
  };
}
