// A correct client over plain fetch. Each part of its retry behaviour can be replaced, so that a test can add one bug
// at a time.

export interface Request {
  method: string;
  path: string;
  body?: Record<string, unknown>;
}

export interface RetryBehaviour {
  /** The maximum number of attempts for one call. */
  maxAttempts: number;
  /** Milliseconds before the next attempt; `retryAfter` is the header's value in seconds. */
  pause(attempts: number, retryAfter: number | undefined): number;
  /** The Idempotency-Key of an attempt; `callKey` was created for the call. */
  keyOf(callKey: string, attempts: number): string | undefined;
  bodyOf(body: Record<string, unknown>, attempts: number): Record<string, unknown>;
}

export const correctClient: RetryBehaviour = {
  maxAttempts: 5,
  pause: (attempts, retryAfter) =>
    retryAfter === undefined
      ? 300 * 2 ** (attempts - 1) * (0.5 + Math.random())
      : retryAfter * 1_000 + Math.random() * 100,
  keyOf: (callKey) => callKey,
  bodyOf: (body) => body,
};

/**
 * Whether a retry is safe. The status is undefined if there was no response. Operations on webhook endpoints ignore
 * Idempotency-Key, so a retry could repeat the effect.
 */
const mayRetry = ({ method, path }: Request, status: number | undefined) =>
  (status === undefined || [408, 429, 500, 502, 503, 504].includes(status)) &&
  (method === "GET" || !path.startsWith("/webhooks"));

export interface Client {
  /** The status of the last response; undefined if there was none. */
  send(request: Request): Promise<number | undefined>;
}

export function createClient(baseUrl: string, apiKey: string, behaviour: RetryBehaviour = correctClient): Client {
  return {
    async send(request) {
      const callKey = crypto.randomUUID();
      for (let attempts = 1; ; attempts++) {
        const response = await attempt(baseUrl, apiKey, request, behaviour, callKey, attempts);
        if (attempts >= behaviour.maxAttempts || !mayRetry(request, response?.status)) return response?.status;
        await sleep(behaviour.pause(attempts, secondsOf(response?.headers.get("retry-after"))));
      }
    },
  };
}

async function attempt(
  baseUrl: string,
  apiKey: string,
  request: Request,
  behaviour: RetryBehaviour,
  callKey: string,
  attempts: number,
) {
  const { method, path, body } = request;
  const key = method === "GET" ? undefined : behaviour.keyOf(callKey, attempts);
  const headers: Record<string, string> = {
    authorization: `Bearer ${apiKey}`,
    ...(body ? { "content-type": "application/json" } : {}),
    ...(key === undefined ? {} : { "idempotency-key": key }),
  };
  try {
    const response = await fetch(baseUrl + path, {
      method,
      headers,
      ...(body ? { body: JSON.stringify(behaviour.bodyOf(body, attempts)) } : {}),
    });
    await response.arrayBuffer();
    return response;
  } catch {
    return undefined;
  }
}

/** Parses a Retry-After header, seconds or a date, into seconds from now. */
function secondsOf(header: string | null | undefined): number | undefined {
  if (header == null) return undefined;
  if (/^\d+$/.test(header)) return Number(header);
  const date = Date.parse(header);
  return Number.isNaN(date) ? undefined : Math.max(0, (date - Date.now()) / 1_000);
}

export const sleep = (milliseconds: number) => new Promise((resolve) => setTimeout(resolve, milliseconds));
