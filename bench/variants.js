// Sandboxes built from the same sources, with a part removed. The difference between two sandboxes is the cost of that
// part.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { rawText } from "../scripts/raw-text.js";

const root = fileURLToPath(new URL("..", import.meta.url));

/** A path inside the package, so that imports of external packages resolve. */
const fileOf = (name) => join(root, "node_modules/.cache/merchant-sandbox-bench", `${name}.mjs`);

/** Replaces the fault stages and the judge by stubs with the same interface. */
export const WITHOUT_FAULTS_AND_JUDGE = [
  {
    file: "src/faults/call-stages.ts",
    contents: `
    import { rateLimitHeaders } from "../http/rate-limit.ts";
    import { send } from "../http/reply.ts";
    const pass = (request, response, next) => next();
    export const faultStages = () => ({
      outage: pass, auth: pass, limit: pass, recall: pass, before: pass,
      around: (effect) => effect,
      send: (context, reply) => send(context, reply, rateLimitHeaders(context)),
    });`,
  },
  {
    file: "src/judge/judge.ts",
    contents: `
    const pass = () => undefined;
    export const createJudge = () => ({
      rules: [], request: pass, fired: pass, attempt: pass, forget: pass, verdicts: () => [],
    });`,
  },
];

/** The source of a file after the replacement of `find`, which must occur exactly once. */
export function edited({ file, find, replace }) {
  const source = readFileSync(join(root, file), "utf8");
  if (source.split(find).length !== 2)
    throw new Error(`${file} must contain "${find}" exactly once, because the bench replaces it`);
  return source.replace(find, () => replace);
}

const withEdits = (edits) => ({
  name: "with-edits",
  setup({ onLoad }) {
    for (const edit of edits)
      onLoad({ filter: new RegExp(`${edit.file.replaceAll(".", "\\.")}$`) }, () => ({
        contents: edit.contents ?? edited(edit),
        loader: "ts",
      }));
  },
});

/** Builds an entry point with edits to some of its source files, and returns the output path. */
export async function bundle(name, entry, edits = []) {
  const outfile = fileOf(name);
  await build({
    absWorkingDir: root,
    ...(entry.includes("\n")
      ? { stdin: { contents: entry, resolveDir: root, loader: "ts" } }
      : { entryPoints: [entry] }),
    outfile,
    bundle: true,
    format: "esm",
    platform: "node",
    target: "node20.19",
    packages: "external",
    plugins: [rawText(root), withEdits(edits)],
    logLevel: "error",
  });
  return outfile;
}

/** Builds a sandbox for each set of edits, and returns the output paths. */
export async function buildVariants(variants) {
  const built = Object.entries(variants).map(async ([name, edits]) => [
    name,
    await bundle(name, "src/sandbox/create.ts", edits),
  ]);
  return Object.fromEntries(await Promise.all(built));
}
