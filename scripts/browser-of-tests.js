// Gives the scripts and the bench access to the browser helper of the tests, which is TypeScript.

import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { build } from "esbuild";

const root = fileURLToPath(new URL("..", import.meta.url));

export async function browserOfTests() {
  const outfile = join(root, "node_modules/.cache/merchant-sandbox/browser.mjs");
  const entry = join(root, "test/support/browser.ts");
  await build({
    entryPoints: [entry],
    outfile,
    bundle: true,
    platform: "node",
    format: "esm",
    packages: "external",
    logLevel: "warning",
  });
  return import(pathToFileURL(outfile).href);
}
