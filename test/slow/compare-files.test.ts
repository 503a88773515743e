// The files of compare: a service file with facts, evidence and questions, and recordings that are too large to be
// read.

import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { expect, test } from "vitest";
import { folder, launchCommand, PROGRAM, runCommand, temporaryFile } from "../support/program.ts";
import type { Behaviour } from "../support/real-service/behaviour.ts";
import { createRealService } from "../support/real-service/service.ts";
import { recordSession } from "../support/real-service/session.ts";
import type { HarEntry } from "../support/real-service/tool-forms.ts";

async function writeFrom(change: (behaviour: Behaviour) => void, ...words: string[]) {
  const { har, webhooks } = recordSession(createRealService(change));
  const recording = temporaryFile(JSON.stringify(har), "shop.har");
  const received = temporaryFile(webhooks.join("\n"), "received.jsonl");
  const service = join(folder(), "service.json");
  const compare = (...more: string[]) => runCommand(undefined, "compare", recording, "--webhooks", received, ...more);
  const { out } = await compare("--write", service, ...words);
  return {
    compare,
    out,
    service,
    text: readFileSync(service, "utf8"),
    file: JSON.parse(readFileSync(service, "utf8")),
  };
}

test("a difference is written with its count and where it was seen, and a second compare finds nothing left", async () => {
  const { compare, out, text, service } = await writeFrom((to) => {
    to.errors.validation_failed.status = 422;
  });
  expect(text).toBe(
    [
      "{",
      '  "$schema": "./node_modules/merchant-sandbox/service.schema.json",',
      '  "facts": {',
      '    "error.validation_failed.status": { "value": 422, "seen": 4, "in": ["shop.har#35", "shop.har#36", "shop.har#37", "shop.har#38"] }',
      "  }",
      "}\n",
    ].join("\n"),
  );
  expect(out.at(-1)).toMatch(
    /^Wrote 1 fact to .*: merchant-sandbox start --service .*\. Of the facts: \d+ confirmed, 1 adopted, 0 dropped, 0 questions left to you\.$/,
  );
  const again = await compare("--service", service);
  expect([again.code, again.out.at(-1)]).toEqual([0, expect.stringContaining(" 0 contradicted")]);
});

test("what was seen fewer times than --at-least is a question", async () => {
  const once = (to: Behaviour) => {
    to.errors.missing_api_key.code = "no_token";
  };
  const { file, out } = await writeFrom(once);
  expect(file.facts).toEqual({});
  expect(file.questions).toEqual([
    {
      fact: "payments.list/error.missing_api_key.code",
      seen: [{ value: "no_token", count: 1 }],
      why: "seen once, fewer than 3",
    },
  ]);
  expect(out.at(-1)).toContain("0 adopted, 0 dropped, 1 question left to you");
  const { file: sure } = await writeFrom(once, "--at-least", "1");
  expect(sure.facts).toEqual({
    "payments.list/error.missing_api_key.code": { value: "no_token", seen: 1, in: [expect.any(String)] },
  });
});

test("a code is written for the operations that show it, which prove it together", async () => {
  const changed = (to: Behaviour) => {
    to.errors.invalid_limit.code = "bad_limit";
  };
  const { compare, service, file } = await writeFrom(changed, "--at-least", "5");
  const shown = Object.entries<{ seen: number }>(file.facts);
  expect(shown.map(([id]) => id)).toEqual([
    "payments.list/error.invalid_limit.code",
    "payouts.list/error.invalid_limit.code",
  ]);
  expect(shown.every(([, { seen }]) => seen < 5)).toBe(true);
  expect((await compare("--service", service)).out.at(-1)).toContain(" 0 contradicted");
});

test("a bound that is known from one side only is a question", async () => {
  const { file } = await writeFrom(
    (to) => {
      to.lists.payouts.maximum = 40;
    },
    "--at-least",
    "1",
  );
  expect(file.facts).toEqual({});
  expect(file.questions).toMatchObject([
    { fact: "payouts.list.query.limit.maximum", why: "only known as at least 3 and less than 50" },
  ]);
});

test("a default above the maximum is a question, because a start refuses both", async () => {
  const { compare, service, file } = await writeFrom(
    (to) => {
      Object.assign(to.lists.payments, { default: 101, maximum: 50, clamps: true });
    },
    "--at-least",
    "1",
  );
  expect(file.facts).toMatchObject({ "payments.list.query.limit.maximum": { value: 50 } });
  expect(file.questions).toEqual([
    {
      fact: "payments.list.query.limit.default",
      seen: [{ value: 101, count: 1 }],
      why: expect.stringContaining("a minimum of 1, a default of 101 and a maximum of 50"),
    },
  ]);
  expect((await compare("--service", service)).out.at(-1)).toContain("1 contradicted");
});

test("a difference is added to the file of --service; one that contradicts another entry of the file is a question", async () => {
  const { compare, service } = await writeFrom((to) => {
    to.success["bookings.decline"] = 202;
    const { record } = to;
    to.record = (one, kind) => ({
      ...record(one, kind),
      ...(kind === "bookings" && { created: Number(one.created) * 1_000 }),
    });
  });
  const given = { "booking.created.format": "ISO 8601 time", "booking.created.type": ["string"] };
  writeFileSync(service, JSON.stringify({ facts: given }));
  await compare("--service", service, "--write", service, "--at-least", "1");
  const { facts, questions } = JSON.parse(readFileSync(service, "utf8"));
  expect([facts, questions]).toEqual([
    { ...given, "bookings.decline.status": expect.objectContaining({ value: 202 }) },
    [expect.objectContaining({ fact: "booking.created.format" })],
  ]);
  expect((await compare("--service", service)).error).toBe("");
});

test.each(["0", "-1", "many", "1.5"])("--at-least %s is refused", async (count) => {
  const { code, error } = await runCommand(undefined, "compare", "--webhooks", "/nowhere", "--at-least", count);
  expect([code, error]).toEqual([2, expect.stringMatching(/^--at-least takes a whole number from 1/)]);
});

const RECORD = { id: "pay_1", object: "payment", amount: 1_200, status: "succeeded" };
const RECORDS = 1_700_000;
/** Megabytes of the heap: twice the file, half of what the records of the body take once they are parsed. */
const HEAP = 400;

const compareLarge = (recording: string) =>
  launchCommand(process.execPath, [`--max-old-space-size=${HEAP}`, PROGRAM, "compare", recording]).ended;

test("a compressed recording that holds more than the limit ends in one sentence", async () => {
  const recording = join(folder(), "large.har.gz");
  writeFileSync(recording, gzipSync(Buffer.alloc(200_000_001)));
  const { code, out, error } = await compareLarge(recording);
  expect([code, out]).toEqual([2, []]);
  expect(error).toMatch(
    /large\.har\.gz is compressed and cannot be decompressed: it is damaged, or holds more than 200000000 bytes\. Compare the plain file\.\n$/,
  );
});

test("a body of 100 MB is skipped in bounded memory", async () => {
  const { har } = recordSession(createRealService());
  const { log } = har as { log: { entries: HarEntry[] } };
  const list = log.entries.find(({ request }) => request.url.endsWith("/payments")) as HarEntry;
  const text = `{"data":[${`${JSON.stringify(RECORD)},`.repeat(RECORDS)}${JSON.stringify(RECORD)}],"has_more":false}`;
  expect(text.length).toBeGreaterThan(100_000_000);
  log.entries.push({ ...list, response: { ...list.response, content: { mimeType: "application/json", text } } });
  const recording = join(folder(), "large.har");
  writeFileSync(recording, JSON.stringify(har));
  const { code, out, error } = await compareLarge(recording);
  expect([code, error]).toEqual([0, ""]);
  expect(out[0]).toMatch(/^Compared \d\d calls below https:\/\/api\.service\.example\/v1 /);
});
