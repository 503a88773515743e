// `npm run size` prints the lines of src, ui and test by directory, how much they grew since the last tag or a given
// commit, the twenty longest functions, and the words of each hand-written page. A line of more than 120 columns counts
// as the number of lines that it would fill.

import { execFileSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import ts from "typescript";

const root = join(import.meta.dirname, "..");
const COLUMNS = 120;
const PLACES = ["src", "ui", "test"];
const LONGEST = 20;

const git = (...words) => execFileSync("git", words, { cwd: root, encoding: "utf8", maxBuffer: 2 ** 28 });

/** The newest tag; undefined if there is none. */
function lastTag() {
  try {
    return execFileSync("git", ["describe", "--tags", "--abbrev=0"], {
      cwd: root,
      encoding: "utf8",
      stdio: ["ignore", "pipe", "ignore"],
    }).trim();
  } catch {
    return undefined;
  }
}

/** `src/http/pipeline.ts` is in the directory src/http, `src/index.ts` in src. */
const directoryOf = (file) => file.split("/").slice(0, -1).slice(0, 2).join("/");

const isCode = (file) => /\.(ts|tsx|js|cjs|css)$/.test(file);

function linesOf(text) {
  const lines = text.replace(/\n$/, "").split("\n");
  return lines.reduce((sum, line) => sum + Math.max(1, Math.ceil(line.length / COLUMNS)), 0);
}

/** The texts of the code in the working tree. */
function workingFiles() {
  const listed = git("ls-files", "--cached", "--others", "--exclude-standard", "--", ...PLACES);
  const files = listed.split("\n").filter((file) => isCode(file) && existsSync(join(root, file)));
  return new Map(files.map((file) => [file, readFileSync(join(root, file), "utf8")]));
}

/**
 * The texts of the code in a commit. One git process prints all texts, each after a line that ends with its size.
 */
function filesOf(commit) {
  const listed = git("ls-tree", "-r", "--name-only", commit, "--", ...PLACES);
  const files = listed.split("\n").filter(isCode);
  const input = files.map((file) => `${commit}:${file}\n`).join("");
  const printed = execFileSync("git", ["cat-file", "--batch"], { cwd: root, input, maxBuffer: 2 ** 28 });
  let at = 0;
  return new Map(
    files.map((file) => {
      const start = printed.indexOf("\n", at) + 1;
      const end = start + Number(printed.toString("utf8", at, start).trim().split(" ").at(-1));
      at = end + 1;
      return [file, printed.toString("utf8", start, end)];
    }),
  );
}

function linesByDirectory(files) {
  const directories = new Map();
  for (const [file, text] of files)
    directories.set(directoryOf(file), (directories.get(directoryOf(file)) ?? 0) + linesOf(text));
  return directories;
}

/** Each function, with the number of lines from its first to its last line. */
function functionsIn(file, text) {
  if (!/\.(ts|tsx|js)$/.test(file)) return [];
  const source = ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true);
  const found = [];
  const visit = (node) => {
    if (ts.isFunctionLike(node) && node.body !== undefined) {
      const [first, last] = [node.getStart(source), node.end].map(
        (position) => source.getLineAndCharacterOfPosition(position).line + 1,
      );
      found.push({ file, line: first, name: nameOf(node), lines: last - first + 1 });
    }
    ts.forEachChild(node, visit);
  };
  visit(source);
  return found;
}

function nameOf({ name, parent }) {
  if (name !== undefined) return name.getText();
  return ts.isVariableDeclaration(parent) || ts.isPropertyAssignment(parent) ? parent.name.getText() : "(no name)";
}

const number = (value) => value.toLocaleString("en-GB").padStart(9);
const signed = (value) => (value === 0 ? "" : `${value > 0 ? "+" : ""}${value.toLocaleString("en-GB")}`).padStart(9);

function printDirectories(now, before, since) {
  const sum = (directories, place) =>
    [...directories].reduce(
      (total, [directory, lines]) => total + (`${directory}/`.startsWith(`${place}/`) ? lines : 0),
      0,
    );
  console.log(`Lines at ${COLUMNS} columns${since === undefined ? "" : `, and their growth since ${since}`}`);
  for (const place of PLACES) {
    const growth = (lines, old) => (before === undefined ? "" : signed(lines - old));
    console.log(`\n${place.padEnd(22)}${number(sum(now, place))}${growth(sum(now, place), sum(before ?? [], place))}`);
    const directories = [...new Set([...now.keys(), ...(before?.keys() ?? [])])].filter((directory) =>
      `${directory}/`.startsWith(`${place}/`),
    );
    for (const directory of directories.sort()) {
      const lines = now.get(directory) ?? 0;
      console.log(`  ${directory.padEnd(20)}${number(lines)}${growth(lines, before?.get(directory) ?? 0)}`);
    }
  }
}

const files = workingFiles();
const since = process.argv[2] ?? lastTag();
printDirectories(linesByDirectory(files), since === undefined ? undefined : linesByDirectory(filesOf(since)), since);

console.log(`\nThe ${LONGEST} longest functions of src and ui`);
const functions = [...files]
  .filter(([file]) => !file.startsWith("test/"))
  .flatMap(([file, text]) => functionsIn(file, text));
for (const { lines, name, file, line } of functions.sort((one, other) => other.lines - one.lines).slice(0, LONGEST))
  console.log(`${String(lines).padStart(5)}  ${name}  ${file}:${line}`);

/** The README and docs/, including blocks and tables, without the pages that a command generates. */
const pages = ["README.md", ...readdirSync(join(root, "docs")).map((name) => `docs/${name}`)]
  .filter((name) => name.endsWith(".md"))
  .map((name) => ({ name, text: readFileSync(join(root, name), "utf8") }))
  .filter(({ text }) => !text.startsWith("<!-- Generated"))
  .map(({ name, text }) => ({ name, words: text.split(/\s+/).filter(Boolean).length }));
console.log(`\nWords of the pages that are written by hand${number(pages.reduce((sum, { words }) => sum + words, 0))}`);
for (const { name, words } of pages) console.log(`  ${name.padEnd(28)}${number(words)}`);
