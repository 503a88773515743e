// Builds dist/: bundles of the command line and of the library, which need only better-sqlite3, and the files that the
// bundles read.

import { createHash } from "node:crypto";
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join, relative, sep } from "node:path";
import { fileURLToPath } from "node:url";
import Sqlite from "better-sqlite3";
import { build, transform } from "esbuild";
import { exampleReplies } from "./example-replies.js";
import "./generate.js";
import { licencesOf } from "./licences.js";
import { loadSource } from "./load-source.js";
import { rawText } from "./raw-text.js";

const root = join(dirname(fileURLToPath(import.meta.url)), "..");
const dist = join(root, "dist");

if (process.stderr.isTTY) process.stderr.write("Building merchant-sandbox, which takes some seconds …\n");

/** Packages that are not bundled: a dependency of the package, and test runners that users install themselves. */
const external = ["better-sqlite3", "vitest", "@playwright/test"];

const common = {
  absWorkingDir: root,
  outdir: dist,
  bundle: true,
  platform: "node",
  target: "node20.19",
  external,
  jsx: "automatic",
  // Turns off the development checks of libraries, which read this value once. React's development mode leaks memory.
  define: { "process.env.NODE_ENV": '"production"', "import.meta.dirname": "__dirname" },
  // Identifiers keep their names, because stack traces show them. `compacted` removes white space from the result.
  legalComments: "none",
  metafile: true,
  write: false,
};

/** The entry points. In the bundle, each entry point is a function, so that no code runs before it is needed. */
const parts = {
  cli: "src/cli/main.ts",
  thread: "src/cli/process/worker-entry.ts",
  restore: "src/sandbox/restore-thread.ts",
  index: "src/index.ts",
};

/** The output files of the packages that are loaded on demand, by package. */
const packages = new Map();

/** The default entry of jsonc-parser is a UMD module, whose require calls esbuild cannot follow. */
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

/**
 * Makes these modules of Node load where they are first used. Few starts use any of these modules, and together they
 * take 5 % of a start.
 */
const loadWhenUsed = {
  name: "load-when-used",
  setup({ onResolve, onLoad }) {
    onResolve(
      { filter: /^node:(child_process|fs\/promises|readline|worker_threads|zlib)$/, namespace: "file" },
      ({ path }) => ({
        path,
        namespace: "used",
      }),
    );
    onLoad({ filter: /.*/, namespace: "used" }, ({ path }) => ({
      contents: `
        for (const name of ${JSON.stringify(Object.keys(process.getBuiltinModule(path)))}) {
          const get = () => process.getBuiltinModule("${path}")[name];
          Object.defineProperty(exports, name, { get, enumerable: true });
        }`,
    }));
  },
};

/** Imports a module of src from the module's output file instead of bundling the module again. */
const importFromItsFile = (filter, path) => ({
  name: "import-from-its-file",
  setup: ({ onResolve }) =>
    onResolve({ filter }, ({ kind, importer }) =>
      kind === "entry-point" || !importer.startsWith(join(root, "src")) ? undefined : { path, external: true },
    ),
});

/** The terminal's code is a separate file, because Ink uses top-level await, which CommonJS lacks. */
const terminal = importFromItsFile(/\/terminal-session\.ts$/, "./dashboard.js");

/**
 * Code that V8 loads from the cache cannot use import(), so the program requires dashboard.cjs, which imports
 * dashboard.js.
 */
const withoutImport = (code) => code.replace('import("./dashboard.js")', 'require("./dashboard.cjs")');

/** All our code is in one CommonJS file, because Node loads one file in half the time of dozens of modules. */
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
  plugins: [rawText(root), loadWhenUsed, requirePackages, terminal],
});

/** Ink imports its devtools only for debugging. */
const leaveOutUnused = {
  name: "leave-out-unused",
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /^react-devtools-core$/ }, ({ path }) => ({ path, namespace: "nothing" }));
    onLoad({ filter: /.*/, namespace: "nothing" }, () => ({ contents: "" }));
  },
};

/** Minifies packages, but not our own code. */
const minifyPackages = {
  name: "minify-packages",
  setup: ({ onLoad }) =>
    onLoad({ filter: /\/node_modules\/.*\.[cm]?js$/ }, async ({ path }) => {
      const { code } = await transform(readFileSync(path, "utf8"), {
        minify: true,
        legalComments: "none",
        target: common.target,
        define: common.define,
      });
      return { contents: code, loader: "js" };
    }),
};

/**
 * Bundles only Express's router, because the sources import nothing else of Express. Express takes 21 ms to load and
 * 818 KB; its router takes 7 ms and 32 KB.
 */
const routerOfExpress = {
  name: "router-of-express",
  setup: ({ onLoad }) =>
    onLoad({ filter: /\/node_modules\/express\/index\.js$/ }, ({ path }) => ({
      contents: 'exports.Router = require("router");',
      resolveDir: dirname(path),
    })),
};

const bundledPackages = await build({
  ...common,
  format: "cjs",
  outExtension: { ".js": ".cjs" },
  plugins: [leaveOutUnused, routerOfExpress, minifyPackages],
  entryPoints: [...packages].map(([path, out]) => ({ in: entries[path] ?? path, out })),
});

/**
 * Yoga, the layout engine of Ink, decodes its WASM with fetch if fetch exists. Node would then have to load all of
 * fetch.
 */
const decodeWithoutFetch = {
  name: "decode-without-fetch",
  setup: ({ onLoad }) =>
    onLoad({ filter: /\/yoga-wasm-base64-esm\.js$/ }, ({ path }) => ({
      contents: `const fetch = undefined;\n${readFileSync(path, "utf8")}`,
    })),
};

/** Replaces text in a file of a package. The text must occur exactly once in the file. */
const replaceIn = (name, filter, part, instead) => ({
  name,
  setup: ({ onLoad }) =>
    onLoad({ filter }, ({ path }) => {
      const [before, after, ...more] = readFileSync(path, "utf8").split(part);
      if (after === undefined || more.length > 0) throw new Error(`${path} does not have ${part} once.`);
      return { contents: before + instead + after };
    }),
});

/**
 * For each cell of a frame, Ink computes the escape codes that turn the style of the previous cell into the style of
 * this cell. Most cells have the same style and need no codes. If the styles are compared first, Ink takes 2 ms for a
 * frame of 120x36 instead of 17 ms.
 */
const compareStylesFirst = replaceIn(
  "compare-styles-first",
  /\/ansi-tokenize\/build\/diff\.js$/,
  "function diffAnsiCodes(from, to) {",
  `function diffAnsiCodes(from, to) {
    if (from.length === to.length && from.every(({ code }, index) => code === to[index].code)) return [];`,
);

/**
 * Ink divides each line of a frame into graphemes with Intl.Segmenter, which takes 4 ms for a frame of 120x36. In a
 * line of only Latin letters and symbols, each character is one grapheme. Such lines are divided here, in 0.2 ms.
 */
const divideUnjoined = replaceIn(
  "divide-unjoined",
  /\/ansi-tokenize\/build\/tokenize\.js$/,
  "segmenter.segment(str)",
  String.raw`(/^[\0-\x0c\x0e-\u02ff\u2010-\u2027\u2030-\u205f\u2190-\u2bff]*$/.test(str)
    ? Array.from(str, (segment, index) => ({ segment, index })) : segmenter.segment(str))`,
);

/**
 * Makes Node's modules and ws load where they are used. An `import` reads every property of a Node module, and some of
 * these properties load half of Node. For a CommonJS file, an `import` also parses the file for its exports. These
 * imports took a third of the time to load the dashboard.
 */
const requireWhenUsed = {
  name: "require-when-used",
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /^node:|^ws$/ }, ({ path, namespace }) =>
      namespace === "required" ? { path, external: true } : { path, namespace: "required" },
    );
    onResolve({ filter: /^\.\/packages\//, namespace: "required" }, ({ path }) => ({ path, external: true }));
    onLoad({ filter: /^node:/, namespace: "required" }, ({ path }) => ({
      contents: `module.exports = process.getBuiltinModule("${path}");`,
    }));
    onLoad({ filter: /^ws$/, namespace: "required" }, () => ({
      contents: `module.exports = { get WebSocket() { return require("./packages/ws.cjs").WebSocket; } };`,
    }));
  },
};

const modules = await build({
  ...common,
  format: "esm",
  entryPoints: {
    dashboard: "src/cli/output/terminal-session.ts",
    vitest: "src/vitest.ts",
    playwright: "src/playwright.ts",
  },
  plugins: [
    leaveOutUnused,
    decodeWithoutFetch,
    compareStylesFirst,
    divideUnjoined,
    minifyPackages,
    importFromItsFile(/^\.\/index\.ts$/, "./index.cjs"),
    requireWhenUsed,
  ],
  banner: { js: 'const require = process.getBuiltinModule("node:module").createRequire(import.meta.url);' },
  define: { "process.env.NODE_ENV": '"production"' },
});

/**
 * Removes white space, comments and redundant syntax, which were a fifth of the package. Lines stay short, because Node
 * prints the line of an uncaught error. The comments that named the bundled packages are removed too, so the first line
 * of a bundle lists these packages. `options` minifies more.
 *
 * Characters outside ASCII are escaped. For a source with such a character, V8 stores two bytes for each character, and
 * takes more time.
 */
async function compacted(text, packages, options) {
  const { code } = await transform(text, {
    minifyWhitespace: true,
    minifySyntax: true,
    lineLimit: 160,
    legalComments: "none",
    target: common.target,
    ...options,
  });
  const ascii = code.replace(/[^\0-\x7f]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`);
  return packages.length === 0 ? ascii : `// Contains ${packages.join(", ")}.\n${ascii}`;
}

/**
 * The hash identifies the build in the cache of compiled code, because hashing a megabyte at each start would take 2
 * ms.
 */
const withHash = (code) => `// ${createHash("sha256").update(code).digest("hex")}\n${code}`;

/** The packages whose code is in the bundle at this path below the root. */
const packagesOf = ({ metafile }, path) =>
  [
    ...new Set(
      Object.keys(metafile.outputs[path].inputs).map(
        (input) => /^node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(input)?.[1],
      ),
    ),
  ]
    .filter((name) => name !== undefined)
    .sort();

/** The dashboard for a browser: one script and one style sheet, which the program inserts into the page. */
const browser = await build({
  ...common,
  platform: "browser",
  target: ["chrome123", "firefox120", "safari17.5"],
  format: "iife",
  minify: true,
  outdir: join(dist, "browser"),
  entryPoints: ["ui/browser/main.tsx", "ui/browser/page.css"],
  jsxImportSource: "preact",
  alias: { "string-width": "./ui/browser/string-width.ts" },
  define: { "process.env.NODE_ENV": '"production"' },
  external: [],
});

/**
 * The entry points with a small entry file, whose exports Node can detect quickly. The entry file of the command line
 * is src/cli/bin.cjs.
 */
const { cli, ...reached } = parts;
const { metafile } = await build({
  ...common,
  format: "esm",
  entryPoints: reached,
  plugins: [importFromItsFile(/.*/, "./program.cjs")],
});

function entryFile(name) {
  const names = metafile.outputs[`dist/${name}.js`].exports.join(", ");
  const load = name === "thread" ? 'require("./compiled-program.cjs")("thread")' : 'require("./program.cjs")';
  const program = `${load}.${name}()`;
  return names === "" ? `${program};\n` : `const { ${names} } = ${program};\n\nmodule.exports = { ${names} };\n`;
}

const ours = [program, bundledPackages, modules];
const bundles = [...ours, browser];
const contentOf = async (bundle, { path, text }) => {
  if (!ours.includes(bundle)) return text;
  const packages = packagesOf(bundle, relative(root, path).replaceAll(sep, "/"));
  if (bundle === program) return withHash(await compacted(withoutImport(text), packages));
  return compacted(text, packages, bundle === bundledPackages ? { minify: true, format: "cjs" } : {});
};
const written = new Set([
  ...(await Promise.all(
    bundles.flatMap((bundle) =>
      bundle.outputFiles.map(async (output) => put(relative(dist, output.path), await contentOf(bundle, output))),
    ),
  )),
  ...Object.keys(reached).map((name) => put(`${name}.cjs`, entryFile(name))),
  put("dashboard.cjs", 'module.exports = import("./dashboard.js");\n'),
  put("browser/page.html", readFileSync(join(root, "ui/browser/page.html"), "utf8")),
  ...["bin.cjs", "compiled-program.cjs"].map((name) => put(name, readFileSync(join(root, "src/cli", name), "utf8"))),
  put(
    "THIRD-PARTY-LICENSES.txt",
    licencesOf(root, [...new Set(bundles.flatMap(({ metafile }) => Object.keys(metafile.inputs)))]),
  ),
]);
chmodSync(join(dist, "bin.cjs"), 0o755);
const sources = await loadSource(root, "scripts/docs/pages.ts");
const { createSandbox } = createRequire(import.meta.url)(join(dist, "index.cjs"));
try {
  for (const makeFiles of [factList, usualWorld, exampleFile, openapiDocuments, serviceTypes])
    for (const [name, content] of Object.entries(await makeFiles())) written.add(put(name, content));
} catch (error) {
  // An error of the installation, such as an addon that was compiled for another Node, has an exit code. Its message
  // says what to do.
  if (error.exitCode === undefined) throw error;
  process.stderr.write(`${error.message}\n`);
  process.exit(error.exitCode);
}
for (const file of filesIn(dist)) if (!written.has(file)) rmSync(join(dist, file));

/** Every fact about the service. Facts with the same reason share its text. */
function factList() {
  const reasons = new Map();
  const facts = sources.assumptions().facts.map(({ id, kind, value, settable, ...reason }) => {
    const key = JSON.stringify(reason);
    if (!reasons.has(key)) reasons.set(key, reasons.size);
    return { id, kind, value, settable, reason: reasons.get(key) };
  });
  return { "facts.json": JSON.stringify({ reasons: [...reasons.keys()].map((key) => JSON.parse(key)), facts }) };
}

/**
 * The seeded default data, dated on the day for which the fixtures were written. Other fixtures are seeded at the
 * start.
 */
async function usualWorld() {
  const fixtures = join(root, "fixtures/merchants");
  const { asOf } = JSON.parse(readFileSync(join(fixtures, "lodge.json"), "utf8"));
  const sandbox = await createSandbox({ fixtures, clock: asOf });
  const { file } = await sandbox.snapshots.save({ name: "usual" });
  // Removes the settings, which contain a mark of this machine, because they would differ in every build.
  const sql = new Sqlite(file);
  sql.exec("delete from settings; vacuum");
  sql.close();
  const bytes = readFileSync(file);
  await sandbox.close();
  // Identifies the build in the cache of the seeded data: a hash of the data, and of the code that moves its dates to
  // today.
  const build = createHash("sha256")
    .update(bytes)
    .update(readFileSync(join(dist, "program.cjs")))
    .digest("hex");
  return { "world.db": bytes, "world.json": JSON.stringify({ asOf, build: build.slice(0, 32) }) };
}

/** The examples in the OpenAPI document of the service and in the reference. */
async function exampleFile() {
  return { "example-replies.json": JSON.stringify(await exampleReplies(createSandbox, sources.exampleCalls)) };
}

/** The OpenAPI documents, with the default address. They contain the examples that `exampleFile` records. */
function openapiDocuments() {
  const { serviceOpenapi, controlOpenapi, USUAL_URL } = sources;
  return {
    "openapi.json": JSON.stringify(serviceOpenapi(USUAL_URL)),
    "control.openapi.json": JSON.stringify(controlOpenapi(USUAL_URL)),
  };
}

/** The output of the command `types`. */
function serviceTypes() {
  return { "service.d.ts": sources.serviceTypesPage() };
}

/** Writes a file only if it has changed, so that a running program never reads a half-written file. */
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
