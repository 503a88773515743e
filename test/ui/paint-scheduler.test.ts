// When the dashboard paints: a change of the stream is on the screen within half a second, however long the frame before it took.

import { expect, test, vi } from "vitest";
import { createPaintScheduler } from "../../ui/view/paint-scheduler.ts";

test("a frame that took long delays the next one by half a second at most", () => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "Date", "performance"] });
  try {
    let frames = 0;
    const paint = () => {
      frames++;
      // The time that the frame took.
      vi.advanceTimersByTime(200);
    };
    const scheduler = createPaintScheduler({ paint, everySecond() {} });
    scheduler.paintNow();
    scheduler.paintSoon();
    expect(frames).toBe(1);
    vi.advanceTimersByTime(500);
    expect(frames).toBe(2);
    scheduler.stop();
  } finally {
    vi.useRealTimers();
  }
});
