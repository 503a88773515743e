// How a running sandbox speaks on a plain terminal or to a program: one line for being ready, one for each request.

import { isoTime } from "../kernel/clock.ts";
import { visible } from "../kernel/visible.ts";
import type { Defect } from "../machine.ts";
import { version } from "../package.ts";
import type { Sandbox } from "../sandbox.ts";
import type { JournalEntry } from "../store/journal.ts";

export interface Voice {
  ready(sandbox: Sandbox): void;
  request(entry: JournalEntry): void;
  defect(defect: Defect): void;
}

const out = (line: string) => process.stdout.write(`${line}\n`);

export const plainVoice: Voice = {
  ready(sandbox) {
    out(readyLine(sandbox));
    if (sandbox.controlToken !== undefined)
      out(`Open to the network. The control plane at ${sandbox.url}/_sandbox asks for the token ${sandbox.controlToken}`);
  },
  request: (entry) => void out(requestLine(entry)),
  defect: (defect) => void process.stderr.write(`merchant-sandbox: ${defectLine(defect)}\n`),
};

/** What a program needs to know of a sandbox that is ready. */
export function readyFacts(sandbox: Sandbox) {
  const { url, baseUrl, file, controlToken } = sandbox;
  return { version: version(), url, baseUrl, pid: process.pid, database: file ?? null, controlToken, merchants: sandbox.merchants() };
}

export type ReadyFacts = ReturnType<typeof readyFacts>;

export function readyLine(sandbox: Sandbox): string {
  const keys = sandbox.merchants().map(({ apiKeys }) => apiKeys[0]);
  return `merchant-sandbox ${version()} is ready at ${sandbox.baseUrl} with keys ${keys.join(", ")}; ${whereKept(sandbox)}`;
}

export function requestLine(entry: JournalEntry): string {
  const replayed = entry.replayOf === undefined ? "" : ` replays ${entry.replayOf}`;
  const search = entry.search === "" ? "" : `?${entry.search}`;
  const caller = entry.merchant ?? "-";
  return visible(
    `${isoTime(entry.at)} ${entry.method} ${entry.path}${search} ${entry.status} ${entry.duration.toFixed(1)}ms ${caller} ${entry.id}${replayed}`,
  );
}

export const defectLine = ({ error, where }: Defect) => `a defect of its own at ${where}: ${String((error as Error)?.stack ?? error)}`;

export const jsonVoice: Voice = {
  ready: (sandbox) => void out(JSON.stringify({ event: "ready", ...readyFacts(sandbox) })),
  request({ id, at, method, path, search, status, duration, merchant, operation, idempotencyKey, replayOf }) {
    out(
      JSON.stringify({
        event: "request",
        id,
        at: isoTime(at),
        method,
        path,
        query: search,
        status,
        duration,
        merchant,
        operation,
        idempotencyKey,
        replayOf,
      }),
    );
  },
  defect({ error, where }) {
    out(JSON.stringify({ event: "defect", where, error: String((error as Error)?.stack ?? error) }));
  },
};

const whereKept = (sandbox: Sandbox) => (sandbox.file === undefined ? "kept in memory" : `kept in ${sandbox.file}`);
