// How a running sandbox speaks on a plain terminal or to a program: one line for being ready, one for each request.

import { isoTime } from "../kernel/clock.ts";
import type { Defect } from "../machine.ts";
import { version } from "../package.ts";
import type { Sandbox } from "../sandbox.ts";
import type { JournalEntry } from "../store/journal.ts";
import { visible } from "../kernel/visible.ts";

export interface Voice {
  ready(sandbox: Sandbox): void;
  request(entry: JournalEntry): void;
  defect(defect: Defect): void;
}

const out = (line: string) => process.stdout.write(`${line}\n`);

export const plainVoice: Voice = {
  ready(sandbox) {
    const keys = sandbox.merchants().map(({ apiKeys }) => apiKeys[0]);
    out(`merchant-sandbox ${version()} is ready at ${sandbox.baseUrl} with keys ${keys.join(", ")}; ${whereKept(sandbox)}`);
    if (sandbox.controlToken !== undefined)
      out(`Open to the network. The control plane at ${sandbox.url}/_sandbox asks for the token ${sandbox.controlToken}`);
  },
  request(entry) {
    const replayed = entry.replayOf === undefined ? "" : ` replays ${entry.replayOf}`;
    const search = entry.search === "" ? "" : `?${entry.search}`;
    const caller = entry.merchant ?? "-";
    out(
      visible(
        `${isoTime(entry.at)} ${entry.method} ${entry.path}${search} ${entry.status} ${entry.duration.toFixed(1)}ms ${caller} ${entry.id}${replayed}`,
      ),
    );
  },
  defect: ({ error, where }) => complain(error, where),
};

export const jsonVoice: Voice = {
  ready(sandbox) {
    const { url, baseUrl, file, controlToken } = sandbox;
    out(
      JSON.stringify({
        event: "ready",
        version: version(),
        url,
        baseUrl,
        pid: process.pid,
        database: file ?? null,
        controlToken,
        merchants: sandbox.merchants(),
      }),
    );
  },
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

function complain(error: unknown, where: string): void {
  process.stderr.write(`merchant-sandbox: a defect of its own at ${where}: ${String((error as Error)?.stack ?? error)}\n`);
}

const whereKept = (sandbox: Sandbox) => (sandbox.file === undefined ? "kept in memory" : `kept in ${sandbox.file}`);
