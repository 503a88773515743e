// Writes dist/types/index.d.ts: what `import` gives, as one file of declarations that needs no other package's types.

import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { generateDtsBundle } from "dts-bundle-generator";

const root = join(dirname(fileURLToPath(import.meta.url)), "..");
const target = join(root, "dist/types/index.d.ts");

const [declarations] = generateDtsBundle(
  [{ filePath: join(root, "src/index.ts"), output: { noBanner: true, exportReferencedTypes: false } }],
  { preferredConfigPath: join(root, "tsconfig.json") },
);

// `await using` is younger than the libraries that most projects compile against.
const text = `/// <reference lib="esnext.disposable" />\n\n${declarations}`;
mkdirSync(dirname(target), { recursive: true });
if (!existsSync(target) || readFileSync(target, "utf8") !== text) writeFileSync(target, text);
