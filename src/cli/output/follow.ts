// Tells in lines what the live stream of a sandbox says, of this process or of another.

import type { Connection, LiveStream, StreamPosition } from "../../../ui/wire/live.ts";
import type { LiveMessage } from "../../contracts/live-messages.ts";
import { SandboxError } from "../../kernel/errors.ts";
import type { Introduced, Voice } from "./plain-output.ts";
import type { Subject, Telling } from "./watched-sandbox.ts";

const FROM_NOW: StreamPosition = { run: undefined, seq: undefined };

export async function tellFrom(target: Subject["target"], voice: Voice, from = FROM_NOW): Promise<Telling> {
  const { openLive } = await import("../../../ui/wire/live.ts");
  const hear = hearer(voice);
  let live: LiveStream | undefined;
  const over = new Promise<never>((_, reject) => {
    const connection = (next: Connection) => {
      if (next.phase === "detached") reject(new SandboxError(`${target.url} is not to be watched: ${next.reason}.`));
      else hear.link(next, target.url);
    };
    live = openLive({ target, mode: "everything", from }, { message: hear.message, connection });
  });
  return { over, end: () => live?.close() };
}

/** Says each thing once, however often the way to the sandbox is lost. */
function hearer(voice: Voice) {
  let run: string | undefined;
  let away: string | undefined;
  return {
    message(message: LiveMessage) {
      if (message.type === "batch") for (const { seq, ...happening } of message.items) voice.happened(happening);
      if (message.type === "gap") voice.aside({ event: "missed", from: message.from, to: message.to }, missedWords(message));
      if (message.type !== "snapshot") return;
      if (run !== undefined && run !== message.run) voice.aside({ event: "anew" }, "The sandbox was started anew.");
      if (run !== message.run) voice.attached(message.sandbox as Introduced);
      run = message.run;
    },
    link(link: Connection, url: string) {
      if (link.phase === "live" && away !== undefined) voice.aside({ event: "live", url }, `${url} answers again.`);
      if (link.phase === "reconnecting" && away !== link.reason)
        voice.aside({ event: "away", url, why: link.reason }, `Waiting for ${url}: ${link.reason}.`);
      away = link.phase === "reconnecting" ? link.reason : undefined;
    },
  };
}

const missedWords = ({ from, to }: { from: number; to: number }) => `${to - from + 1} things happened that nobody can tell any more.`;
