// The pages that people read: their links work, and the commands, options, error codes, keys and attacks that they name
// exist.

import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import { describe, expect, test } from "vitest";
import { everyCommand } from "../../src/cli/commands/index.ts";
import { errors } from "../../src/kernel/errors.ts";
import { flagOf, optionDefinitions } from "../../src/sandbox/options.ts";
import { panes, visiblePanes } from "../../ui/panes/index.ts";
import { detailKeys } from "../../ui/panes/keys/detail-keys.ts";
import { digitOf, keyGroups } from "../../ui/panes/keys/key-bindings.ts";
import type { Pane } from "../../ui/panes/pane.ts";
import { emptyDashboard } from "../support/live-rows.ts";

const root = join(import.meta.dirname, "../..");
const folders = ["", "docs", "fixtures/lessons", "recipes", "bench", "scripts", "scripts/openapi-tools"];
const pages = folders.flatMap((folder) =>
  readdirSync(join(root, folder))
    .filter((name) => name.endsWith(".md") || name === "llms.txt")
    .map((name) => join(folder, name)),
);
const commands = await everyCommand();
const read = (page: string) => readFileSync(join(root, page), "utf8");

/** A page without its code blocks, which other tests run or which show another program. */
const prose = (page: string) => read(page).replaceAll(/^```[\s\S]*?^```$/gm, "");

const slug = (heading: string) =>
  heading
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N} _-]/gu, "")
    .replaceAll(" ", "-");

const anchorsOf = (text: string) => [
  ...[...text.matchAll(/<a id="([^"]+)">/g)].map(([, id]) => id),
  ...[...text.matchAll(/^#+ (.*)$/gm)].map(([, heading = ""]) => slug(heading)),
];

describe.each(pages)("%s", (page) => {
  test("has no broken link", () => {
    const links = [...prose(page).matchAll(/\]\(([^)\s]+)\)/g)]
      .map(([, link = ""]) => link)
      .filter((link) => !/^[a-z]+:/.test(link));
    const broken = links.filter((link) => {
      const [file = "", anchor] = link.split("#");
      const target = file === "" ? join(root, page) : resolve(root, dirname(page), file);
      if (!existsSync(target) || relative(root, target).startsWith("..")) return true;
      return anchor !== undefined && !anchorsOf(readFileSync(target, "utf8")).includes(anchor);
    });
    expect(broken).toEqual([]);
  });

  test("names existing commands and flags", () => {
    const inProse = prose(page).matchAll(/`(?:npx )?merchant-sandbox ([^`]+)`/g);
    const inBlocks = read(page).matchAll(/^npx merchant-sandbox ([^#\s][^#\n]*)/gm);
    const spans = [...inProse, ...inBlocks].map(([, words = ""]) => words.split(/\s+/));
    const unknown = spans.filter((all) => {
      const words = all[0] === "help" ? [...all.slice(1), "--help"] : all;
      const named = words[0]?.startsWith("-") || words[0]?.startsWith("[") ? "start" : (words[0] ?? "");
      const command = commands[named];
      const known = [
        "--help",
        ...(words.includes("--help") ? ["--json"] : []),
        "--version",
        ...Object.keys(command?.flagsFor(words.slice(1)) ?? {}).map((name) => `--${name}`),
        ...Object.keys(optionDefinitions).map(flagOf),
      ];
      const own = words.slice(0, words.includes("--") ? words.indexOf("--") : undefined);
      return (
        !command ||
        own.some((word) => word.startsWith("--") && word !== "--" && !known.includes(word.replace(/[=.,;].*$/, "")))
      );
    });
    expect(unknown.map((words) => words.join(" "))).toEqual([]);
  });
});

test("docs/troubleshooting.md names existing error codes", () => {
  const named = [...read("docs/troubleshooting.md").matchAll(/\*\*(?:\d{3} )?`([a-z_]+)`/g)].map(
    ([, code = ""]) => code,
  );
  expect(named.length).toBeGreaterThan(4);
  expect(named.filter((code) => !(code in errors))).toEqual([]);
});

test("docs/troubleshooting.md quotes existing messages", () => {
  const sources = readdirSync(join(root, "src"), { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".ts"))
    .map((name) => read(join("src", name)))
    .join("\n");
  const quoted = [...read("docs/troubleshooting.md").matchAll(/\*\*`([^`]* [^`]*)`\*\*/g)].map(
    ([, message = ""]) => message,
  );
  expect(quoted.length).toBeGreaterThan(6);
  // A quotation has `…` or a number where the message varies.
  const made = quoted.filter(
    (message) => !message.split(/…|\d[\d.]*\d/).every((part) => sources.includes(part.trim())),
  );
  expect(made).toEqual([]);
});

test("docs/dashboard.md names working keys, and every pane", () => {
  const page = read("docs/dashboard.md");
  const state = emptyDashboard();
  const known = new Set(
    [...panes.flatMap(({ name }) => keyGroups({ ...state, pane: name })), { bindings: detailKeys }].flatMap(
      ({ bindings }) => bindings.flatMap(({ keys }) => keys),
    ),
  );
  const rows = page.split("## Keys")[1]?.match(/^\| `.*$/gm) ?? [];
  const named = rows.flatMap((row) => [...(row.split("|")[1] ?? "").matchAll(/`([^`]+)`/g)].map(([, key = ""]) => key));
  expect(named.length).toBeGreaterThan(20);
  expect(named.filter((key) => !known.has(key))).toEqual([]);
  const own = { ...state, learning: { id: "mer_lodge" }, app: { status: "", lines: [] } };
  const usual = visiblePanes(state);
  const shown = new Set([...usual, ...visiblePanes(own)]);
  // Only links open a pane without a tab.
  expect(panes.filter((pane) => !shown.has(pane)).map(({ name }) => name)).toEqual(["records"]);
  // The page shows no digit for a pane that exists only in a lesson or beside an app, nor for a pane after the tenth.
  const rowOf = (pane: Pane) => {
    const digit = usual.includes(pane) ? digitOf(usual.indexOf(pane)) : "";
    return `| ${digit === "" ? "" : `\`${digit}\` `}${pane.title} |`;
  };
  for (const pane of shown) expect(page).toContain(rowOf(pane));
});

interface ReleaseNotes {
  releaseNotes(tag: string, of: { changelog: string; version: string }): string;
}

describe("release notes", async () => {
  const { releaseNotes } = (await import(join(root, "scripts/release-notes.js"))) as ReleaseNotes;
  const changelog =
    "# Changelog\n\n## [Unreleased]\n\n## [0.2.0] - 2026-12-01\n\n### Added\n\n- A thing.\n\n## [0.1.0]\n\n- First.\n";

  test("are the section of the version in the changelog", () => {
    expect(releaseNotes("v0.2.0", { changelog, version: "0.2.0" })).toBe("### Added\n\n- A thing.");
  });

  test("are refused if the tag differs from package.json, or the changelog lacks the version", () => {
    expect(() => releaseNotes("v0.3.0", { changelog, version: "0.2.0" })).toThrow("tag v0.2.0");
    expect(() => releaseNotes("v0.3.0", { changelog, version: "0.3.0" })).toThrow("CHANGELOG.md says nothing of 0.3.0");
  });
});

const [, section = ""] = readFileSync(join(root, "SECURITY.md"), "utf8").split("## What is defended");
const [, , ...rows] = section.split("\n## ")[0]?.match(/^\|.*$/gm) ?? [];
const files = readdirSync(join(root, "test"), { recursive: true, encoding: "utf8" }).filter((path) =>
  path.endsWith(".test.ts"),
);

test("the table in SECURITY.md lists exactly the attacks that tests attempt", () => {
  const attempted = files.flatMap((path) =>
    [...readFileSync(join(root, "test", path), "utf8").matchAll(/^\s*attempted\("([^"]+)"/gm)].map(
      ([, attack]) => attack,
    ),
  );
  expect(attempted.length).toBeGreaterThan(rows.length);
  expect(rows.map((row) => row.split("|")[1]?.trim()).toSorted()).toEqual([...new Set(attempted)].toSorted());
});

test("each row of the table in SECURITY.md has a different attack, a defence, and attempts that all failed", () => {
  const cells = rows.map((row) => row.split("|").map((cell) => cell.trim()));
  expect(cells.filter(({ length }) => length !== 6)).toEqual([]);
  expect(cells.filter((row) => row.slice(1, -1).includes(""))).toEqual([]);
  expect(cells.filter(([, , , attempts, refused]) => attempts === "0" || attempts !== refused)).toEqual([]);
  expect(new Set(cells.map(([, attack]) => attack)).size).toBe(rows.length);
});

test("package.json and SECURITY.md name the same repository", () => {
  const { homepage, repository, bugs } = JSON.parse(read("package.json"));
  const [address] = homepage.split("#");
  expect([repository.url, bugs.url]).toEqual([`git+${address}.git`, `${address}/issues`]);
  expect(read("SECURITY.md")).toContain(`${address}/security/advisories/new`);
});
