// The first mistake in a JSON text and its position, which the explorer shows at the body field.

import fc from "fast-check";
import { expect, test } from "vitest";
import { succeeds } from "../../src/kernel/attempt.ts";
import { jsonMistake } from "../../ui/connection/json-mistake.ts";

test.each([
  ['{"a": 1', 'Line 1, column 8: expected "," or "}", received the end of the text'],
  ['{\n  "a": 1\n  "b": 2\n}', 'Line 3, column 3: expected "," or "}", received a string'],
  ['{\n  "a": 1,\n}', 'Line 3, column 1: expected a name in double quotes, received "}"'],
  ["{a: 1}", 'Line 1, column 2: expected a name in double quotes or "}", received "a"'],
  ['{"a": nothing}', 'Line 1, column 7: expected a value, received "nothing"'],
  ['{"a" 1}', 'Line 1, column 6: expected ":", received "1"'],
  ["[1, 2", 'Line 1, column 6: expected "," or "]", received the end of the text'],
  ["[,]", 'Line 1, column 2: expected a value or "]", received ","'],
  ["{} {}", 'Line 1, column 4: expected the end of the text, received "{"'],
  ['{"a": "one\n"}', "Line 1, column 7: this string has no closing quote on its line, or an invalid escape"],
  ["", "Line 1, column 1: expected a value, received the end of the text"],
  [' {"a": [1, -2.5e3, "\\u00e9", true, null, {}, []]}\n', undefined],
])("reports the first mistake, if any, in %j", (text, mistake) => {
  expect(jsonMistake(text)).toBe(mistake);
});

test("reports a mistake exactly if the text is not JSON", () => {
  const piece = fc.oneof(
    fc.constantFrom(...'{}[],:"\\ \n\t\u0000\u007f\u2028-0.e', "true", "null", "1", '"a"', "\\u00", "tru"),
    fc.string({ maxLength: 3 }),
  );
  const changed = fc.tuple(fc.json(), piece, fc.nat()).map(([json, text, place]) => {
    const at = place % (json.length + 1);
    return json.slice(0, at) + text + json.slice(at);
  });
  const pieces = fc.array(piece, { maxLength: 8 }).map((all) => all.join(""));
  fc.assert(
    fc.property(fc.oneof(fc.json(), changed, pieces), (text) => {
      expect(jsonMistake(text) === undefined).toBe(succeeds(() => JSON.parse(text)));
    }),
    { numRuns: 2_000 },
  );
});
