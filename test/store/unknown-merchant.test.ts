// The message about a merchant that does not exist.

import { expect, test } from "vitest";
import { unknownMerchant } from "../../src/store/records/tenants.ts";

test.each([
  ["lodg", ["mer_lodge", "mer_market"], "There is no merchant lodg. Did you mean mer_lodge?"],
  ["mer_markt", ["mer_lodge", "mer_market"], "There is no merchant mer_markt. Did you mean mer_market?"],
  ["somewhere", ["mer_lodge", "mer_market"], "There is no merchant somewhere. There are mer_lodge, mer_market."],
  ["lodge", [], "There is no merchant lodge. This sandbox has none."],
])("names the closest merchant to %s among %j, or those that exist", (wanted, known, says) => {
  expect(unknownMerchant(wanted, known)).toBe(says);
});

test("names the first ten of many merchants, and counts the others", () => {
  const known = Array.from({ length: 12 }, (_, index) => `mer_${index}`);
  expect(unknownMerchant("somewhere", known)).toMatch(/ There are mer_0, .*mer_9 and 2 more\.$/);
});
