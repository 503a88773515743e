// A service file is checked when it is read: each mistake is one sentence with the line, the id and what may stand there.

import { describe, expect, test } from "vitest";
import { open } from "../support/sandbox.ts";
import { serviceFile } from "../support/service-file.ts";

/** The message with which a sandbox refuses the file, without the path of the folder. */
const refusal = (facts: object | string) =>
  open({ service: serviceFile(facts) }).then(
    () => "started",
    (error: Error) => error.message.replace(/^.*(?=service\.json)/, ""),
  );

const PLACE = 'service.json:1: a service file has its entries under "facts", such as {"facts": {"bookings.decline.status": 202}};';

describe("a service file", () => {
  test.each([
    [
      { "payments.creat.status": 201 },
      "service.json:3 /facts/payments.creat.status: There is no fact payments.creat.status. Did you mean payments.list.status? merchant-sandbox assumptions lists all facts.",
    ],
    [
      { "error.validation_failed.status": "422" },
      'service.json:3 /facts/error.validation_failed.status: error.validation_failed.status takes a whole number from 400 to 599; received "422". The sandbox has 400.',
    ],
    [
      { "bookings.declin/error.invalid_state.status": 400 },
      "service.json:3 /facts/bookings.declin~1error.invalid_state.status: There is no operation bookings.declin. Did you mean bookings.decline?",
    ],
    [
      { "bookings.decline/bookings.decline.status": 201 },
      "service.json:3 /facts/bookings.decline~1bookings.decline.status: bookings.decline.status holds for all operations: write it without bookings.decline/.",
    ],
    [
      { "error.live_key_refused.status": 401 },
      "service.json:3 /facts/error.live_key_refused.status: error.live_key_refused.status differs by design: Only a sandbox on this machine has this error.",
    ],
    [
      { "error.malformed_http.status": 422 },
      "service.json:3 /facts/error.malformed_http.status: error.malformed_http.status cannot be adopted: the sandbox sends it where it has not read a request.",
    ],
    [
      { "http.paths": "not literally" },
      "service.json:3 /facts/http.paths: http.paths cannot be adopted: the sandbox implements it in code; a setting changes it where one is listed.",
    ],
    [
      { "payments.list.query.limit.default": 500, "payments.list.query.limit.maximum": 50 },
      "service.json:3 /facts/payments.list.query.limit.default: payments.list.query.limit.default contradicts the file's other entries: payments.list.query.limit has a minimum of 1, a default of 500 and a maximum of 50.",
    ],
    ["[]", `${PLACE} received a list.`],
    ['{"payment.fee": "absent"}', `${PLACE} received an object with "payment.fee".`],
    ["{}", `${PLACE} received an empty object.`],
    ["{", "service.json:1: is not JSON: close brace expected."],
    ['{ "fact": {} }', `${PLACE} received an object with "fact".`],
  ])("with %j is refused in one sentence", async (facts, message) => {
    expect(await refusal(facts)).toBe(message);
  });

  test("that does not exist is refused in one sentence", async () => {
    const missing = serviceFile({}).replace(/service\.json$/, "other.json");
    await expect(open({ service: missing })).rejects.toThrow(`Cannot read ${missing}: there is no such file.`);
  });

  test("with questions starts: they are left for a person to decide", async () => {
    const questions = [
      {
        fact: "payments.list.order",
        seen: [
          { value: "oldest first", count: 4 },
          { value: "newest first", count: 1 },
        ],
      },
    ];
    expect(await refusal(JSON.stringify({ $schema: "./service.schema.json", facts: {}, questions }))).toBe("started");
  });
});
