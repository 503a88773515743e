// Builds dist/: the command line and the library as bundles that need nothing but better-sqlite3, and what travels with them.

import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join, relative, sep } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { licencesOf } from "./licences.js";

const root = join(dirname(fileURLToPath(import.meta.url)), "..");
const dist = join(root, "dist");

/** Where it is wanted, it is there: better-sqlite3 comes with us, and whoever imports merchant-sandbox/vitest runs vitest. */
const external = ["better-sqlite3", "vitest"];

const common = {
  absWorkingDir: root,
  outdir: dist,
  bundle: true,
  platform: "node",
  target: "node20.19",
  external,
  jsx: "automatic",
  // Libraries decide at their first line how much they check; a React in development mode also leaks.
  define: { "process.env.NODE_ENV": '"production"', "import.meta.dirname": "__dirname" },
  // Not minified: it would save a few milliseconds of a start, and cost every stack trace its names.
  legalComments: "none",
  metafile: true,
  write: false,
};

/** What the program is asked for, each as a function, so that nothing runs before it is wanted. */
const parts = {
  cli: "src/cli/main.ts",
  thread: "src/cli/process/worker-entry.ts",
  index: "src/index.ts",
  documents: "src/sandbox/documents.ts",
};

/** `?raw` imports a file as its text, as vite does for the tests. */
const rawText = {
  name: "raw-text",
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /\?raw$/ }, ({ path, resolveDir }) => ({
      path: join(resolveDir, path.slice(0, -"?raw".length)),
      namespace: "raw",
    }));
    onLoad({ filter: /.*/, namespace: "raw" }, ({ path }) => ({ contents: readFileSync(path, "utf8"), loader: "text" }));
  },
};

/** Packages that the program asks for when it needs them, with the file in which each is. */
const packages = new Map();

/** What jsonc-parser names first is made of calls to require that no bundler can follow. */
const entries = { "jsonc-parser": "jsonc-parser/lib/esm/main.js" };

const requirePackages = {
  name: "require-packages",
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /^[^./]/, namespace: "file" }, ({ path }) => {
      if (path.startsWith("node:") || external.includes(path)) return undefined;
      packages.set(path, `packages/${path.split("/")[0]}`);
      return { path, namespace: "package" };
    });
    onResolve({ filter: /.*/, namespace: "package" }, ({ path }) => ({ path, external: true }));
    onLoad({ filter: /.*/, namespace: "package" }, ({ path }) => ({
      contents: `module.exports = require("./${packages.get(path)}.cjs");`,
    }));
  },
};

/** Whose file it is, it is imported from there and not taken in. */
const importFromItsFile = (filter, path) => ({
  name: "import-from-its-file",
  setup: ({ onResolve }) => onResolve({ filter }, ({ kind }) => (kind === "entry-point" ? undefined : { path, external: true })),
});

/** All code of ours in one file of CommonJS: Node reads that in half the time that it takes for as much in dozens of modules. */
const program = await build({
  ...common,
  format: "cjs",
  stdin: {
    contents: Object.entries(parts)
      .map(([name, path]) => `exports.${name} = () => require("./${path}");`)
      .join("\n"),
    resolveDir: root,
    sourcefile: "program.cjs",
  },
  outdir: undefined,
  outfile: join(dist, "program.cjs"),
  // Ink waits for something as it is read, which CommonJS cannot; and only a terminal needs it.
  plugins: [rawText, requirePackages, importFromItsFile(/\/terminal-session\.ts$/, "./dashboard.js")],
});

const parcels = await build({
  ...common,
  format: "cjs",
  outExtension: { ".js": ".cjs" },
  entryPoints: [...packages].map(([path, out]) => ({ in: entries[path] ?? path, out })),
});

/** Ink looks for this when a person debugs it; nobody does that with the bundle. */
const leaveOutDevtools = {
  name: "leave-out-devtools",
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /^react-devtools-core$/ }, ({ path }) => ({ path, namespace: "nothing" }));
    onLoad({ filter: /.*/, namespace: "nothing" }, () => ({ contents: "" }));
  },
};

/** Where there is a fetch, Ink's layout reads by it the bytes that it brings along, and Node must read all of fetch first. */
const decodeWithoutFetch = {
  name: "decode-without-fetch",
  setup: ({ onLoad }) =>
    onLoad({ filter: /\/yoga-wasm-base64-esm\.js$/ }, ({ path }) => ({
      contents: `const fetch = undefined;\n${readFileSync(path, "utf8")}`,
    })),
};

const modules = await build({
  ...common,
  format: "esm",
  entryPoints: { dashboard: "src/cli/output/terminal-session.ts", vitest: "src/vitest.ts" },
  plugins: [leaveOutDevtools, decodeWithoutFetch, importFromItsFile(/^\.\/index\.ts$/, "./index.cjs")],
  banner: { js: 'const require = process.getBuiltinModule("node:module").createRequire(import.meta.url);' },
  define: { "process.env.NODE_ENV": '"production"' },
});

/** The files by which the parts are reached from elsewhere, so short that Node finds the names in them at once; the command line has its own. */
const { cli, ...reached } = parts;
const { metafile } = await build({
  ...common,
  format: "esm",
  entryPoints: reached,
  plugins: [importFromItsFile(/.*/, "./program.cjs")],
});

function door(name) {
  const names = metafile.outputs[`dist/${name}.js`].exports.join(", ");
  const program = `require("./program.cjs").${name}()`;
  return names === "" ? `${program};\n` : `const { ${names} } = ${program};\n\nmodule.exports = { ${names} };\n`;
}

const bundles = [program, parcels, modules];
const written = new Set([
  ...bundles.flatMap(({ outputFiles }) => outputFiles.map(({ path, text }) => put(relative(dist, path), text))),
  ...Object.keys(reached).map((name) => put(`${name}.cjs`, door(name))),
  put("bin.cjs", readFileSync(join(root, "src/cli/bin.cjs"), "utf8")),
  put("THIRD-PARTY-LICENSES.txt", licencesOf(root, [...new Set(bundles.flatMap(({ metafile }) => Object.keys(metafile.inputs)))])),
]);
chmodSync(join(dist, "bin.cjs"), 0o755);
written.add(put("world.db", await usualWorld()));
for (const file of filesIn(dist)) if (!written.has(file)) rmSync(join(dist, file));

/** The world that a sandbox begins with unless it is told otherwise. Fixtures that are named are seeded anew. */
async function usualWorld() {
  const { createSandbox } = createRequire(import.meta.url)(join(dist, "index.cjs"));
  const sandbox = await createSandbox({ fixtures: join(root, "fixtures/merchants") });
  const { file } = await sandbox.snapshots.save({ name: "usual" });
  const bytes = readFileSync(file);
  await sandbox.close();
  return bytes;
}

/** A file that is already as it should be is left alone: whoever runs from dist/ never sees it half written. */
function put(file, content) {
  const path = join(dist, file);
  mkdirSync(dirname(path), { recursive: true });
  if (!existsSync(path) || !readFileSync(path).equals(Buffer.from(content))) writeFileSync(path, content);
  return file.replaceAll(sep, "/");
}

function filesIn(folder) {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => relative(folder, join(entry.parentPath, entry.name)).replaceAll(sep, "/"));
}
