// Prints the output of a running sandbox: plain lines for a person, or one JSON object per line for a program.

import type { StreamPosition } from "../../../ui/connection/live-stream.ts";
import type { AppView } from "../../../ui/state/app.ts";
import type { LiveEvent } from "../../contracts/live-messages.ts";
import type { NewEndpoint } from "../../contracts/webhook.ts";
import { errorText } from "../../kernel/errors.ts";
import { mask } from "../../kernel/mask.ts";
import { PROGRAM } from "../../kernel/program-name.ts";
import { plural } from "../../kernel/text.ts";
import type { Sandbox } from "../../sandbox/create.ts";
import type { Defect } from "../../sandbox/engine.ts";
import { version } from "../../sandbox/package-files.ts";
import { userStateProblem } from "../../store/user-state.ts";
import { eventLine, eventObject } from "./event-lines.ts";
import type { LineName } from "./line-schemas.ts";
import { note, noteText, print, printSoon } from "./print.ts";

export interface Output {
  ready(facts: ReadyFacts): void;
  /** The first output about a sandbox in another process. */
  attached(summary: SandboxSummary): void;
  event(event: LiveEvent): void;
  defect(defect: Defect): void;
  /** Prints a line of the user's app, which `dev` runs. */
  app(line: string, from: "stdout" | "stderr"): void;
  /** Prints a message about the connection or the app, given as an object and as text. */
  notice(object: JsonLine, text: string): void;
}

export const plainOutput: Output = {
  ready(facts) {
    print(readyLine(facts));
    for (const { id, merchant, url, events, secret } of facts.endpoints) {
      const delivering = facts.heldEndpoints.includes(url) ? "Not yet delivering" : "Delivering";
      print(`${delivering} ${events.join(", ")} of ${merchant} to ${url} as ${id}, signed with ${secret}`);
    }
    const held = heldNote(facts);
    if (held !== undefined) print(held);
    if (facts.controlToken !== undefined)
      print(`The control API at ${facts.url}/_sandbox requires the token ${facts.controlToken}`);
  },
  attached: (summary) => print(`Watching ${describeSandbox(summary, "at")}`),
  event: (event) => printSoon(eventLine(event)),
  defect: (defect) => noteText(`merchant-sandbox: ${defectLine(defect)}`),
  app: (line) => printSoon(`app | ${line}`),
  notice: (_, text) => note(text),
};

/** A line for a program, whose fields `schema events` publishes. */
export type JsonLine = { event: LineName } & Readonly<Record<string, unknown>>;

const printObject = (object: JsonLine) => print(JSON.stringify(object));

export const jsonOutput: Output = {
  ready: (facts) => printObject({ event: "ready", ...facts }),
  attached: (summary) => printObject({ event: "attached", ...summary }),
  event: (event) => printSoon(JSON.stringify(eventObject(event))),
  defect: ({ error, where }) => printObject({ event: "defect", where, error: mask(errorText(error)) }),
  app: (line, from) => printSoon(JSON.stringify({ event: "output", from, line } satisfies JsonLine)),
  notice: printObject,
};

/** The description of a sandbox in this process or another. */
export interface SandboxSummary {
  version: string;
  baseUrl: string;
  database: string | null;
  merchants: readonly { apiKeys: readonly string[] }[];
}

/** The fields of the `ready` event, with the endpoints that the options registered. */
export async function readyFacts(sandbox: Sandbox, endpoints: readonly NewEndpoint[] = []) {
  const { url, baseUrl, file, controlToken } = sandbox;
  const { merchants, heldDeliveries, heldEndpoints, heldFaults } = await sandbox.overview();
  const registered = await Promise.all(
    endpoints.map(async ({ url: wanted, merchant }) => {
      const owner = merchants.find(({ id }) => merchant === undefined || id === merchant || id === `mer_${merchant}`);
      const { data } = await sandbox.endpoints.list(owner && { merchant: owner.id });
      return data.filter((one) => one.url === wanted);
    }),
  );
  const facts = { version: version(), url, baseUrl, pid: process.pid, database: file ?? null, controlToken };
  const held = { heldDeliveries, heldEndpoints, heldFaults };
  const problem = file !== undefined && heldEndpoints.length > 0 ? userStateProblem() : undefined;
  return {
    ...facts,
    merchants,
    endpoints: registered.flat(),
    ...held,
    ...(problem !== undefined && { stateProblem: problem }),
  };
}

type Held = Pick<ReadyFacts, "heldDeliveries" | "heldEndpoints" | "heldFaults" | "stateProblem">;

/** Says which deliveries are held, and which commands send them. Undefined if none is held. */
export function heldNote({ heldDeliveries, heldEndpoints, heldFaults, stateProblem }: Held): string | undefined {
  if (heldDeliveries + heldEndpoints.length === 0) return undefined;
  const count = plural(heldDeliveries, "delivery");
  if (heldEndpoints.length === 0)
    return `${count} of the snapshot held. None is sent until you run ${PROGRAM} replay waiting.`;
  const faults = heldFaults.length === 0 ? "" : `, with faults (${heldFaults.join(", ")})`;
  const because =
    stateProblem === undefined ? "" : ` This machine cannot recognise its own files later: ${stateProblem}.`;
  return (
    `Not written by a sandbox of this user, so nothing is sent to ${listed(heldEndpoints)} ` +
    `until you run ${PROGRAM} replay waiting, or start with --trust; ${count} held${faults}.${because}`
  );
}

/** The most addresses that a note names. Further addresses are only counted. */
const MOST_LISTED = 10;

const listed = (urls: readonly string[]) =>
  [...new Set(urls)].slice(0, MOST_LISTED).join(", ") +
  (urls.length > MOST_LISTED ? ` and ${urls.length - MOST_LISTED} more` : "");

export type ReadyFacts = Awaited<ReturnType<typeof readyFacts>>;

export const readyLine = (summary: SandboxSummary) => describeSandbox(summary, "is ready at");

function describeSandbox({ version, baseUrl, database, merchants }: SandboxSummary, is: string): string {
  const keys = merchants.map(({ apiKeys }) => apiKeys[0]);
  return `merchant-sandbox ${version} ${is} ${baseUrl} with keys ${keys.join(", ")}; kept in ${database ?? "memory"}`;
}

/** Masked, because a message may quote untrusted input. */
export const defectLine = ({ error, where }: Defect) => `failed at ${where}: ${mask(errorText(error))}`;

export interface WatchedSandbox {
  /** The address and token of the sandbox's control API. */
  target: { url: string; token: string | undefined };
  /** Whether the sandbox keeps running when the command ends. */
  keepsRunning: boolean;
  /** Called when the user quits but leaves the sandbox running: the command then starts it again in the background. */
  leave?(): void;
  /** The id of the learner whose lesson is shown, if any. */
  learner?: string;
  /** The user's app beside the sandbox, if any. */
  app?: AppView | undefined;
  /** Resolves when plain output has nothing more to show. Default: never. */
  ended?: Promise<unknown> | undefined;
  /** Rejects if the app cannot be run. */
  failed?: Promise<never> | undefined;
  /** Called when the dashboard opens. `show` shows a message on it. Returns a function to call when it closes. */
  whileDashboard?(show: (text: string) => void): () => void;
  /**
   * Prints the sandbox, and then its events. `from` is the last event that the dashboard has shown (default: only new
   * events are printed).
   */
  follow(output: Output, from?: StreamPosition): Promise<Following>;
}

export interface Following {
  /** Rejects when no more events can arrive. */
  failed: Promise<never>;
  stop(): void;
}
