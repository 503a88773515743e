// Each error of the service has a rule by which a recording shows it, or a reason why none does.

import { expect, test } from "vitest";
import { conditionTexts } from "../../src/compare/conditions.ts";
import { comparedSandbox } from "../../src/sandbox/documents.ts";

test("each error that a service may have is recognised, or the page says why not", () => {
  const { seen, unseen } = conditionTexts();
  const codes = comparedSandbox().facts.flatMap(({ id, kind, origin }) =>
    kind === "error_code" && origin !== "design" ? [id.split(".")[1] as string] : [],
  );
  expect([...Object.keys(seen), ...Object.keys(unseen)].sort()).toEqual(codes.sort());
});
