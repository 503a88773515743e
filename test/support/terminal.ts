// The built program in a pseudo-terminal: tests send keys and read the screen as text and as cells.

import { type IPty, spawn } from "@lydell/node-pty";
import xterm from "@xterm/headless";
import { afterEachTest } from "./cleanup.ts";
import { folder, oneWordProgram, ownEnvironment, PROGRAM } from "./program.ts";

export interface Size {
  columns: number;
  rows: number;
}

export type TestTerminal = ReturnType<typeof open>;

export const WIDE: Size = { columns: 120, rows: 36 };
export const USUAL: Size = { columns: 80, rows: 24 };
export const LEAST: Size = { columns: 60, rows: 15 };

const IN_A_FRAME = 2026;
const PATIENCE = 60_000;
const opened: IPty[] = [];

afterEachTest.push(() => {
  for (const { pid } of opened.splice(0)) {
    try {
      process.kill(-pid, "SIGKILL");
    } catch {
      // The process has already exited.
    }
  }
});

interface Opening {
  size?: Size;
  variables?: Record<string, string | undefined>;
}

/** Variables that affect output. The program does not get them from the developer's environment. */
const SILENT = [
  "CI",
  "NO_COLOR",
  "FORCE_COLOR",
  "COLORTERM",
  "TMUX",
  "INK_SCREEN_READER",
  "LC_ALL",
  "LC_CTYPE",
  "NODE_OPTIONS",
];

export const openProgram = (words: string[], opening?: Opening) => open(process.execPath, [PROGRAM, ...words], opening);

/** An interactive shell in which `$program` starts the program. */
export const openShell = (opening: Opening = {}) =>
  open("sh", ["-i"], {
    ...opening,
    variables: { PS1: "$ ", ENV: "", program: oneWordProgram(), ...opening.variables },
  });

/** An in-memory sandbox with its dashboard, once it is live. */
export async function openDashboard(words: string[] = [], opening?: Opening): Promise<TestTerminal & { url: string }> {
  const terminal = openProgram(["start", "--memory", "--port", "0", ...words], opening);
  const text = await terminal.shows(/LIVE/);
  return { ...terminal, url: /http:\/\/127\.0\.0\.1:\d+/.exec(text)?.[0] ?? "" };
}

export function open(file: string, words: string[], { size = WIDE, variables = {} }: Opening = {}) {
  const inherited = Object.entries(ownEnvironment()).filter(([name]) => !SILENT.includes(name));
  const env = { ...Object.fromEntries(inherited), LANG: "C.UTF-8", TERM: "xterm-256color", ...variables };
  const child = spawn(file, words, { name: env.TERM, cols: size.columns, rows: size.rows, cwd: folder(), env });
  opened.push(child);
  const screen = new xterm.Terminal({ cols: size.columns, rows: size.rows, allowProposedApi: true, scrollback: 0 });
  const modes = watchModes(screen);
  const titles: string[] = [];
  screen.onTitleChange((title) => titles.push(title));
  const changed = new Set<() => void>();
  // The screen parses its input later and in order, so an empty write completes after all output of the program.
  const ended = new Promise<{ code: number; signal: number }>((resolve) =>
    child.onExit(({ exitCode, signal }) => screen.write("", () => resolve({ code: exitCode, signal: signal ?? 0 }))),
  );
  let bytes = "";
  child.onData((piece) => {
    bytes += piece;
    screen.write(piece, () => {
      // Ignore partial frames.
      if (!modes.has(IN_A_FRAME)) for (const look of changed) look();
    });
  });
  const lines = () => Array.from({ length: screen.rows }, (_, row) => line(screen, row)?.translateToString(true) ?? "");
  const text = () => lines().join("\n");
  return {
    pid: child.pid,
    /** The DEC private modes that are set. */
    modes: modes as ReadonlySet<number>,
    /** Window titles that were set. */
    titles: titles as readonly string[],
    /** All output, including escape sequences. */
    bytes: () => bytes,
    type: (keys: string) => child.write(keys),
    resize(next: Size) {
      screen.resize(next.columns, next.rows);
      child.resize(next.columns, next.rows);
    },
    lines,
    text,
    /** The text and style of each cell. Two screens that look the same have equal cells. */
    cells: () => Array.from({ length: screen.rows }, (_, row) => lookOf(screen, row)),
    /** Resolves with the screen once it contains a text. */
    shows: (wanted: Wanted) => until({ changed, ended, text }, wanted),
    /** Stops reading, like a stuck connection. */
    freeze: () => child.pause(),
    thaw: () => child.resume(),
    /** Closes the terminal, as when a user closes the window. */
    hangUp: () => (child as IPty & { destroy(): void }).destroy(),
    ended,
  };
}

type Wanted = string | RegExp | ((text: string) => boolean);

function fitting(wanted: Wanted): (text: string) => boolean {
  if (typeof wanted === "string") return (text) => text.includes(wanted);
  return typeof wanted === "function" ? wanted : (text) => wanted.test(text);
}

interface Watched {
  changed: Set<() => void>;
  ended: Promise<unknown>;
  text(): string;
}

function until({ changed, ended, text }: Watched, wanted: Wanted): Promise<string> {
  const fits = fitting(wanted);
  return new Promise((resolve, reject) => {
    const end = (act: () => void) => {
      changed.delete(look);
      clearTimeout(patience);
      act();
    };
    const look = () => fits(text()) && end(() => resolve(text()));
    const giveUp = (why: string) =>
      end(() => reject(new Error(`The screen never showed ${wanted}: ${why}. It shows:\n${text()}`)));
    const patience = setTimeout(() => giveUp("the wait timed out"), PATIENCE);
    changed.add(look);
    look();
    void ended.then(() => giveUp("the program has ended"));
  });
}

function watchModes({ parser }: xterm.Terminal): Set<number> {
  // Line wrap and the cursor are on by default.
  const modes = new Set([7, 25]);
  const numbers = (given: (number | number[])[]) => given.flat();
  parser.registerCsiHandler({ prefix: "?", final: "h" }, (given) => {
    for (const mode of numbers(given)) modes.add(mode);
    return false;
  });
  parser.registerCsiHandler({ prefix: "?", final: "l" }, (given) => {
    for (const mode of numbers(given)) modes.delete(mode);
    return false;
  });
  return modes;
}

const line = ({ buffer }: xterm.Terminal, row: number) => buffer.active.getLine(buffer.active.baseY + row);

function lookOf(screen: xterm.Terminal, row: number): string {
  const found = line(screen, row);
  return Array.from({ length: screen.cols }, (_, column) => {
    const cell = found?.getCell(column);
    if (!cell) return "";
    const look = [cell.getFgColor(), cell.getBgColor(), cell.isBold(), cell.isDim(), cell.isInverse()].join(",");
    return `${cell.getChars() || " "}${look === "-1,-1,0,0,0" ? "" : `{${look}}`}`;
  }).join("");
}
