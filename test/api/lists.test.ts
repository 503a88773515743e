// Lists: their order, their pages in both directions, and their parameters.

import { describe, expect, test } from "vitest";
import { catalogue } from "../../src/areas/index.ts";
import { type Answer, type Bench, open } from "../support/sandbox.ts";

type Operation = (typeof catalogue)[number];

const lists = catalogue
  .filter(({ query }) => "limit" in query.properties)
  .map((operation) => [operation.id, operation] as const);

const BLANK = "sk_test_blank";

function read(
  bench: Bench,
  operation: Operation,
  query: Record<string, string | number> = {},
  key = BLANK,
): Promise<Answer> {
  const search = new URLSearchParams(
    Object.entries(query).map(([name, value]) => [name, String(value)] as [string, string]),
  ).toString();
  return bench.call("GET", `/v1${operation.path}${search === "" ? "" : `?${search}`}`, { key });
}

const idsOf = ({ body }: Answer) => (body.data as { id: string }[]).map(({ id }) => id);

describe("the order of a list", () => {
  test("is newest first by creation time, then by insertion, even for backdated records", async () => {
    const bench = await open();
    const create = (id: string, created: number) =>
      bench.control("POST", "/records/payment", { merchant: "mer_blank", id, created });
    for (const [id, created] of [
      ["pay_b1", 2_000],
      ["pay_c", 3_000],
      ["pay_a", 1_000],
      ["pay_b2", 2_000],
      ["pay_b3", 2_000],
    ] as const)
      await create(id, created);
    const [payments] = lists.filter(([id]) => id === "payments.list").map(([, operation]) => operation);
    const order = ["pay_c", "pay_b3", "pay_b2", "pay_b1", "pay_a"];
    expect(idsOf(await read(bench, payments as Operation))).toEqual(order);
    const page = async (query: Record<string, string | number>) => {
      const answer = await read(bench, payments as Operation, query);
      return [idsOf(answer), answer.body.has_more];
    };
    for (const [place, id] of order.entries()) {
      expect(await page({ starting_after: id, limit: 1 })).toEqual([order.slice(place + 1, place + 2), place < 3]);
      expect(await page({ ending_before: id, limit: 2 })).toEqual([
        order.slice(Math.max(0, place - 2), place),
        place > 2,
      ]);
    }
  });
});

describe("the parameters of a list", () => {
  test.each(lists)("%s accepts a limit, and rejects invalid limits and cursors", async (_, operation) => {
    const bench = await open();
    const mine = async (query: Record<string, string | number>) =>
      (await read(bench, operation, query, "sk_test_lodge")).body;
    const all = await mine({ limit: 100 });
    expect(all.object).toBe("list");
    expect((await mine({})).data).toEqual(all.data.slice(0, 25));
    expect((await mine({})).has_more).toBe(all.data.length > 25);
    expect((await mine({ limit: 1 })).data).toEqual(all.data.slice(0, 1));
    for (const limit of [
      "0",
      "-1",
      "101",
      "1000000",
      "ten",
      "1.5",
      "1e1",
      "",
      " 5",
      "+5",
      "0x10",
      "５",
      "99999999999999999999",
      "NaN",
    ]) {
      const answer = await read(bench, operation, { limit }, "sk_test_lodge");
      expect([limit, answer.status, answer.body.code, answer.body.details.received]).toEqual([
        limit,
        400,
        "invalid_limit",
        limit,
      ]);
    }
    expect((await bench.call("GET", `/v1${operation.path}?limit=5&limit=6`)).body.code).toBe("invalid_limit");
    for (const cursor of ["starting_after", "ending_before"]) {
      for (const value of ["", "nobody", "cus_ines", "*", "%", "null", "x".repeat(500)]) {
        const answer = await read(bench, operation, { [cursor]: value }, "sk_test_lodge");
        expect([cursor, value, answer.status, answer.body.code]).toEqual([cursor, value, 400, "invalid_cursor"]);
        expect(answer.body.details).toMatchObject({ field: cursor, received: value });
      }
      expect((await bench.call("GET", `/v1${operation.path}?${cursor}=a&${cursor}=b`)).body.code).toBe(
        "invalid_cursor",
      );
    }
    const id = all.data[0]?.id ?? "nobody";
    const both = await read(bench, operation, { starting_after: id, ending_before: id }, "sk_test_lodge");
    expect(both).toMatchObject({ status: 400, body: { code: "invalid_cursor" } });
  });
});
