// An esbuild plugin for `?raw` imports.

import { readFileSync } from "node:fs";
import { join, relative, sep } from "node:path";

/** `?raw` imports a file as text, as Vite does for the tests. */
export const rawText = (root) => ({
  name: "raw-text",
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /\?raw$/ }, ({ path, resolveDir }) => ({
      // A relative path, because esbuild writes the path into the bundle.
      path: relative(root, join(resolveDir, path.slice(0, -"?raw".length)))
        .split(sep)
        .join("/"),
      namespace: "raw",
    }));
    onLoad({ filter: /.*/, namespace: "raw" }, ({ path }) => ({
      contents: readFileSync(join(root, path), "utf8"),
      loader: "text",
    }));
  },
});
