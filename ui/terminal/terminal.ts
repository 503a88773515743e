// The user's terminal while the dashboard has it: its size, its keys, what is painted on it, and the ways out of it.

import { write } from "node:fs";
import { afterRealTime } from "../../src/kernel/clock.ts";
import { readKeys } from "./keys.ts";
import { createPainter } from "./painter.ts";
import { createScreen } from "./screen.ts";

export interface Terminal {
  paint(frame: readonly string[]): void;
  /** Paints the next frame whole. */
  renew(): void;
  /** Hands a sequence to the terminal itself. */
  send(sequence: string): void;
  /** Gives the terminal to the shell until it hands it back. */
  suspend(): void;
  close(): void;
}

interface Hearer {
  keys(names: string[]): void;
  /** The size changed, or the terminal came back. */
  changed(): void;
}

export interface Streams {
  input: NodeJS.ReadStream;
  output: NodeJS.WriteStream & { fd: number };
}

export const sizeOf = ({ output }: Streams) => ({ columns: output.columns || 80, rows: output.rows || 24 });

/** After how long a terminal that took nothing is asked again. */
const AGAIN_AFTER = 20;

export function openTerminal({ input, output }: Streams, heard: Hearer): Terminal {
  const screen = createScreen(input, output.fd, () => painter.isWaiting());
  const painter = createPainter(
    (bytes, taken) => write(output.fd, bytes, taken),
    (retry) => void afterRealTime(AGAIN_AFTER, retry),
  );
  const data = (piece: Buffer) => heard.keys(readKeys(piece.toString("utf8")));
  const resized = () => {
    painter.renew();
    heard.changed();
  };
  const resumed = () => {
    screen.enter();
    resized();
  };
  const ways = [
    [input, "data", data],
    [output, "resize", resized],
    [process, "SIGCONT", resumed],
    [process, "exit", screen.leave],
    // A defect ends the process as ever, only on a terminal that can be read.
    [process, "uncaughtExceptionMonitor", screen.leave],
  ] as const;
  screen.enter();
  for (const [emitter, event, listener] of ways) (emitter as NodeJS.EventEmitter).on(event, listener as () => void);
  input.resume();
  const terminal: Terminal = {
    paint: painter.paint,
    renew: painter.renew,
    send: painter.send,
    suspend() {
      screen.leave();
      process.kill(process.pid, "SIGTSTP");
    },
    close() {
      for (const [emitter, event, listener] of ways) (emitter as NodeJS.EventEmitter).off(event, listener as () => void);
      input.pause();
      screen.leave();
      painter.close();
    },
  };
  return terminal;
}
