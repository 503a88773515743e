// What anybody else writes while the screen is ours: held, so that it tears nothing, and handed back when the screen is given up.

import { afterPromises } from "../../src/kernel/clock.ts";

export interface Held {
  /** From here on everybody writes as ever. Answers what was held; nothing when it was answered before. */
  release(): string;
}

/** More than this would hide what is said last. */
const MOST = 100_000;

/** Only streams that are a terminal are held: what goes to a file goes on to go there. */
export function holdOutput(streams: readonly NodeJS.WriteStream[], wrote: (text: string) => void): Held {
  let kept = "";
  let lost = 0;
  const keep = (text: string) => {
    if (kept.length + text.length > MOST) lost += text.length;
    else kept += text;
    wrote(text);
  };
  const restore = streams.filter(({ isTTY }) => isTTY).map((stream) => divert(stream, keep));
  return {
    release() {
      for (const give of restore.splice(0)) give();
      const rest = lost === 0 ? "" : `… and ${lost} characters more\n`;
      const text = kept + rest;
      kept = "";
      lost = 0;
      return text;
    },
  };
}

type Written = [chunk: string | Uint8Array, ...rest: unknown[]];

function divert(stream: NodeJS.WriteStream, keep: (text: string) => void): () => void {
  const { write } = stream;
  stream.write = ((...[chunk, ...rest]: Written) => {
    keep(typeof chunk === "string" ? chunk : Buffer.from(chunk).toString("utf8"));
    const written = rest.find((one) => typeof one === "function") as (() => void) | undefined;
    if (written) afterPromises(written);
    return true;
  }) as NodeJS.WriteStream["write"];
  return () => {
    stream.write = write;
  };
}
