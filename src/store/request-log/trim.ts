// The bounds of the request log: counts its rows and bytes in blocks, and deletes the oldest blocks.

import type { Database } from "../sqlite/database.ts";

export const MOST_ROWS = 10_000;
const MOST_BYTES = 64 * 1_048_576;
/** Rows are counted and deleted in blocks of this many sequences, because deleting them together costs less per row. */
export const BLOCK = 128;
/** MOST_BYTES limits the sum of the lengths of these columns. */
export const TEXTS = ["requestHeaders", "requestBody", "responseHeaders", "responseBody"];

/** Deletes the oldest blocks beyond the bounds of the log. */
export function openTrim(sql: Database["sql"]) {
  const trim = sql.prepare("delete from request_log where sequence >= ? and sequence < ?");
  const readKept = sql.prepare<[], { block: number; rows: number; size: number }>(
    `select sequence / ${BLOCK} as block, count(*) as rows,
      sum(${TEXTS.map((text) => `length(${text})`).join(" + ")}) as size
       from request_log group by block order by block`,
  );
  const blocks = new Map<number, { rows: number; size: number }>();
  let rows = 0;
  let size = 0;
  const forget = () => {
    blocks.clear();
    rows = 0;
    size = 0;
  };
  const count = (number: number, more: { rows: number; size: number }) => {
    const block = blocks.get(number);
    if (block) {
      block.rows += more.rows;
      block.size += more.size;
    } else blocks.set(number, { ...more });
    rows += more.rows;
    size += more.size;
  };
  const readSizes = () => {
    forget();
    for (const { block, ...kept } of readKept.all()) count(block, kept);
  };
  readSizes();
  return {
    add: (block: number, added: number) => count(block, { rows: 1, size: added }),
    shrink() {
      for (const [number, block] of blocks) {
        if ((rows - block.rows < MOST_ROWS && size <= MOST_BYTES) || blocks.size === 1) return;
        trim.run(number * BLOCK, (number + 1) * BLOCK);
        blocks.delete(number);
        rows -= block.rows;
        size -= block.size;
      }
    },
    readSizes,
    forget,
  };
}
