// The import order: each layer of directories imports only the layers below it, and the dashboard in a browser needs
// neither Node nor a terminal.

import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join, relative, resolve, sep } from "node:path";
import { describe, expect, it } from "vitest";
import { explorer, visiblePanes } from "../../ui/panes/index.ts";
import { emptyDashboard } from "../support/live-rows.ts";

/** Top to bottom. A directory may import anything from a lower layer, but only types from its own layer. */
const LAYERS: readonly (readonly string[])[] = [
  ["cli"],
  ["vitest.ts", "playwright.ts"],
  ["index.ts"],
  ["sandbox"],
  ["control"],
  [
    "webhooks",
    "live",
    "life",
    "reference",
    "areas",
    "judge",
    "scenarios",
    "lessons",
    "verify",
    "report",
    "audit",
    "compare",
    "telemetry",
  ],
  ["faults"],
  ["http"],
  ["store"],
  ["client"],
  ["contracts"],
  ["schema"],
  ["kernel"],
];

/** The dashboard calls the sandbox over HTTP, so it imports only code that both sides of the connection share. */
const DASHBOARD_MAY_IMPORT = ["client", "contracts", "schema", "kernel"];

/** The directories of the dashboard, top to bottom. */
const DASHBOARD_LAYERS = [["terminal", "browser"], ["view"], ["panes"], ["state"], ["connection", "text"]];

interface Import {
  from: string;
  to: string;
  isType: boolean;
}

const root = join(import.meta.dirname, "../..");
const IMPORT = /^(?:import|export) (type )?[^;]*?from "(\.[^"]+)";|import\("(\.[^"]+)"\)/gm;

const sourcesOf = (folder: string) =>
  readdirSync(join(root, folder), { recursive: true, encoding: "utf8" })
    .filter((file) => /\.tsx?$/.test(file))
    .map((file) => join(root, folder, file));

function importsOf(file: string): Import[] {
  const found = [...readFileSync(file, "utf8").matchAll(IMPORT)];
  return found.map(([, type, specifier, dynamic]) => {
    const target = resolve(file, "..", specifier ?? dynamic ?? "");
    return { from: posix(relative(root, file)), to: posix(relative(root, target)), isType: type !== undefined };
  });
}

const posix = (path: string) => path.split(sep).join("/");
const directoryOf = (path: string) => path.split("/")[1] ?? "";
const layerOf = (path: string) => LAYERS.findIndex((directories) => directories.includes(directoryOf(path)));

/** The imports that break the order. */
const violations = (imports: readonly Import[]) =>
  imports.filter((one) => breaksOrder(one)).map(({ from, to }) => `${from} imports ${to}`);

function breaksOrder({ from, to, isType }: Import): boolean {
  if (from.startsWith("ui/")) return to.startsWith("src/") && !DASHBOARD_MAY_IMPORT.includes(directoryOf(to));
  if (to.startsWith("ui/")) return directoryOf(from) !== "cli";
  if (!to.startsWith("src/") || directoryOf(from) === directoryOf(to)) return false;
  const steps = layerOf(to) - layerOf(from);
  return steps < 0 || (steps === 0 && !isType);
}

/** The first import cycle, counting type imports; undefined if there is none. */
function circleIn(imports: readonly Import[]): string[] | undefined {
  const importedBy = new Map<string, string[]>();
  for (const { from, to } of imports) importedBy.set(from, [...(importedBy.get(from) ?? []), to]);
  const done = new Set<string>();
  const visit = (file: string, path: readonly string[]): string[] | undefined => {
    if (path.includes(file)) return [...path.slice(path.indexOf(file)), file];
    if (done.has(file)) return undefined;
    for (const to of importedBy.get(file) ?? []) {
      const circle = visit(to, [...path, file]);
      if (circle) return circle;
    }
    done.add(file);
    return undefined;
  };
  for (const file of importedBy.keys()) {
    const circle = visit(file, []);
    if (circle) return circle;
  }
  return undefined;
}

describe("the import order", () => {
  it("lists every directory of src", () => {
    expect(readdirSync(join(root, "src")).toSorted()).toEqual(LAYERS.flat().toSorted());
  });

  it("holds between the directories of the dashboard", () => {
    expect(readdirSync(join(root, "ui")).toSorted()).toEqual(DASHBOARD_LAYERS.flat().toSorted());
    const layerOf = (directory: string) => DASHBOARD_LAYERS.findIndex((directories) => directories.includes(directory));
    const directory = (path: string) => /^ui\/([^/]+)\//.exec(path)?.[1] ?? "";
    const upward = sourcesOf("ui")
      .flatMap(importsOf)
      .filter(({ from, to }) => to.startsWith("ui/") && directory(from) !== directory(to))
      .filter(({ from, to }) => layerOf(directory(to)) <= layerOf(directory(from)));
    expect(upward).toEqual([]);
  });

  it("holds in src and ui", () => {
    const found = violations(["src", "ui"].flatMap(sourcesOf).flatMap(importsOf));
    expect(found, "CONTRIBUTING.md lists what a directory may import, under Import order").toEqual([]);
  });

  it("allows no functions in contracts, only types and data such as schemas", async () => {
    const files = readdirSync(join(root, "src/contracts"));
    const functionsOf = async (file: string) =>
      Object.entries(await import(`../../src/contracts/${file.slice(0, -".ts".length)}.ts`))
        .filter(([, value]) => typeof value === "function")
        .map(([name]) => `${file} ${name}`);
    expect((await Promise.all(files.map(functionsOf))).flat()).toEqual([]);
  });

  it("has no import cycles", () => {
    expect(circleIn(["src", "ui"].flatMap(sourcesOf).flatMap(importsOf))).toBeUndefined();
    const circle = ["a", "b", "c"].map((from, index, all) => ({ from, to: all[(index + 1) % 3] ?? "", isType: true }));
    expect(circleIn(circle)).toEqual(["a", "b", "c", "a"]);
  });

  it.each([
    ["a lower layer importing a higher one", "src/store/stores.ts", "src/http/pipeline.ts", false],
    ["a lower layer importing the types of a higher one", "src/kernel/clock.ts", "src/store/stores.ts", true],
    ["a directory importing values of its own layer", "src/http/pipeline.ts", "src/areas/index.ts", false],
    ["a service directory importing the dashboard", "src/live/hub.ts", "ui/terminal/dashboard.ts", false],
    ["the dashboard importing a service directory", "ui/terminal/dashboard.ts", "src/http/pipeline.ts", true],
  ])("rejects %s", (_, from, to, isType) => {
    expect(violations([{ from, to, isType }])).toEqual([`${from} imports ${to}`]);
  });
});

const VALUE_IMPORT = /^(?:import|export) (?!type )(?:[^;"]* from )?"([^"]+)";/gm;
const PACKAGES = ["preact", "preact/hooks", "string-width"];

/** The files and packages that a file imports, without its type imports. */
const valueImportsOf = (file: string) =>
  [...readFileSync(join(root, file), "utf8").matchAll(VALUE_IMPORT)].map(([, specifier = ""]) => specifier);

/** The files and packages that a module imports, directly or through other modules. */
function reached(start: string): { files: string[]; packages: string[] } {
  const files = new Set([start]);
  const packages = new Set<string>();
  for (const file of files)
    for (const specifier of valueImportsOf(file)) {
      if (specifier.startsWith(".")) files.add(posix(relative(root, resolve(root, file, "..", specifier))));
      else packages.add(specifier);
    }
  return { files: [...files], packages: [...packages] };
}

const { files, packages } = reached("ui/browser/main.tsx");

it("the page imports only the packages of its bundle, and does not use Buffer", () => {
  expect(packages.filter((name) => !PACKAGES.includes(name))).toEqual([]);
  expect(files.filter((file) => /\bBuffer\./.test(readFileSync(join(root, file), "utf8")))).toEqual([]);
});

it("the page imports the panes, controls, keys and state of the dashboard, but nothing of ui/terminal", () => {
  expect(files.filter((file) => file.startsWith("ui/terminal/"))).toEqual([]);
  for (const file of [
    "ui/state/state.ts",
    "ui/panes/index.ts",
    "ui/panes/controls/index.ts",
    "ui/panes/keys/key-bindings.ts",
    "ui/panes/run-effects.ts",
  ])
    expect(files).toContain(file);
});

it("the explorer is the only pane of the page that the terminal lacks", () => {
  const state = emptyDashboard();
  const page = visiblePanes({ ...state, isPage: true });
  expect(page).toContain(explorer);
  expect(page.filter((pane) => pane !== explorer)).toEqual(visiblePanes(state));
});

it("no file outside of ui/browser imports the views of the page", () => {
  const sources = ["src", "ui"].flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: "utf8" }).map((file) => `${folder}/${posix(file)}`),
  );
  const outside = sources.filter(
    (file) => /\.tsx?$/.test(file) && !file.startsWith("ui/browser/") && existsSync(join(root, file)),
  );
  expect(
    outside.filter((file) => valueImportsOf(file).some((specifier) => /(?:^|\/)browser\//.test(specifier))),
  ).toEqual([]);
});
