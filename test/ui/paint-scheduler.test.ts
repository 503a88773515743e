// When the dashboard paints: a change from the stream is shown within half a second, however slow the frame before was.

import { expect, test, vi } from "vitest";
import { createPaintScheduler } from "../../ui/view/paint-scheduler.ts";

test("a frame that took long delays the next one by half a second at most", () => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "Date", "performance"] });
  try {
    // The time that each frame takes.
    const paint = vi.fn(() => void vi.advanceTimersByTime(200));
    const scheduler = createPaintScheduler("terminal", { paint, everySecond() {} });
    scheduler.paintNow();
    scheduler.paintSoon();
    expect(paint).toHaveBeenCalledTimes(1);
    vi.advanceTimersByTime(500);
    expect(paint).toHaveBeenCalledTimes(2);
    scheduler.stop();
  } finally {
    vi.useRealTimers();
  }
});
