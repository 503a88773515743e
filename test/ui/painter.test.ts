// Writing to the terminal: the painter, the screen, the non-blocking writer, and captured output.

import { closeSync, openSync, readFileSync } from "node:fs";
import { join } from "node:path";
import xterm from "@xterm/headless";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { openNonblockingWriter } from "../../ui/terminal/nonblocking-writer.ts";
import { captureOutput } from "../../ui/terminal/output-capture.ts";
import { createPainter, difference, type TerminalWrite } from "../../ui/terminal/painter.ts";
import { createScreen } from "../../ui/terminal/screen.ts";
import { folder } from "../support/program.ts";

type Taken = Parameters<TerminalWrite>[1];

/** A terminal that accepts everything, a given number of bytes, or nothing until `release` is called. */
function fakeTerminal() {
  let room = Infinity;
  let held: (() => void) | undefined;
  let retry: (() => void) | undefined;
  const tries: number[] = [];
  let text = "";
  const take = (bytes: Buffer, taken: Taken) => {
    const count = Math.min(room, bytes.length);
    if (count === 0) return taken(Object.assign(new Error("full"), { code: "EAGAIN" }), 0);
    room -= count;
    text += bytes.subarray(0, count).toString("latin1");
    taken(null, count);
  };
  let slow = false;
  const write: TerminalWrite = (bytes, taken) => {
    if (slow) held = () => take(bytes, taken);
    else take(bytes, taken);
  };
  const painter = createPainter(write, (ask, tried) => {
    retry = ask;
    tries.push(tried);
  });
  return {
    painter,
    text: () => text,
    tries,
    /** Accepts this many more bytes. */
    give(bytes: number) {
      room = bytes;
    },
    askAgain() {
      const ask = retry;
      retry = undefined;
      ask?.();
    },
    isAsking: () => retry !== undefined,
    /** From now on, accepts a write only when `release` is called. */
    slowDown() {
      slow = true;
    },
    release() {
      const now = held;
      held = undefined;
      now?.();
    },
  };
}

/** The lines that a terminal emulator shows after these bytes. */
async function screenAfter(bytes: string, size = { cols: 20, rows: 5 }): Promise<string[]> {
  const screen = new xterm.Terminal({ ...size, allowProposedApi: true, scrollback: 0 });
  await new Promise<void>((resolve) => screen.write(bytes, resolve));
  return Array.from(
    { length: size.rows },
    (_, row) => screen.buffer.active.getLine(row)?.translateToString(true) ?? "",
  );
}

describe("the difference between two frames", () => {
  test("is empty without changes, and writes one line for one changed line", () => {
    expect(difference(["a", "b"], ["a", "b"])).toBe("");
    expect(difference(["a", "b"], ["a", "c"])).toBe("\x1b[2;1H\x1b[0m\x1b[2Kc");
  });

  test("turns any frame into any other, whatever their heights", async () => {
    const frame = fc.array(fc.string({ maxLength: 20, unit: fc.constantFrom("a", "b", " ", "│", "✓") }), {
      maxLength: 5,
    });
    const property = fc.asyncProperty(frame, frame, async (from, to) => {
      const shown = await screenAfter(`\x1b[?7l${difference(undefined, from)}${difference(from, to)}`);
      expect(shown.map((line) => line.trimEnd())).toEqual(
        Array.from({ length: 5 }, (_, row) => (to[row] ?? "").trimEnd()),
      );
    });
    await fc.assert(property, { numRuns: 60 });
  });
});

describe("the painter", () => {
  test("writes each frame as one synchronized update", () => {
    const { painter, text } = fakeTerminal();
    painter.paint(["a"]);
    expect(text()).toBe("\x1b[?2026h\x1b[2J\x1b[1;1H\x1b[0m\x1b[2Ka\x1b[?2026l");
  });

  test("has one write pending at a time, then paints the newest frame and skips the others", async () => {
    const { painter, text, slowDown, release } = fakeTerminal();
    slowDown();
    for (const line of ["one", "two", "three", "four"]) painter.paint([line]);
    expect(text()).toBe("");
    release();
    expect(text()).toContain("one");
    release();
    expect(text()).toContain("four");
    expect(text()).not.toMatch(/two|three/);
    expect((await screenAfter(text()))[0]).toBe("four");
  });

  test("continues after a partial write", () => {
    const whole = fakeTerminal();
    whole.painter.paint(["one", "zwölf"]);
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 0, max: 20 }), { minLength: 1, maxLength: 40 }), (pieces) => {
        const { painter, text, give, askAgain } = fakeTerminal();
        give(0);
        painter.paint(["one", "zwölf"]);
        for (const piece of [...pieces, 1_000]) {
          give(piece);
          askAgain();
        }
        expect(text()).toBe(whole.text());
      }),
    );
  });

  test("retries while the terminal accepts nothing, and counts the tries", () => {
    const { painter, text, give, askAgain, tries } = fakeTerminal();
    give(0);
    painter.paint(["a"]);
    for (let count = 0; count < 4; count++) askAgain();
    expect(tries).toEqual([0, 1, 2, 3, 4]);
    give(10);
    askAgain();
    // The terminal has accepted some bytes, so the count of tries starts again.
    expect(tries.at(-1)).toBe(0);
    give(1_000);
    askAgain();
    expect(text()).toContain("a\x1b[?2026l");
  });

  test("stops writing to a terminal that is gone", () => {
    const errors: string[] = [];
    const painter = createPainter(
      (_, taken) => {
        errors.push("EIO");
        taken(Object.assign(new Error("gone"), { code: "EIO" }), 0);
      },
      () => errors.push("again"),
    );
    painter.paint(["a"]);
    painter.paint(["b"]);
    expect(errors).toEqual(["EIO"]);
  });

  test("paints the whole frame after invalidate", () => {
    const { painter, text } = fakeTerminal();
    painter.paint(["a", "b"]);
    const before = text().length;
    painter.invalidate();
    painter.paint(["a", "b"]);
    expect(text().slice(before)).toContain("\x1b[2J");
  });

  test("sends a sequence after the pending write and before the next frame", () => {
    const { painter, text, slowDown, release } = fakeTerminal();
    slowDown();
    painter.paint(["a"]);
    painter.send("SEQUENCE");
    painter.paint(["b"]);
    release();
    release();
    expect(text()).toContain("a\x1b[?2026lSEQUENCE\x1b[?2026h");
    expect(text()).toMatch(/b.{8}$/);
  });

  test("discards unwritten bytes, and says whether a write was cut off", () => {
    const { painter, text, give, askAgain, isAsking } = fakeTerminal();
    expect(painter.discard()).toBe(false);
    give(5);
    painter.paint(["a"]);
    expect(painter.discard()).toBe(true);
    give(1_000);
    const before = text();
    if (isAsking()) askAgain();
    expect(text()).toBe(before);
    painter.paint(["a"]);
    expect(text().slice(before.length)).toContain("\x1b[2J");
  });
});

describe("the screen", () => {
  function fakeScreen(keysOnly = false, cutOff = false) {
    const done: string[] = [];
    const input = {
      setRawMode(raw: boolean) {
        done.push(`raw ${raw}`);
        return input as unknown as NodeJS.ReadStream;
      },
    };
    return {
      done,
      screen: createScreen({ input, write: (text) => void done.push(text), discard: () => cutOff, keysOnly }),
    };
  }

  test("is restored once", () => {
    const { done, screen } = fakeScreen();
    screen.leave();
    expect(done).toEqual([]);
    screen.enter();
    expect(screen.isActive()).toBe(true);
    screen.leave("last words");
    screen.leave("more");
    expect(screen.isActive()).toBe(false);
    expect(done).toEqual([
      "raw false",
      "raw true",
      "\x1b[?2004h\x1b[?1049h\x1b[?25l\x1b[?7l",
      // Raw mode ends before the text is printed, because keys typed in reply belong to the shell.
      "raw false",
      "\x1b[?2026l\x1b[0m\x1b[?7h\x1b[?25h\x1b[?1049l\x1b[?2004llast words",
    ]);
  });

  test("terminates a cut-off escape sequence before it restores the terminal", () => {
    const { done, screen } = fakeScreen(false, true);
    screen.enter();
    screen.leave();
    expect(done.at(-1)?.startsWith("\x1b\\\x1b[?2026l")).toBe(true);
  });

  test("with keysOnly, only turns on bracketed paste", () => {
    const { done, screen } = fakeScreen(true);
    screen.enter();
    screen.leave("words");
    expect(done).toEqual(["raw false", "raw true", "\x1b[?2004h", "raw false", "\x1b[?2004lwords"]);
  });

  test("is restored even if raw mode cannot be set", () => {
    const written: string[] = [];
    const input = {
      setRawMode(): NodeJS.ReadStream {
        throw new Error("EIO");
      },
    };
    const screen = createScreen({
      input,
      write: (text) => void written.push(text),
      discard: () => false,
      keysOnly: false,
    });
    screen.enter();
    screen.leave();
    expect(written.at(-1)).toContain("\x1b[?1049l");
  });
});

describe("the non-blocking writer", () => {
  test("writes all of a long text", () => {
    const path = join(folder(), "out");
    const shared = openSync(path, "w");
    const writer = openNonblockingWriter(shared);
    const words = "word ".repeat(100_000);
    writer.writeAll(words);
    writer.close();
    closeSync(shared);
    expect(readFileSync(path, "utf8")).toBe(words);
  });
});

describe("output of other code", () => {
  function fakeStream(isTTY: boolean) {
    const written: string[] = [];
    return { stream: { isTTY, write: (text: string) => written.push(text) } as unknown as NodeJS.WriteStream, written };
  }

  test("is captured in order, reported at once, and released once", async () => {
    const [out, error] = [fakeStream(true), fakeStream(true)];
    const told: string[] = [];
    const { release } = captureOutput([out.stream, error.stream], (text) => told.push(text));
    out.stream.write("one\n");
    error.stream.write(Buffer.from("two\n"));
    await new Promise<void>((resolve) => out.stream.write("three\n", () => resolve()));
    expect(told).toEqual(["one\n", "two\n", "three\n"]);
    expect([out.written, error.written]).toEqual([[], []]);
    expect(release()).toBe("one\ntwo\nthree\n");
    expect(release()).toBe("");
    out.stream.write("four\n");
    expect(out.written).toEqual(["four\n"]);
  });

  test("is not captured when it goes to a file", () => {
    const { stream, written } = fakeStream(false);
    const { release } = captureOutput([stream], () => {});
    stream.write("to the file\n");
    expect([written, release()]).toEqual([["to the file\n"], ""]);
  });

  test("is captured up to a limit, and the rest is counted", () => {
    const { stream } = fakeStream(true);
    const { release } = captureOutput([stream], () => {});
    for (let count = 0; count < 3; count++) stream.write("x".repeat(60_000));
    expect(release()).toBe(`${"x".repeat(60_000)}… and 120000 more characters\n`);
  });
});
