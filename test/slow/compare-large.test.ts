// `compare` with recordings that are too large to be read into memory as a whole.

import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { expect, test } from "vitest";
import { folder, launchCommand, PROGRAM } from "../support/program.ts";
import { createRealService } from "../support/real-service/service.ts";
import { recordSession } from "../support/real-service/session.ts";
import type { HarEntry } from "../support/real-service/tool-forms.ts";

const RECORDS = 4_000_000;
/** Heap limit in megabytes: ten times the size of the file, but half of what the parsed body would take. */
const HEAP = 120;

const compareLarge = (recording: string) =>
  launchCommand(process.execPath, [`--max-old-space-size=${HEAP}`, PROGRAM, "compare", recording]).ended;

test("compare rejects a compressed recording above the limit in one sentence", async () => {
  const recording = join(folder(), "large.har.gz");
  writeFileSync(recording, Buffer.concat(Array(10).fill(gzipSync(Buffer.alloc(20_000_001)))));
  const { code, out, error } = await compareLarge(recording);
  expect([code, out]).toEqual([2, []]);
  expect(error).toMatch(
    /large\.har\.gz is compressed and cannot be decompressed: it is damaged, or holds more than 200000000 bytes\. Compare the plain file\.\n$/,
  );
});

test("compare skips a body of 12 MB in bounded memory", async () => {
  const { har } = recordSession(createRealService());
  const { log } = har as { log: { entries: HarEntry[] } };
  const list = log.entries.find(({ request }) => request.url.endsWith("/payments")) as HarEntry;
  const text = `{"data":[${"{},".repeat(RECORDS)}{}],"has_more":false}`;
  expect(text.length).toBeGreaterThan(12_000_000);
  log.entries.push({ ...list, response: { ...list.response, content: { mimeType: "application/json", text } } });
  const recording = join(folder(), "large.har");
  writeFileSync(recording, JSON.stringify(har));
  const { code, out, error } = await compareLarge(recording);
  expect([code, error]).toEqual([0, ""]);
  expect(out[0]).toMatch(/^Compared \d\d calls below https:\/\/api\.service\.example\/v1 /);
});
