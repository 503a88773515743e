// The browser tests of the shop. Each test counts the calls and webhooks of its own merchant, so it would fail if
// another test's call reached that merchant.

import { expect, test } from "merchant-sandbox/playwright";

const { TESTS } = process.env;

for (let number = 1; number <= Number(TESTS); number++)
  test(`guest ${number} adds a rule and declines a booking`, async ({ page, request, merchant }) => {
    const name = `Rule of guest ${number}`;
    await page.goto("/");
    await page.fill("input[name=name]", name);
    await page.click("text=Add rule");
    await expect(page.locator("li")).toHaveText(new RegExp(`^${name} `));
    await page.click("text=Decline booking");
    await expect(page.locator("p")).toHaveText("Declined");
    const { verdict, results } = await merchant.verify({
      within: "20s",
      all: [
        { requests: { match: { operation: "pricing_rules.create" }, count: { exactly: 1 } } },
        { requests: { match: { operation: "bookings.decline" }, count: { exactly: 1 } } },
        { requests: { match: { operation: "merchants.me" }, count: { exactly: 2 } } },
        { deliveries: { match: { event: "booking.declined" }, count: { exactly: 1 }, final: "succeeded" } },
        { deliveries: { match: { event: "pricing_rule.created" }, count: { exactly: 1 }, final: "succeeded" } },
        { records: { kind: "pricing_rule", where: { "/name": name }, count: { exactly: 1 } } },
      ],
    });
    expect(verdict, JSON.stringify(results)).toBe("pass");
    expect((await merchant.requests()).length).toBe(4);
    const events = await (await request.get(`/events/${merchant.id}`)).json();
    expect(events.map(({ type, merchantId }) => `${type} of ${merchantId}`).sort()).toEqual([
      `booking.declined of ${merchant.id}`,
      `pricing_rule.created of ${merchant.id}`,
    ]);
  });

test("a call without the header is rejected", async ({ page, merchant }) => {
  await page.setExtraHTTPHeaders({ "x-pass-on": "no" });
  await page.goto("/");
  await page.click("text=Add rule");
  await expect(page.locator("p")).toHaveText("403 test_merchant_missing");
  expect(await merchant.requests()).toEqual([]);
});
