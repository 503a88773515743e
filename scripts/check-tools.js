// Tests the project with third-party tools: linters and generators for OpenAPI, Jest, Bun, Deno, jsdom, and checkers of
// the packed package.

import { spawnSync } from "node:child_process";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { installTools } from "./installed-tools.js";

const root = join(dirname(fileURLToPath(import.meta.url)), "..");

const versions = {
  "@arethetypeswrong/cli": "0.18.5",
  "@modelcontextprotocol/sdk": "1.32.2",
  "@redocly/openapi-core": "2.64.0",
  "@stoplight/spectral-core": "1.24.1",
  "@stoplight/spectral-parsers": "1.0.5",
  "@stoplight/spectral-rulesets": "1.23.1",
  jest: "29.7.0",
  "openapi-typescript": "7.13.0",
  publint: "0.3.25",
  typescript: "5.9.3",
};

const folder = await installTools("check-tools", versions);
const bin = (name) => join(folder, "node_modules/.bin", name);

check(bin("publint"), "--strict");
// merchant-sandbox/vitest is ESM only, like vitest itself. The JSON documents are in folders, so module resolution that
// ignores `exports` does not find them.
check(
  bin("attw"),
  "--pack",
  ".",
  "--ignore-rules",
  "cjs-resolves-to-esm",
  "--exclude-entrypoints",
  "openapi.json",
  "control.openapi.json",
  "config.schema.json",
);
check(process.execPath, join(root, "node_modules/vitest/vitest.mjs"), "run", "--project", "tools");
check(process.execPath, join(root, "scripts/openapi-tools.js"), "--check");

function check(file, ...args) {
  const { status } = spawnSync(file, args, {
    cwd: root,
    stdio: "inherit",
    env: { ...process.env, TOOLS_FOLDER: folder },
  });
  if (status !== 0) process.exit(status ?? 1);
}
