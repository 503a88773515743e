// A recording of the service is compared with the facts of the sandbox: the differences are found among the others, and nothing else.

import { describe, expect, test } from "vitest";
import { compare } from "../../src/compare/compare.ts";
import { conditionTexts } from "../../src/compare/conditions.ts";
import { comparisonText } from "../../src/compare/text.ts";
import { contradictedIn, everyDifference, fileOf, recordingOf, sandbox } from "../support/real-service/comparison.ts";
import { differences } from "../support/real-service/differences.ts";

describe("a stand-in for the real service", () => {
  test("that behaves as the sandbox contradicts nothing, whatever differs by design", () => {
    const found = compare(sandbox, recordingOf());
    expect(found.verdicts.filter(({ seen }) => seen.length > 0).map(({ fact, seen }) => [fact.id, seen])).toEqual([]);
    expect(comparisonText(found, fileOf(recordingOf()))).toMatch(/^Compared .*\n\n\d+ confirmed .*, 0 contradicted/);
    expect(fileOf(recordingOf())).toEqual({ facts: {} });
    expect(found.base).toBe("https://api.service.example/v1");
  });

  /** Each is undone by another one that is listed after it, or cannot be seen beside one. */
  const HIDDEN = [
    ...["a customer is wrapped in data", "windows of an hour", "no Retry-After"],
    ...["a replay is not marked", "events have no merchant", "the signature has another key", "the first retry comes after ten seconds"],
  ];

  test("finds all differences together that leave a trace together", () => {
    const found = contradictedIn(compare(sandbox, recordingOf(everyDifference)));
    const hidden = differences.filter(({ contradicts }) => !contradicts.some((id) => found.includes(id))).map(({ name }) => name);
    expect(hidden).toEqual(HIDDEN);
  });
});

test("each error that a service may have is recognised, or the page says why not", () => {
  const { seen, unseen } = conditionTexts();
  const codes = sandbox.facts.flatMap(({ id, kind, origin }) =>
    kind === "error_code" && origin !== "design" ? [id.split(".")[1] as string] : [],
  );
  expect([...Object.keys(seen), ...Object.keys(unseen)].sort()).toEqual(codes.sort());
});
