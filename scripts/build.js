// Builds dist/: the command line and the library as bundles that need nothing but better-sqlite3, and what travels with them.

import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join, relative, sep } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { licencesOf } from "./licences.js";

const root = join(dirname(fileURLToPath(import.meta.url)), "..");
const dist = join(root, "dist");

const REQUIRE = 'const require = process.getBuiltinModule("node:module").createRequire(import.meta.url);';

/**
 * What is not bundled is required, also where the sources import it. An import reads every property of a module of Node's,
 * and behind some of node:http's stands half of Node: on Node 22 and later that costs more than all the rest of a start.
 */
const requireWhatStaysOutside = {
  name: "require-what-stays-outside",
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /^(node:.*|better-sqlite3)$/ }, ({ path, kind }) =>
      kind === "require-call" ? { path, external: true } : { path, namespace: "outside" },
    );
    onLoad({ filter: /.*/, namespace: "outside" }, ({ path }) => ({ contents: `module.exports = require(${JSON.stringify(path)});` }));
  },
};

/** Ink looks for this when a person debugs it; nobody does that with the bundle. */
const leaveOutDevtools = {
  name: "leave-out-devtools",
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /^react-devtools-core$/ }, ({ path }) => ({ path, namespace: "nothing" }));
    onLoad({ filter: /.*/, namespace: "nothing" }, () => ({ contents: "" }));
  },
};

// Not minified: it would save a few milliseconds of a start, and cost every stack trace its names.
const { outputFiles, metafile } = await build({
  absWorkingDir: root,
  entryPoints: {
    cli: "src/cli/main.ts",
    thread: "src/cli/thread.ts",
    index: "src/index.ts",
    vitest: "src/vitest.ts",
    documents: "src/documents.ts",
  },
  outdir: dist,
  bundle: true,
  // So that Express and the dashboard are read when somebody wants them, not at every start.
  splitting: true,
  chunkNames: "chunks/[name]-[hash]",
  format: "esm",
  platform: "node",
  target: "node20.19",
  // Where it is wanted, it is there: whoever imports merchant-sandbox/vitest runs vitest.
  external: ["vitest"],
  plugins: [requireWhatStaysOutside, leaveOutDevtools],
  // What the package names first is made of calls to require that no bundler can follow.
  alias: { "jsonc-parser": "jsonc-parser/lib/esm/main.js" },
  jsx: "automatic",
  banner: { js: REQUIRE },
  // Libraries decide at their first line how much they check; a React in development mode also leaks.
  define: { "process.env.NODE_ENV": '"production"' },
  legalComments: "none",
  metafile: true,
  write: false,
});

const written = new Set([
  ...outputFiles.map(({ path, text }) => put(relative(dist, path), text)),
  put("bin.cjs", readFileSync(join(root, "src/cli/bin.cjs"), "utf8")),
  put("THIRD-PARTY-LICENSES.txt", licencesOf(root, Object.keys(metafile.inputs))),
]);
chmodSync(join(dist, "bin.cjs"), 0o755);
for (const file of filesIn(dist)) if (!written.has(file)) rmSync(join(dist, file));

/** A file that is already as it should be is left alone: whoever runs from dist/ never sees it half written. */
function put(file, text) {
  const path = join(dist, file);
  mkdirSync(dirname(path), { recursive: true });
  if (!existsSync(path) || readFileSync(path, "utf8") !== text) writeFileSync(path, text);
  return file.replaceAll(sep, "/");
}

function filesIn(folder) {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => relative(folder, join(entry.parentPath, entry.name)).replaceAll(sep, "/"));
}
