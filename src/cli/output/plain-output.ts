// How a running sandbox speaks in plain lines or to a program: one line for being ready, one for each thing that happens.

import type { LiveEvent } from "../../contracts/live-messages.ts";
import { escapeControlCharacters } from "../../kernel/escape-control.ts";
import type { Sandbox } from "../../sandbox/create.ts";
import type { Defect } from "../../sandbox/engine.ts";
import { version } from "../../sandbox/package-files.ts";
import { note, print } from "../command.ts";
import { factsOf, lineOf } from "./event-lines.ts";

export interface Voice {
  ready(facts: ReadyFacts): void;
  /** The first word of somebody who watches a sandbox elsewhere. */
  attached(facts: Introduced): void;
  happened(happening: LiveEvent): void;
  defect(defect: Defect): void;
  /** What is to be known of the telling itself: as an object, and in words. */
  aside(event: Record<string, unknown>, words: string): void;
}

export const plainVoice: Voice = {
  ready(facts) {
    print(readyLine(facts));
    if (facts.controlToken !== undefined) print(`The control plane at ${facts.url}/_sandbox requires the token ${facts.controlToken}`);
  },
  attached: (facts) => print(escapeControlCharacters(`Watching ${whatItIs(facts, "at")}`)),
  happened: (happening) => print(lineOf(happening)),
  defect: (defect) => note(defectLine(defect)),
  aside: (_, words) => note(escapeControlCharacters(words)),
};

const object = (facts: Record<string, unknown>) => print(JSON.stringify(facts));

export const jsonVoice: Voice = {
  ready: (facts) => object({ event: "ready", ...facts }),
  attached: (facts) => object({ event: "attached", ...facts }),
  happened: (happening) => object(factsOf(happening)),
  defect: ({ error, where }) => object({ event: "defect", where, error: String((error as Error)?.stack ?? error) }),
  aside: object,
};

/** What a sandbox says of itself, wherever it is. */
export interface Introduced {
  version: string;
  baseUrl: string;
  database: string | null;
  merchants: readonly { apiKeys: readonly string[] }[];
}

/** What a program needs to know of a sandbox that is ready. */
export async function readyFacts(sandbox: Sandbox) {
  const { url, baseUrl, file, controlToken } = sandbox;
  const { data: merchants } = await sandbox.merchants.list();
  return { version: version(), url, baseUrl, pid: process.pid, database: file ?? null, controlToken, merchants };
}

export type ReadyFacts = Awaited<ReturnType<typeof readyFacts>>;

export const readyLine = (facts: Introduced) => whatItIs(facts, "is ready at");

function whatItIs({ version, baseUrl, database, merchants }: Introduced, is: string): string {
  const keys = merchants.map(({ apiKeys }) => apiKeys[0]);
  return `merchant-sandbox ${version} ${is} ${baseUrl} with keys ${keys.join(", ")}; kept in ${database ?? "memory"}`;
}

export const defectLine = ({ error, where }: Defect) => `internal error at ${where}: ${String((error as Error)?.stack ?? error)}`;
