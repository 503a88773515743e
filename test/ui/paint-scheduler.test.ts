// When the dashboard paints: a change from the stream is shown within half a second, even after a slow frame.

import { expect, test, vi } from "vitest";
import { createPaintScheduler } from "../../ui/view/paint-scheduler.ts";

test("a slow frame delays the next one by half a second at most", () => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "Date", "performance"] });
  try {
    // Each frame takes 200 ms.
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
