// The explorer of the dashboard in a browser: the operations that it lists, and their examples.

import { expect, test } from "vitest";
import { catalogue } from "../../src/areas/index.ts";
import { type ApiDocument, type ApiOperation, filledPath, operationsOf } from "../../ui/browser/api-document.ts";
import { type Bench, open } from "../support/sandbox.ts";

const serviceOperations = async (bench: Bench): Promise<ApiOperation[]> =>
  operationsOf("service", (await bench.control("GET", "/openapi.json")) as ApiDocument);

test("every operation has an area, a summary, described responses, and a flag for the Idempotency-Key", async () => {
  const operations = await serviceOperations(await open());
  expect(operations).toHaveLength(catalogue.length);
  expect(
    operations.every(({ area, summary, responses }) => area !== "" && summary !== "" && responses.length > 0),
  ).toBe(true);
  const undescribed = operations.flatMap(({ id, responses }) =>
    responses.flatMap(({ status, description, fields, example = status < "300" ? "" : "{}" }) =>
      [description, example, ...fields.map((field) => (field.schema ? "-" : field.description))].includes("")
        ? [`${id} ${status}`]
        : [],
    ),
  );
  expect(undescribed).toEqual([]);
  const { responses } = operations.find(({ id }) => id === "payments.list") as ApiOperation;
  expect(responses.find(({ status }) => status === "200")?.fields.map(({ name }) => name)).toContain("data[].amount");
  expect(responses.find(({ status }) => status === "401")?.fields.map(({ name }) => name)).toContain("token_expired");
  expect(operations.find(({ id }) => id === "bookings.decline")).toMatchObject({
    takesIdempotencyKey: true,
    area: "Hospitality",
  });
  expect(operations.find(({ id }) => id === "payments.list")).toMatchObject({
    takesIdempotencyKey: false,
    body: undefined,
  });
});

test("parameters are escaped in the path and the query, and empty query parameters are left out", async () => {
  const operations = await serviceOperations(await open());
  const payments = operations.find(({ id }) => id === "payments.list") as ApiOperation;
  expect(filledPath(payments, { limit: "2", starting_after: "a&b", ending_before: "" })).toBe(
    "/v1/payments?limit=2&starting_after=a%26b",
  );
  const customer = operations.find(({ id }) => id === "customers.get") as ApiOperation;
  expect(filledPath(customer, { id: "a/b ?" })).toBe("/v1/customers/a%2Fb%20%3F");
});
