// Declarations: each id is declared once, a test names each rule, and texts have the form that pages and help expect.

import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { behaviours } from "../../scripts/reference/documents.ts";
import { catalogue } from "../../src/areas/index.ts";
import { everyCommand } from "../../src/cli/commands/index.ts";
import { controlCatalogue } from "../../src/control/index.ts";
import { actions } from "../../src/faults/rule-schema.ts";
import { rules } from "../../src/judge/rules/index.ts";
import { fieldErrors } from "../../src/schema/validator.ts";
import { panes } from "../../ui/panes/index.ts";
import { settableFacts } from "../support/other-assumptions.ts";

const idsOf = {
  operations: catalogue.map(({ id }) => id),
  "operations of the control API": controlCatalogue.map(({ id }) => id),
  "fault actions": actions.map(({ type }) => type),
  rules: rules.map(({ id }) => id),
  behaviours: behaviours.map(({ id }) => id),
  panes: panes.map(({ name }) => name),
};

test.each(Object.entries(idsOf))("%s are declared once", (_, ids) => {
  expect(ids.filter((id, index) => ids.indexOf(id) !== index)).toEqual([]);
});

test("a test names each rule of the judge", () => {
  const folders = ["judge", "slow", "webhooks"].map((name) => join(import.meta.dirname, "..", name));
  const files = folders.flatMap((folder) => readdirSync(folder).map((name) => join(folder, name)));
  const tests = files.filter((file) => file.endsWith(".test.ts")).map((file) => readFileSync(file, "utf8"));
  const untested = idsOf.rules.filter((id) => !tests.some((text) => text.includes(id)));
  expect(untested, "no test names these rules").toEqual([]);
});

test("each setting accepts its default", () => {
  const refused = settableFacts().filter(({ value, settable }) => fieldErrors(settable as never, value).length > 0);
  expect(refused.map(({ id }) => id)).toEqual([]);
});

describe("texts", () => {
  const sentences = {
    "descriptions of faults": actions.map(({ description }) => description),
    "demands of rules": rules.map(({ demands }) => demands),
    "hints of rules": rules.map(({ hint }) => hint),
    "facts of behaviours": behaviours.map(({ fact }) => fact),
    "reasons of behaviours": behaviours.map(({ why }) => why),
  };

  test.each(Object.entries(sentences))("%s are sentences", (_, texts) => {
    expect(texts.filter((text) => !/^[^a-z].*\.$/s.test(text))).toEqual([]);
  });

  test("summaries of operations end without a full stop, because pages continue them", () => {
    const summaries = [...catalogue, ...controlCatalogue].map(({ summary }) => summary);
    expect(summaries.filter((text) => !/^[A-Z].*[^.]$/s.test(text))).toEqual([]);
  });

  test("summaries of commands begin in lower case and end without a full stop", async () => {
    expect(
      Object.values(await everyCommand())
        .map(({ summary }) => summary)
        .filter((text) => !/^[a-z].*[^.]$/s.test(text)),
    ).toEqual([]);
  });
});
