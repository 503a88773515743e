// Captures the output that other code writes to stdout and stderr while the dashboard has the screen, so that it does
// not corrupt the display.

import { afterPromises } from "../../src/kernel/clock.ts";

const MAX_CHARACTERS = 100_000;

/** Captures only output to terminals. Output redirected to a file still goes to the file. */
export function captureOutput(streams: readonly NodeJS.WriteStream[], onOutput: (text: string) => void) {
  let captured = "";
  let dropped = 0;
  const capture = (text: string) => {
    if (captured.length + text.length > MAX_CHARACTERS) dropped += text.length;
    else captured += text;
    onOutput(text);
  };
  const restore = streams.filter(({ isTTY }) => isTTY).map((stream) => redirectWrites(stream, capture));
  return {
    /** Ends the capture. Returns the captured text; empty on further calls. */
    release(): string {
      for (const restoreStream of restore.splice(0)) restoreStream();
      const text = captured + (dropped === 0 ? "" : `… and ${dropped} more characters\n`);
      captured = "";
      dropped = 0;
      return text;
    },
  };
}

function redirectWrites(stream: NodeJS.WriteStream, capture: (text: string) => void): () => void {
  const { write } = stream;
  stream.write = ((...[chunk, ...rest]: [chunk: string | Uint8Array, ...rest: unknown[]]) => {
    capture(typeof chunk === "string" ? chunk : Buffer.from(chunk).toString("utf8"));
    const callback = rest.find((one) => typeof one === "function") as (() => void) | undefined;
    if (callback) afterPromises(callback);
    return true;
  }) as NodeJS.WriteStream["write"];
  return () => {
    stream.write = write;
  };
}
