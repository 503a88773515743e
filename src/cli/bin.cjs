#!/usr/bin/env node
// The door: tells a Node that is too old so, in words that even Node 8 can parse; else hands over to the program.

const found = process.versions.node;
const [major, minor] = found.split(".").map(Number);

if (major < 20 || (major === 20 && minor < 19)) {
  process.stderr.write(`merchant-sandbox needs Node 20.19 or newer, and this is Node ${found}. Install a newer Node and try again.\n`);
  process.exitCode = 1;
} else {
  // Node 22 and later can keep what they compiled, which makes every start after the first one quicker.
  const { enableCompileCache } = require("node:module");
  if (enableCompileCache) enableCompileCache();
  require("./program.cjs").cli();
}
