// Lists under a service file: names of parameters, the default and the bounds of `limit`, and the order of the records.

import { describe, expect, test } from "vitest";
import { type Bench, openAs } from "../support/sandbox.ts";

const list = (bench: Bench, query = "") => bench.call("GET", `/v1/payments${query}`);
const idsOf = (body: { data: { id: string }[] }) => body.data.map(({ id }) => id);

describe("limit", () => {
  test("has the default and the bounds of the file", async () => {
    const bench = await openAs({ "payments.list.query.limit.default": 3, "payments.list.query.limit.maximum": 5 });
    expect((await list(bench)).body.data).toHaveLength(3);
    expect((await list(bench, "?limit=5")).body.data).toHaveLength(5);
    expect((await list(bench, "?limit=6")).body).toMatchObject({ code: "invalid_limit", message: expect.stringContaining("5") });
    expect((await bench.call("GET", "/v1/payouts?limit=6")).status).toBe(200);
  });

  test("has a default within a bound that the file moves, and a bound that takes the file's default", async () => {
    const bench = await openAs({ "payments.list.query.limit.maximum": 5, "payouts.list.query.limit.default": 200 });
    expect((await list(bench)).body.data).toHaveLength(5);
    expect((await bench.call("GET", "/v1/payouts?limit=200")).status).toBe(200);
    const { facts } = (await bench.control("GET", "/assumptions")) as { facts: { id: string; value: unknown }[] };
    const shown = (id: string) => facts.find((fact) => fact.id === id)?.value;
    expect([shown("payments.list.query.limit.default"), shown("payouts.list.query.limit.maximum")]).toEqual([5, 200]);
  });
});

test("a limit out of its bounds is moved into them, where the service does so", async () => {
  const bench = await openAs({ "payments.list/error.invalid_limit.status": 200, "payments.list.query.limit.maximum": 4 });
  expect((await list(bench, "?limit=9")).body.data).toHaveLength(4);
  expect((await list(bench, "?limit=0")).body.data).toHaveLength(1);
  expect((await list(bench, "?limit=many")).body.code).toBe("invalid_limit");
  expect((await bench.call("GET", "/v1/payouts?limit=0")).body.code).toBe("invalid_limit");
});

describe("parameters", () => {
  const names = { "payments.list.query.limit.name": "page_size", "payments.list.query.starting_after.name": "after" };

  test("have the names of the file, and no others", async () => {
    const bench = await openAs(names);
    const first = await list(bench, "?page_size=2");
    expect(first.body.data).toHaveLength(2);
    const next = await list(bench, `?page_size=2&after=${idsOf(first.body)[1]}`);
    expect(idsOf(next.body)).toEqual(idsOf((await list(bench, "?page_size=4")).body).slice(2));
    const ignored = await list(bench, "?limit=2");
    expect([ignored.body.data.length > 2, ignored.headers["x-sandbox-unknown-params"]]).toEqual([true, "limit"]);
  });

  test("are named so in errors", async () => {
    const bench = await openAs(names);
    expect((await list(bench, "?page_size=0")).body).toMatchObject({ code: "invalid_limit", details: { field: "page_size" } });
    expect((await list(bench, "?after=pay_none")).body).toMatchObject({
      message: expect.stringMatching(/^after must be/),
      details: { field: "after" },
    });
    const both = (await list(bench, "?after=pay_none&ending_before=pay_none")).body;
    expect([both.message, both.details.fields]).toEqual(["Send after or ending_before, not both.", ["after", "ending_before"]]);
  });

  test("that the service does not have are ignored", async () => {
    const bench = await openAs({ "payments.list.query.ending_before": "absent" });
    const { status, headers } = await list(bench, "?ending_before=pay_none");
    expect([status, headers["x-sandbox-unknown-params"]]).toEqual([200, "ending_before"]);
  });
});

test("a list is oldest first, and its cursors follow", async () => {
  const plain = await openAs({ "payments.list.query.limit.maximum": 1_000 });
  const everything = idsOf((await list(plain, "?limit=1000")).body).toReversed();
  const bench = await openAs({ "payments.list.order": "oldest first" });
  const first = await list(bench, "?limit=3");
  expect([idsOf(first.body), first.body.has_more]).toEqual([everything.slice(0, 3), true]);
  const next = await list(bench, `?limit=3&starting_after=${everything[2]}`);
  expect(idsOf(next.body)).toEqual(everything.slice(3, 6));
  const back = await list(bench, `?limit=2&ending_before=${everything[3]}`);
  expect([idsOf(back.body), back.body.has_more]).toEqual([everything.slice(1, 3), true]);
});
