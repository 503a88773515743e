// `attach`: watches a sandbox that runs elsewhere, and goes on watching when it goes away and comes back.

import type { Link, Live } from "../../../ui/wire/live.ts";
import { SandboxError } from "../../kernel/errors.ts";
import type { LiveMessage } from "../../kernel/messages.ts";
import { command } from "../command.ts";
import { findPlace, placeFlags } from "../detached.ts";
import { faceFlags } from "../face.ts";
import { type Subject, show, type Telling } from "../faces.ts";
import type { Introduced, Voice } from "../voice.ts";

export const attach = command({
  summary: "watch and steer a sandbox that runs elsewhere, as if it ran here",
  usage: "attach [URL]",
  words: 1,
  flags: { ...faceFlags, ...placeFlags },
  async act({ own, positional: [url = own.url] }) {
    const place = await findPlace({ ...own, url });
    return show(subjectAt({ url: originOf(place.url), token: place.controlToken }), own);
  },
});

function originOf(url: string): string {
  if (URL.canParse(url) && /^https?:$/.test(new URL(url).protocol)) return new URL(url).origin;
  throw new SandboxError(`attach takes an address such as http://127.0.0.1:4747; received "${url}".`, "usage");
}

const subjectAt = (target: Subject["target"]): Subject => ({ target, goesOn: true, tell: (voice) => tellFrom(target, voice) });

/** What is said by the live stream, all of it. */
async function tellFrom(target: Subject["target"], voice: Voice): Promise<Telling> {
  const { openLive } = await import("../../../ui/wire/live.ts");
  const hear = hearer(voice);
  let live: Live | undefined;
  const over = new Promise<never>((_, reject) => {
    const link = (next: Link) => {
      if (next.phase === "detached") reject(new SandboxError(`${target.url} is not to be watched: ${next.why}.`));
      else hear.link(next, target.url);
    };
    live = openLive({ target, wants: "everything", from: { run: undefined, seq: undefined } }, { message: hear.message, link });
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
    link(link: Link, url: string) {
      if (link.phase === "live" && away !== undefined) voice.aside({ event: "live", url }, `${url} answers again.`);
      if (link.phase === "reconnecting" && away !== link.why)
        voice.aside({ event: "away", url, why: link.why }, `Waiting for ${url}: ${link.why}.`);
      away = link.phase === "reconnecting" ? link.why : undefined;
    },
  };
}

const missedWords = ({ from, to }: { from: number; to: number }) => `${to - from + 1} things happened that nobody can tell any more.`;
