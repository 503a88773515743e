// The lesson pane at every size of the screen, in every step of every lesson.

import stringWidth from "string-width";
import { expect, test } from "vitest";
import { learn, pollOnce } from "../support/learner-dashboard.ts";

const SIZES = [
  [120, 36],
  [80, 24],
  [60, 15],
] as const;

test("the lesson pane fills a screen of every size exactly, in every step of every lesson", async () => {
  const { bench, desk } = await learn("first-call");
  const { data } = (await bench.control("GET", "/lessons")) as { data: { name: string; steps: unknown[] }[] };
  for (const { name, steps } of data) {
    for (const index of steps.keys()) {
      await bench.control("POST", "/learners/mer_lodge/lesson", { name, checkpoint: index + 1 });
      await pollOnce(desk);
      for (const [columns, rows] of SIZES) {
        const lines = desk.screen(columns, rows);
        expect([name, index, columns, lines.length]).toEqual([name, index, columns, rows]);
        expect(lines.filter((line) => stringWidth(line) > columns)).toEqual([]);
        expect(lines.filter((line) => line.startsWith("│")).every((line) => stringWidth(line) === columns)).toBe(true);
        expect(lines.join("\n")).toContain(`▸${index + 1}`);
      }
    }
  }
});
