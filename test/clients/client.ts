// A client that does everything right, with plain fetch. Each of its habits can be replaced, so that a test can plant one bug at a time.

export interface Request {
  method: string;
  path: string;
  body?: Record<string, unknown>;
}

export interface Habits {
  /** How often one call is sent at most. */
  mostTries: number;
  /** Whether the same call may do better a moment later; undefined stands for no answer. */
  isRetryable(status: number | undefined): boolean;
  /** Milliseconds before the next try; `retryAfter` is what the service asked for, in seconds. */
  pause(tries: number, retryAfter: number | undefined): number;
  /** The Idempotency-Key of a try; `own` was made for the call. */
  keyOf(own: string, tries: number): string | undefined;
  bodyOf(body: Record<string, unknown>, tries: number): Record<string, unknown>;
  /** Whether a write may be repeated blindly: operations that take no Idempotency-Key must be looked up first. */
  mayRepeat(request: Request): boolean;
}

export const good: Habits = {
  mostTries: 5,
  isRetryable: (status) => status === undefined || [408, 429, 500, 502, 503, 504].includes(status),
  pause: (tries, retryAfter) =>
    retryAfter === undefined ? 300 * 2 ** (tries - 1) * (0.5 + Math.random()) : retryAfter * 1_000 + Math.random() * 100,
  keyOf: (own) => own,
  bodyOf: (body) => body,
  mayRepeat: ({ method, path }) => method === "GET" || !path.startsWith("/webhooks"),
};

export interface Client {
  /** The status of the last answer; undefined when there was none. */
  send(request: Request): Promise<number | undefined>;
}

export function createClient(baseUrl: string, apiKey: string, habits: Habits = good): Client {
  return {
    async send(request) {
      const own = crypto.randomUUID();
      for (let tries = 1; ; tries++) {
        const answer = await attempt(baseUrl, apiKey, request, habits, own, tries);
        const isOver = tries >= habits.mostTries || !habits.isRetryable(answer?.status) || !habits.mayRepeat(request);
        if (isOver) return answer?.status;
        await sleep(habits.pause(tries, secondsOf(answer?.headers.get("retry-after"))));
      }
    },
  };
}

async function attempt(baseUrl: string, apiKey: string, request: Request, habits: Habits, own: string, tries: number) {
  const { method, path, body } = request;
  const key = method === "GET" ? undefined : habits.keyOf(own, tries);
  const headers: Record<string, string> = {
    authorization: `Bearer ${apiKey}`,
    ...(body ? { "content-type": "application/json" } : {}),
    ...(key === undefined ? {} : { "idempotency-key": key }),
  };
  try {
    const response = await fetch(baseUrl + path, {
      method,
      headers,
      ...(body ? { body: JSON.stringify(habits.bodyOf(body, tries)) } : {}),
    });
    await response.arrayBuffer();
    return response;
  } catch {
    return undefined;
  }
}

/** Seconds, or a date, from now. */
function secondsOf(header: string | null | undefined): number | undefined {
  if (header == null) return undefined;
  if (/^\d+$/.test(header)) return Number(header);
  const date = Date.parse(header);
  return Number.isNaN(date) ? undefined : Math.max(0, (date - Date.now()) / 1_000);
}

export const sleep = (milliseconds: number) => new Promise((resolve) => setTimeout(resolve, milliseconds));
