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
  const [, , command = "start"] = process.argv;
  // The commands that open a sandbox compile most of the program, the others little of it.
  const opensSandbox = /^(?:audit|dev|exec|learn|mcp|start|--(?!help|version).*)$/.test(command);
  require("./compiled-program.cjs")(opensSandbox ? "sandbox" : "command").cli();
}
