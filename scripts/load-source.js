// Loads a TypeScript module of this repository into a script. The module is bundled in memory, without packages, which
// are imported from node_modules.

import { createRequire } from "node:module";
import { join } from "node:path";
import { compileFunction } from "node:vm";
import { build } from "esbuild";
import { rawText } from "./raw-text.js";

/**
 * Stands in for the client's generated table of operations, which is made from the sources. No script calls the client.
 */
const emptyClient = {
  name: "empty-client",
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /\/generated\/control-operations\.ts$/ }, ({ path }) => ({ path, namespace: "empty-client" }));
    onLoad({ filter: /.*/, namespace: "empty-client" }, () => ({ contents: "export const controlOperations = {};" }));
  },
};

/** The exports of the module at this path below `root`. */
export async function loadSource(root, path) {
  const { outputFiles } = await build({
    absWorkingDir: root,
    entryPoints: [path],
    bundle: true,
    write: false,
    platform: "node",
    target: "node20.19",
    format: "cjs",
    packages: "external",
    supported: { "dynamic-import": false },
    define: { "import.meta.dirname": JSON.stringify(root) },
    plugins: [rawText(root), emptyClient],
  });
  const module = { exports: {} };
  const filename = join(root, path);
  compileFunction(outputFiles[0].text, ["module", "exports", "require"], { filename })(
    module,
    module.exports,
    createRequire(filename),
  );
  return module.exports;
}
