// Writes types/: the public declarations, which need no types of other packages. The files are committed, so that a
// review shows how a change affects users' programs. `--check` writes nothing, and fails if a file is out of date.

import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { generateDtsBundle } from "dts-bundle-generator";
import { TypesUsageEvaluator } from "dts-bundle-generator/dist/types-usage-evaluator.js";
import ts from "typescript";
import { writeGenerated } from "./generated-files.js";
import { loadSource } from "./load-source.js";

const root = join(dirname(fileURLToPath(import.meta.url)), "..");
const { optionDescriptions } = await loadSource(root, "scripts/docs/pages.ts");
const NOTE = "// Written from the sources by `npm run docs`: change those, not this.\n";

TypesUsageEvaluator.prototype.isSymbolUsedBySymbol = isUsedBy;

const declarations = {
  "types/index.d.cts": library(),
  "types/vitest.d.ts": ofEntry("vitest"),
  "types/playwright.d.ts": ofEntry("playwright"),
};
writeGenerated(
  root,
  declarations,
  (stale) => `The types of the library changed: ${stale}. Run \`npm run docs\`, look at the difference, and commit it.`,
);

function library() {
  const folder = mkdtempSync(join(tmpdir(), "merchant-sandbox-types-"));
  try {
    // `npm run types` checks the sources, so another check would only take time.
    const config = join(folder, "tsconfig.json");
    const compilerOptions = { noCheck: true, typeRoots: [join(root, "node_modules/@types")] };
    writeFileSync(
      config,
      JSON.stringify({ extends: join(root, "tsconfig.json"), compilerOptions, files: [join(root, "src/index.ts")] }),
    );
    const entry = {
      filePath: join(root, "src/index.ts"),
      noCheck: true,
      output: { noBanner: true, exportReferencedTypes: false },
    };
    const [bundle] = generateDtsBundle([entry], { preferredConfigPath: config });
    // Most projects compile against a lib that does not have `await using` yet.
    return `${NOTE}/// <reference lib="esnext.disposable" />\n\n${withWords(bundle.replaceAll("\t", "  "))}`;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/**
 * Whether a symbol is used by another symbol, directly or indirectly. The method of dts-bundle-generator searches again
 * for each pair of symbols, which took half of the time of the bundling. This method searches once for each symbol that
 * uses others.
 */
function isUsedBy(symbol, by) {
  const user = this.getActualSymbol(by);
  this.usedBy ??= new Map();
  if (!this.usedBy.has(user)) this.usedBy.set(user, allUsedBy(user, this.nodesParentsMap));
  return this.usedBy.get(user).has(this.getActualSymbol(symbol));
}

/** The symbol and everything that it uses. `usersOf` has the direct users of each symbol. */
function allUsedBy(user, usersOf) {
  const found = new Set([user]);
  for (let size = 0; size < found.size; ) {
    size = found.size;
    for (const [used, users] of usersOf)
      if (!found.has(used) && [...users].some((one) => found.has(one))) found.add(used);
  }
  return found;
}

/** Adds each option's help text as its doc comment. */
function withWords(bundle) {
  return bundle.replace(/^interface Options \{\n([^}]*)\}/m, (text) =>
    text.replaceAll(/^ {2}(\w+): /gm, (line, name) => `  /** ${optionDescriptions[name]} */\n${line}`),
  );
}

/** The entry for a test runner becomes one file that imports the declarations of the library. */
function ofEntry(name) {
  const source = readFileSync(join(root, `src/${name}.ts`), "utf8");
  const { outputText } = ts.transpileDeclaration(source, {
    fileName: `${name}.ts`,
    compilerOptions: { target: ts.ScriptTarget.ES2023, module: ts.ModuleKind.NodeNext, declaration: true },
  });
  const text = outputText
    .replaceAll("./index.ts", "./index.cjs")
    .replaceAll(/^( +)/gm, (indent) => indent.slice(indent.length / 2));
  return `${NOTE}\n${text}`;
}
