// The name that an error message suggests for a wrong one.

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
])("%s suggests %s", (wrong, meant) => {
  expect(closestMatch(wrong, NAMES)).toBe(meant);
});

test.each([["re"], ["res_"], ["payments"], [""], ["x".repeat(201)]])("%j suggests no name", (wrong) => {
  expect(closestMatch(wrong, NAMES)).toBeUndefined();
});

test("a prefix of several names suggests none of them, unless it is nearly one of them", () => {
  expect(closestMatch("fixture_s", ["fixture_save", "fixture_show"])).toBe("fixture_save");
  expect(closestMatch("fix", ["fixture_save", "fixture_show"])).toBeUndefined();
});
