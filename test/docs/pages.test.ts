// The list of facts is complete; the generated pages have no broken tables or commands.

import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { exampleCalls, pages as makePages } from "../../scripts/docs/pages.ts";
import { assumptions } from "../../scripts/reference/documents.ts";
import { catalogue, resources } from "../../src/areas/index.ts";
import type { MeasuredBehaviour } from "../../src/contracts/fact.ts";
import { controlCatalogue } from "../../src/control/index.ts";
import { errors } from "../../src/kernel/errors.ts";
import { serviceHeaders } from "../../src/reference/headers.ts";
import { ASSUMED, type Assumption, isAssumed } from "../../src/schema/assumed.ts";
import { exampleReplies } from "../support/example-calls.ts";
import { fences, raggedRows } from "../support/page.ts";
import { type Answer, type Bench, open } from "../support/sandbox.ts";

const SOURCES = join(import.meta.dirname, "../../src");
const ledger = assumptions();

const sourceFiles = readdirSync(SOURCES, { recursive: true, encoding: "utf8" }).filter((file) => file.endsWith(".ts"));
const sources = sourceFiles.map((file) => ({ file, text: readFileSync(join(SOURCES, file), "utf8") }));

/** Every assumption mark in a declaration, at any depth. */
function marksIn(value: unknown, found: Assumption[] = [], seen = new Set<unknown>()): Assumption[] {
  if (typeof value !== "object" || value === null || seen.has(value)) return found;
  seen.add(value);
  const { [ASSUMED]: mark } = value as { [ASSUMED]?: Assumption };
  if (mark) found.push(mark);
  if (isAssumed(value)) found.push(value.assumption);
  for (const inner of Object.values(value)) marksIn(inner, found, seen);
  return found;
}

describe("the list of facts", () => {
  const ids = new Set(ledger.facts.map(({ id }) => id));

  test("has one id for each fact, and counts the assumptions", () => {
    const repeated = ledger.facts.map(({ id }) => id).filter((id, index, all) => all.indexOf(id) !== index);
    expect(repeated).toEqual([]);
    expect(ledger.total).toBe(
      ledger.facts.filter(({ why, origin }) => why !== undefined && origin === "assumed").length,
    );
    expect(ledger.facts.filter(({ origin, why }) => (origin === "document") !== (why === undefined))).toEqual([]);
  });

  test("contains the reason of every mark in the catalogue and the resources", () => {
    const marks = marksIn([catalogue, resources]);
    expect(marks.length).toBeGreaterThan(20);
    const reasons = new Set(ledger.facts.map(({ why, setting }) => `${why} ${setting}`));
    expect(marks.filter(({ why, setting }) => !reasons.has(`${why} ${setting}`))).toEqual([]);
  });

  test("contains the behaviours of every module", async () => {
    const declaring = sources.filter(({ text }) => text.includes("export const behaviours"));
    expect(declaring.length).toBeGreaterThan(1);
    for (const { file } of declaring) {
      const { behaviours } = (await import(join(SOURCES, file))) as { behaviours: MeasuredBehaviour[] };
      const declared = behaviours.flatMap(({ id, facts = [] }) => [id, ...facts.map((fact) => fact.id)]);
      const missing = declared.filter((id) => !ids.has(id));
      expect(missing, `import the behaviours of src/${file} in scripts/reference/documents.ts`).toEqual([]);
    }
  });

  test("contains every setting", () => {
    const settings = sources.flatMap(({ text }) => [...text.matchAll(/settableFact<[^>]+>\(\s*"([^"]+)"/g)]);
    const missing = settings.map(([, id = ""]) => id).filter((id) => !ids.has(id));
    expect([settings.length > 5, missing], "name them in the `facts` of a behaviour").toEqual([true, []]);
  });

  test("contains the status, category and code of every error; one status is documented, the rest assumed", () => {
    const stated = Object.entries(errors).flatMap(([code, { status, error }]) => [
      [`error.${code}.status`, status],
      [`error.${code}.category`, error],
      [`error.${code}.code`, code],
    ]);
    const listed = ledger.facts.filter(({ kind }) => kind.startsWith("error_"));
    expect(listed.map(({ id, value }) => [id, value])).toEqual(stated);
    expect(listed.filter(({ origin }) => origin === "document").map(({ id }) => id)).toEqual([
      "error.rate_limit_exceeded.status",
    ]);
  });

  test("describes every field of every resource", () => {
    for (const { kind, schema } of resources) {
      const names = Object.keys(schema.properties).map((name) => `${kind}.${name}`);
      expect(names.filter((id) => !ids.has(id))).toEqual([]);
    }
  });
});

test("the table of headers contains exactly the headers that the sandbox adds", () => {
  const named = sources
    .filter(({ file }) => /^(http|areas|faults|webhooks)\//.test(file))
    .flatMap(({ text }) =>
      [...text.matchAll(/"(X-Sandbox-[A-Za-z-]+|Idempotent-Replayed)"/g)].map((match) => match[1]),
    );
  const listed = serviceHeaders.map(({ name }) => name).filter((name) => /^X-Sandbox-|^Idempotent-/.test(name));
  expect([...new Set(named)].sort()).toEqual(listed.sort());
});

const replies = await exampleReplies();
const made = makePages(replies);
const pages = Object.fromEntries(
  ["reference.md", "control.md", "assumptions.md"].map((name) => [name, made[`docs/${name}`] ?? ""]),
);
const { "reference.md": reference = "" } = pages;

test("the hand-written pages have at most 15,000 words in total", () => {
  const root = join(SOURCES, "..");
  const texts = ["README.md", ...readdirSync(join(root, "docs")).map((name) => `docs/${name}`)]
    .filter((file) => file.endsWith(".md"))
    .map((file) => readFileSync(join(root, file), "utf8"))
    .filter((text) => !text.startsWith("<!-- Generated"));
  const words = texts.flatMap((text) => text.split(/\s+/).filter(Boolean)).length;
  expect(words, "shorten a page, or link to what another page says").toBeLessThanOrEqual(15_000);
});

/** Splits a command into unquoted words, as a shell does. */
function words(command: string): string[] {
  const parts = command.replaceAll(" \\\n", " ").matchAll(/((?:'[^']*'|\\'|[^\s'\\])+)/g);
  return [...parts].map(([part]) => part.replaceAll(/'([^']*)'|\\(')/g, (_, quoted, escaped) => quoted ?? escaped));
}

/** The request that a curl command makes. */
function readCurl(command: string) {
  const [program, ...rest] = words(command);
  const call = {
    program,
    method: "",
    url: "",
    headers: {} as Record<string, string>,
    body: undefined as string | undefined,
  };
  for (let index = 0; index < rest.length; index++) {
    const word = rest[index] as string;
    if (!word.startsWith("-")) call.url = word;
    else {
      const value = rest[++index] as string;
      if (word === "-X") call.method = value;
      else if (word === "-d") call.body = value;
      else call.headers[value.slice(0, value.indexOf(":"))] = value.slice(value.indexOf(":") + 2);
    }
  }
  return { ...call, method: call.method || (call.body === undefined ? "GET" : "POST") };
}

describe("the pages", () => {
  test.each(Object.entries(pages))("%s states how it is generated, and generation is deterministic", (name, page) => {
    expect(page.split("\n")[0]).toMatch(/^<!-- Generated by `npm run docs`/);
    const isFresh = makePages(replies)[`docs/${name}`] === page;
    expect(isFresh, `docs/${name} differs when it is generated again from the same replies`).toBe(true);
    expect(page).not.toMatch(/undefined|\[object|NaN/);
  });

  test.each(Object.entries(pages))("%s has well-formed tables, unique anchors and valid JSON", (_, page) => {
    expect(raggedRows(page)).toEqual([]);
    const anchors = [...page.matchAll(/<a id="([^"]+)">/g)].map((match) => match[1]);
    expect(new Set(anchors).size).toBe(anchors.length);
    for (const json of fences(page, "json")) expect(() => JSON.parse(json)).not.toThrow();
    for (const { body } of fences(page, "sh").map(readCurl))
      if (body !== undefined) expect(() => JSON.parse(body)).not.toThrow();
  });

  test("each operation has a command and a response in the reference, or a section in the control page", () => {
    expect(fences(reference, "sh")).toHaveLength(catalogue.length);
    expect(fences(reference, "json")).toHaveLength(catalogue.length);
    for (const { id } of catalogue) expect(reference).toContain(`<a id="${id}"></a>`);
    const { "control.md": control = "" } = pages;
    for (const { id } of controlCatalogue) expect(control).toContain(`<a id="${id}"></a>`);
    expect(fences(control, "sh")).toHaveLength(controlCatalogue.filter(({ body, example }) => body && example).length);
  });

  test("no page contains a complete key or secret", () => {
    for (const page of Object.values(pages))
      expect(page).not.toMatch(/(sk_test_|sk_test_session_|whsec_)[0-9A-Za-z]{20,}/);
  });

  test("the error table and the errors in the code are identical", () => {
    const section = reference.slice(reference.indexOf('<a id="errors">'), reference.indexOf('<a id="events">'));
    const rows = [...section.matchAll(/^\| (\d+) \| `(\w+)` \| `(\w+)` \| (.*?) \|/gm)].map(
      ([, status, code, error, when]) => ({
        code,
        status: Number(status),
        error,
        when,
      }),
    );
    const expected = Object.entries(errors).map(([code, { status, error, when }]) => ({ code, status, error, when }));
    expect(rows).toEqual(expected);
    const shown = [...reference.matchAll(/^\| (\d{3}) \| `(\w+)` \|/gm)].map(([, status, code]) => `${code} ${status}`);
    const known = new Set(expected.map(({ code, status }) => `${code} ${status}`));
    expect(shown.filter((pair) => !known.has(pair))).toEqual([]);
  });
});

/** The commands of a page with the ids of their operations. */
const commandsOf = (page: string) =>
  page
    .split('<a id="')
    .flatMap((section) =>
      fences(section, "sh").map((command) => [section.slice(0, section.indexOf('"')), command] as const),
    );

/** Sends the request of a curl command. */
function send(sandbox: Bench, command: string): Promise<Answer> {
  const { program, method, url, headers, body } = readCurl(command);
  const { pathname, search, origin } = new URL(url);
  expect([program, origin]).toEqual(["curl", "http://127.0.0.1:4747"]);
  return sandbox.call(method, pathname + search, { key: null, headers, body, contentType: null });
}

describe("the commands of the reference succeed on a freshly seeded sandbox", () => {
  const commands = commandsOf(reference);

  test.each(commands)("%s", async (id, command) => {
    const sandbox = await open();
    const { after } = exampleCalls().find((call) => call.id === id) ?? {};
    const before = commands.find(([name]) => name === after);
    if (before) await send(sandbox, before[1]);
    const answer = await send(sandbox, command);
    expect(answer.status, answer.text).toBeLessThan(300);
  });
});

describe("the commands of the control page succeed or return resource_not_found", () => {
  test.each(commandsOf(pages["control.md"] ?? ""))("%s", async (_, command) => {
    const answer = await send(await open(), command);
    expect(answer.status < 300 || answer.body.code === "resource_not_found", answer.text).toBe(true);
  });
});
