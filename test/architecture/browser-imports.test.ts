// The dashboard in a browser is views over the modules of the terminal's: nothing that its bundle reaches needs Node or a terminal.

import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join, relative, resolve, sep } from "node:path";
import { expect, it } from "vitest";
import { explorer, visiblePanes } from "../../ui/panes/index.ts";
import { emptyDashboard } from "../support/live-rows.ts";

const root = join(import.meta.dirname, "../..");
const IMPORT = /^(?:import|export) (?!type )(?:[^;"]* from )?"([^"]+)";/gm;
const PACKAGES = ["preact", "preact/hooks", "string-width"];

const posix = (path: string) => path.split(sep).join("/");
const importsOf = (file: string) => [...readFileSync(join(root, file), "utf8").matchAll(IMPORT)].map(([, specifier = ""]) => specifier);

/** Everything that a module imports, itself or through others. */
function reached(start: string): { files: string[]; packages: string[] } {
  const files = new Set([start]);
  const packages = new Set<string>();
  for (const file of files)
    for (const specifier of importsOf(file)) {
      if (specifier.startsWith(".")) files.add(posix(relative(root, resolve(root, file, "..", specifier))));
      else packages.add(specifier);
    }
  return { files: [...files], packages: [...packages] };
}

const { files, packages } = reached("ui/browser/main.tsx");

it("the page reaches no module of Node, of Ink or of the network, but the packages of its bundle", () => {
  expect(packages.filter((name) => !PACKAGES.includes(name))).toEqual([]);
  expect(files.filter((file) => /\bBuffer\./.test(readFileSync(join(root, file), "utf8")))).toEqual([]);
});

it("the page reaches the panes, details, controls, keys and the state of the terminal's dashboard, and nothing that paints a terminal", () => {
  expect(files.filter((file) => file.startsWith("ui/terminal/"))).toEqual([]);
  for (const file of ["ui/state/state.ts", "ui/panes/index.ts", "ui/controls/index.ts", "ui/keys/key-bindings.ts", "ui/run-effects.ts"])
    expect(files).toContain(file);
});

it("the explorer is the only pane that the page has and the terminal has not", () => {
  const state = emptyDashboard();
  expect(visiblePanes({ ...state, isPage: true })).toEqual([...visiblePanes(state), explorer]);
});

it("nothing but the build imports the views of the page", () => {
  const sources = ["src", "ui"].flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: "utf8" }).map((file) => `${folder}/${posix(file)}`),
  );
  const outside = sources.filter((file) => /\.tsx?$/.test(file) && !file.startsWith("ui/browser/") && existsSync(join(root, file)));
  expect(outside.filter((file) => importsOf(file).some((specifier) => /(?:^|\/)browser\//.test(specifier)))).toEqual([]);
});
