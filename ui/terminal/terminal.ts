// The user's terminal while it is ours: its size, its keys, what is painted on it, and the ways out of it.

import { afterRealTime } from "../../src/kernel/clock.ts";
import { createKeyReader } from "./keys.ts";
import { openDoor } from "./nonblocking-writer.ts";
import { holdOutput } from "./output-capture.ts";
import { createPainter } from "./painter.ts";
import { createScreen } from "./screen.ts";
import { takeTurns } from "./suspend.ts";

export interface Terminal {
  paint(frame: readonly string[]): void;
  /** Paints the next frame whole. */
  renew(): void;
  /** Hands a sequence to the terminal itself. */
  send(sequence: string): void;
  /** Gives the terminal to the shell until it hands it back. */
  suspend(): void;
  /** Gives the terminal back for good; the last words stand on it then. */
  close(words?: string): void;
}

export interface Hearer {
  keys(names: string[]): void;
  /** The size changed, or the terminal came back. */
  changed(): void;
  /** The terminal is gone. */
  gone(): void;
  /** Somebody else wrote something, which is held until the screen is given back. */
  wrote(text: string): void;
}

export interface Streams {
  input: NodeJS.ReadStream;
  output: NodeJS.WriteStream & { fd: number };
}

export interface TerminalOptions extends Streams {
  /** Only the keys are wanted: what is written goes on to scroll by. */
  keysOnly?: boolean;
}

export const sizeOf = ({ output }: Streams) => ({ columns: output.columns || 80, rows: output.rows || 24 });

/** After how long a terminal that took nothing is asked again: soon at first, as most only draw breath. */
const AGAIN_AFTER = [2, 5, 10, 20, 50];
const AT_LAST = 100;

export function openTerminal({ input, output, keysOnly = false }: TerminalOptions, heard: Hearer): Terminal {
  const door = openDoor(output.fd);
  const painter = createPainter(door.write, (retry, tries) => void afterRealTime(AGAIN_AFTER[tries] ?? AT_LAST, retry));
  const held = holdOutput(keysOnly ? [] : [process.stdout, process.stderr], heard.wrote);
  const screen = createScreen({ input, write: door.writeLast, drop: painter.drop, keysOnly });
  const anew = () => {
    painter.renew();
    heard.changed();
  };
  const read = createKeyReader();
  const turns = takeTurns(input, screen, anew);
  const end = (words = "") => turns.end(held.release() + words);
  const letGo = listen([
    [input, "data", (piece: Buffer) => heard.keys(read(piece))],
    [input, "error", heard.gone],
    [input, "end", heard.gone],
    [output, "resize", anew],
    [process, "SIGCONT", turns.comeBack],
    [process, "exit", () => end()],
    // A defect ends the process as ever, only on a terminal that can be read.
    [process, "uncaughtExceptionMonitor", () => end()],
  ]);
  turns.begin();
  return {
    paint: (frame) => screen.isOurs() && painter.paint(frame),
    renew: painter.renew,
    send: (sequence) => screen.isOurs() && painter.send(sequence),
    suspend: turns.suspend,
    close(words) {
      letGo();
      end(words);
      door.close();
    },
  };
}

type Way = readonly [emitter: NodeJS.EventEmitter, event: string, listener: (...given: never[]) => void];

function listen(ways: readonly Way[]): () => void {
  for (const [emitter, event, listener] of ways) emitter.on(event, listener as () => void);
  return () => {
    for (const [emitter, event, listener] of ways) emitter.off(event, listener as () => void);
  };
}
