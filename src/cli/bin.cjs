#!/usr/bin/env node
// The entry point of the package: rejects a Node that is too old, in syntax that even Node 8 can parse, and runs the
// program.

const found = process.versions.node;
const [major, minor] = found.split(".").map(Number);

if (major < 20 || (major === 20 && minor < 19)) {
  process.stderr.write(
    `merchant-sandbox needs Node 20.19, or 22.14 or newer, and this is Node ${found}: install Node 24.\n`,
  );
  process.exitCode = 7;
} else {
  // Node 22 and later can cache compiled code, which makes every start after the first one faster.
  const { enableCompileCache } = require("node:module");
  if (enableCompileCache) enableCompileCache();
  require("./program.cjs").cli();
}
