// The buffer of the request log: rows are written in order, in slices between turns of the event loop, and kept while the file cannot be written.

import { expect, test } from "vitest";
import { createSlicedBuffer } from "../../src/store/request-log/sliced-buffer.ts";

const numbers = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, index) => from + index);
const endOfTurn = () => new Promise(setImmediate);

/** A buffer whose slices take all their time for `perSlice` rows. */
function openBuffer(perSlice: number) {
  const written: number[] = [];
  const file = { isLocked: false };
  const buffer = createSlicedBuffer<number>({
    capacity: 50,
    slice: 32,
    write(rows, until) {
      if (file.isLocked) throw new Error("database is locked");
      const slice = rows.slice(0, until === Infinity ? rows.length : perSlice);
      written.push(...slice);
      return slice.length;
    },
  });
  return { buffer, written, file };
}

test("under load the buffer is written in slices, with a turn of the event loop between two of them", async () => {
  const { buffer, written } = openBuffer(10);
  for (const row of numbers(1, 45)) buffer.add(row);
  expect(written).toEqual([]);
  await endOfTurn();
  expect(written).toEqual(numbers(1, 10));
  await endOfTurn();
  expect(written).toEqual(numbers(1, 20));
  buffer.flush();
  expect(written).toEqual(numbers(1, 45));
  buffer.close();
});

test("while the file is locked the newest rows are kept in order, and are not tried again in each turn", async () => {
  const { buffer, written, file } = openBuffer(10);
  file.isLocked = true;
  for (const row of numbers(1, 60)) buffer.add(row);
  await endOfTurn();
  file.isLocked = false;
  buffer.add(61);
  await endOfTurn();
  expect(written).toEqual([]);
  buffer.flush();
  expect(written).toEqual(numbers(11, 61));
  buffer.close();
});

test("a closed buffer writes nothing, though a slice was scheduled", async () => {
  const { buffer, written, file } = openBuffer(10);
  for (const row of numbers(1, 45)) buffer.add(row);
  file.isLocked = true;
  buffer.close();
  file.isLocked = false;
  await endOfTurn();
  expect(written).toEqual([]);
});
