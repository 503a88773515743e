// The name that an error message suggests for an unknown name.

import { expect, test } from "vitest";
import { closestMatch } from "../../src/kernel/did-you-mean.ts";

const NAMES = ["deliveries", "requests", "reset", "receive", "lost_response"];

test.each([
  ["deliverys", "deliveries"],
  ["reuqests", "requests"],
  ["deliv", "deliveries"],
  ["Lost", "lost_response"],
  ["rece", "receive"],
  ["rec", "receive"],
])("for %s, the suggestion is %s", (wrong, meant) => {
  expect(closestMatch(wrong, NAMES)).toBe(meant);
});

test.each([["re"], ["res_"], ["payments"], [""], ["x".repeat(201)]])("for %j, there is no suggestion", (wrong) => {
  expect(closestMatch(wrong, NAMES)).toBeUndefined();
});

test("for a prefix of several names, there is a suggestion only if one of the names is very similar", () => {
  expect(closestMatch("fixture_s", ["fixture_save", "fixture_show"])).toBe("fixture_save");
  expect(closestMatch("fix", ["fixture_save", "fixture_show"])).toBeUndefined();
});
