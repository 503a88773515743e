// Writes the generated pages, and the schema of the configuration file. `--check` writes nothing, and fails if a file
// is out of date.

import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { writeGenerated } from "./generated-files.js";
import { loadSource } from "./load-source.js";

const root = join(dirname(fileURLToPath(import.meta.url)), "..");
const { pages } = await loadSource(root, "scripts/docs/pages.ts");
const replies = JSON.parse(readFileSync(join(root, "dist/example-replies.json"), "utf8"));
writeGenerated(
  root,
  pages(replies),
  (stale) => `Out of date: ${stale}. Run \`npm run docs\` and commit what it writes.`,
);
