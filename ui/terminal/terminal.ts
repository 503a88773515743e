// The user's terminal while the dashboard uses it: size, keys, painting, suspending and restoring.

import { afterRealTime } from "../../src/kernel/clock.ts";
import { openNonblockingWriter } from "./nonblocking-writer.ts";
import { captureOutput } from "./output-capture.ts";
import { createPainter } from "./painter.ts";
import { createKeyReader, reportOf } from "./read-keys.ts";
import { createScreen, createSuspension } from "./screen.ts";

export type Terminal = ReturnType<typeof openTerminal>;

export interface TerminalHandlers {
  onKeys(keys: string[]): void;
  /** The terminal reported a value that was queried, such as its background. Default: ignored. */
  onReport?(report: string): void;
  /** The size changed, or the process came back from being suspended. */
  onResize(): void;
  onHangup(): void;
  /** Something else wrote to stdout or stderr. The text is captured, and written when the terminal is restored. */
  onOutput(text: string): void;
}

export interface TerminalStreams {
  input: NodeJS.ReadStream;
  output: NodeJS.WriteStream & { fd: number };
}

export const sizeOf = ({ output }: TerminalStreams) => ({ columns: output.columns || 80, rows: output.rows || 24 });

/** Delays before writing again to a terminal that accepted nothing: short at first, because most pauses are short. */
const RETRY_DELAYS_MS = [2, 5, 10, 20, 50];
const MAX_RETRY_DELAY_MS = 100;

/** With `keysOnly`, reads keys without taking over the screen: output scrolls as usual. */
export function openTerminal(
  { input, output, keysOnly = false }: TerminalStreams & { keysOnly?: boolean },
  handlers: TerminalHandlers,
) {
  const writer = openNonblockingWriter(output.fd);
  const painter = createPainter(
    writer.write,
    (retry, tries) => void afterRealTime(RETRY_DELAYS_MS[tries] ?? MAX_RETRY_DELAY_MS, retry),
  );
  const capture = captureOutput(keysOnly ? [] : [process.stdout, process.stderr], handlers.onOutput);
  const screen = createScreen({ input, write: writer.writeAll, discard: painter.discard, keysOnly });
  const redraw = () => {
    painter.invalidate();
    handlers.onResize();
  };
  const readKeys = createKeyReader();
  const onData = (chunk: Buffer) => {
    const read = readKeys(chunk);
    for (const report of read.flatMap((key) => reportOf(key) ?? [])) handlers.onReport?.(report);
    const keys = read.filter((key) => reportOf(key) === undefined);
    if (keys.length > 0) handlers.onKeys(keys);
  };
  const suspension = createSuspension(input, screen, redraw);
  const restore = (message = "") => suspension.release(capture.release() + message);
  const removeListeners = addListeners([
    [input, "data", onData],
    [input, "error", handlers.onHangup],
    [input, "end", handlers.onHangup],
    [output, "resize", redraw],
    [process, "SIGCONT", suspension.resume],
    [process, "exit", () => restore()],
    // The monitor event restores the terminal and leaves the crash itself to Node.
    [process, "uncaughtExceptionMonitor", () => restore()],
  ]);
  suspension.take();
  return {
    paint: (frame: readonly string[]) => screen.isActive() && painter.paint(frame),
    /** Paints the next frame whole instead of its changed lines. */
    repaint: painter.invalidate,
    send: (sequence: string) => screen.isActive() && painter.send(sequence),
    /** Stops the process and gives the terminal to the shell, as Ctrl-Z does. */
    suspend: suspension.suspend,
    /** Restores the terminal, then writes `message` to it. */
    close(message?: string): void {
      removeListeners();
      restore(message);
      writer.close();
    },
  };
}

type AttachedListener = readonly [emitter: NodeJS.EventEmitter, event: string, listener: (...given: never[]) => void];

function addListeners(listeners: readonly AttachedListener[]): () => void {
  for (const [emitter, event, listener] of listeners) emitter.on(event, listener as () => void);
  return () => {
    for (const [emitter, event, listener] of listeners) emitter.off(event, listener as () => void);
  };
}
