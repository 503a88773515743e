// One recording in the form of each tool: the verdicts are the same, and facts that a form lacks count as not seen.

import { describe, expect, test } from "vitest";
import { type Comparison, compare } from "../../src/compare/compare.ts";
import { readHar } from "../../src/compare/read-recording.ts";
import { contradictedIn, everyDifference, harOf, sandbox } from "../support/real-service/comparison.ts";
import { inFormOf, type ToolForm, toolForms } from "../support/real-service/tool-forms.ts";

const plain = harOf();
const different = harOf(everyDifference);

function compareIn(form: ToolForm, har: object) {
  const { text, files } = inFormOf(form, har);
  return compare(
    sandbox,
    readHar(text, "service.har", (file) => files.get(file)),
  );
}

const verdictsOf = ({ verdicts }: Comparison) =>
  new Map(
    verdicts
      .filter(({ verdict }) => verdict !== "not_seen")
      .map(({ fact, verdict, seen }) => [fact.id, { verdict, seen }]),
  );
const comparedInPlainForm = compare(sandbox, readHar(JSON.stringify(plain), "service.har"));
const inPlainForm = verdictsOf(comparedInPlainForm);
const differencesInPlainForm = compare(sandbox, readHar(JSON.stringify(different), "service.har"));

const NEW_FIELD = "add the new field of a record to the stand-in too: test/support/real-service/records.ts";

describe.each(toolForms)("a recording by $tool", (form) => {
  const found = compareIn(form, plain);

  test("of a service that behaves like the sandbox contradicts nothing", () => {
    expect(contradictedIn(found), NEW_FIELD).toEqual([]);
    expect(found.calls).toBe(comparedInPlainForm.calls);
  });

  if (form.lacks === undefined)
    test("gives the same verdicts as the plain form, even for a service with every difference", () => {
      expect(verdictsOf(found)).toEqual(inPlainForm);
      expect(verdictsOf(compareIn(form, different))).toEqual(verdictsOf(differencesInPlainForm));
    });
  else
    test(`without ${form.lacks} shows only differences that the plain form shows too`, () => {
      const shown = contradictedIn(compareIn(form, different));
      expect(shown.length).toBeGreaterThan(0);
      expect(shown.filter((id) => !contradictedIn(differencesInPlainForm).includes(id))).toEqual([]);
    });
});

test("a file with a body is not read if it is outside of the recording's folder", () => {
  const asked: string[] = [];
  const entry = {
    request: { method: "GET", url: "https://api.service.example/v1/payments", headers: [] },
    response: { status: 200, headers: [], content: { mimeType: "application/json", _file: "../../secrets.json" } },
  };
  const har = JSON.stringify({ log: { entries: [entry] } });
  readHar(har, "service.har", (file) => {
    asked.push(file);
    return undefined;
  });
  expect(asked).toEqual([]);
});

test.each([{ _fromCache: "disk" }, { _fetchType: "Memory Cache" }])(
  "a response from a browser's cache is left out: %o",
  (field) => {
    const { entries } = (plain as { log: { entries: object[] } }).log;
    const cached = { log: { entries: entries.map((entry) => ({ ...entry, ...field })) } };
    const found = compare(sandbox, readHar(JSON.stringify(cached), "service.har"));
    expect(found.noise).toEqual({
      "a response from a browser's cache": (plain as { log: { entries: object[] } }).log.entries.length,
    });
  },
);
