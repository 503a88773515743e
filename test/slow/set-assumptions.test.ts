// Assumptions that flags or merchant-sandbox.json set in the built program: their effects, the output, and errors.

import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { ANY_PORT, folder, NOWHERE, run, start } from "../support/program.ts";
import { call, DECLINE } from "../support/sandbox.ts";

const FILE = { "bookings.decline.status": 202, "retry.schedule": [60, 300] };

/** A folder whose merchant-sandbox.json sets these assumptions. */
function folderWith(assumptions: object): string {
  const made = folder();
  writeFileSync(join(made, "merchant-sandbox.json"), JSON.stringify({ assumptions }));
  return made;
}

/** The responses to a first decline, and to a second decline, which the state of the booking forbids. */
async function declineTwice(...words: string[]) {
  const { url } = await start(["--memory", ...words], {}, folderWith(FILE));
  const first = await call(url, "POST", DECLINE, { body: {} });
  const second = await call(url, "POST", DECLINE, { body: {} });
  return [first.status, second.status, second.headers["ratelimit-limit"]];
}

test("`start` takes assumptions from merchant-sandbox.json, and --assume overrides the file", async () => {
  expect(await declineTwice()).toEqual([202, 409, "6000"]);
  expect(await declineTwice("--assume", "error.invalid_state.status=422", "--assume", "rate_limit.limit=50")).toEqual([
    200,
    422,
    "50",
  ]);
});

test("`assumptions` prints an assumption with its value and default, as a line or as JSON", async () => {
  const place = folderWith(FILE);
  const printed = async (...words: string[]) => (await run(["assumptions", ...words], NOWHERE, place)).out;
  expect(await printed("bookings.decline.status")).toEqual([
    expect.stringMatching(/^bookings\.decline\.status: 202 \(set, default: 200\)\. /),
  ]);
  expect(await printed("bookings.decline.status", "--assume", "bookings.decline.status=204")).toEqual([
    expect.stringMatching(/^bookings\.decline\.status: 204 \(set, default: 200\)\. /),
  ]);
  const [line = ""] = await printed("retry.schedule", "--json");
  expect(JSON.parse(line)).toMatchObject({ value: [60, 300], default: [1, 5, 15, 30, 60] });
});

test("`openapi` prints a document with the assumptions of merchant-sandbox.json", async () => {
  const printed = async (...words: string[]) => {
    const { code, out } = await run(["openapi", ...words], NOWHERE, folderWith(FILE));
    expect(code).toBe(0);
    return JSON.parse(out.join("\n"));
  };
  const { info, paths } = await printed();
  expect(info["x-sandbox-assumptions"]).toEqual(FILE);
  const { responses } = paths["/hospitality/bookings/{id}/decline"].post;
  expect(Object.keys(responses).filter((status) => status.startsWith("2"))).toEqual(["202"]);
  expect(JSON.stringify(await printed("--no-extensions", "--3.0"))).not.toContain("x-sandbox-");
});

test.each([
  ["start", "bookings.declin.status", 202, /no assumption bookings\.declin\.status\. Did you mean/],
  ["start", "http.paths", "x", /http\.paths cannot be set: it is a rule that the sandbox implements in code\./],
  [
    "assumptions",
    "rate_limit.limit",
    "many",
    /rate_limit\.limit must be an integer; received "many"\. Default: 6000\./,
  ],
  ["openapi", "bookings.decline.status", 404, /bookings\.decline\.status must be .*; received 404\. Default: 200\./],
])("`%s` rejects %s=%s from a flag and from merchant-sandbox.json", async (command, id, value, says) => {
  const fromFlag = await run([command, "--assume", `${id}=${value}`], ANY_PORT);
  const fromFile = await run([command], ANY_PORT, folderWith({ [id]: value }));
  for (const { code, out, error } of [fromFlag, fromFile]) {
    expect([code, out]).toEqual([2, []]);
    expect(error).toMatch(says);
  }
});

test("--assume without a value is rejected with an example", async () => {
  expect(await run(["start", "--assume", "rate_limit.limit"], ANY_PORT)).toMatchObject({
    code: 2,
    error: expect.stringContaining(
      "--assume takes the id of an assumption and its value, such as rate_limit.limit=100; " +
        'received "rate_limit.limit".',
    ),
  });
});
