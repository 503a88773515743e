// The package's `prepare` script, which npm runs after `npm ci` in the checkout, before it packs the package, and when
// a project installs the checkout or its git URL: builds dist/, so that `npx merchant-sandbox` finds the program.

import { existsSync } from "node:fs";
import { join } from "node:path";

const root = join(import.meta.dirname, "..");

if (existsSync(join(root, "node_modules/esbuild"))) await import("./build.js");
else {
  // npm does not install the tools of a folder that a project depends on, nor any with --omit=dev.
  const isBuilt = existsSync(join(root, "dist/bin.cjs"));
  process.stderr.write(
    `merchant-sandbox: dist/ was not ${isBuilt ? "built again" : "built"}, because the tools that build it are not ` +
      `installed. Run npm ci in ${root}.\n`,
  );
  process.exitCode = isBuilt ? 0 : 1;
}
