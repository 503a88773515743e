// The tools of `npm run openapi:tools` at fixed versions, and the folder in which they run.

import { mkdtempSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { installTools, run } from "../installed-tools.js";

export const versions = {
  "@hey-api/openapi-ts": "0.95.0",
  "@kubb/cli": "4.39.3",
  "@kubb/core": "4.39.3",
  "@kubb/plugin-client": "4.39.3",
  "@kubb/plugin-oas": "4.39.3",
  "@kubb/plugin-ts": "4.39.3",
  "@stoplight/prism-cli": "5.14.2",
  "@types/node": "20.19.43",
  newman: "6.2.2",
  "openapi-fetch": "0.17.0",
  "openapi-to-postmanv2": "6.3.3",
  "openapi-typescript": "7.13.0",
  orval: "7.13.2",
  "swagger-typescript-api": "13.13.0",
  typescript: "5.9.3",
};

/** Creates a folder for the input and output of the tools, with the tools in its node_modules. */
export async function openWorkFolder() {
  const installed = await installTools("openapi-tools", versions);
  const folder = mkdtempSync(join(tmpdir(), "merchant-sandbox-openapi-tools-"));
  writeFileSync(join(folder, "package.json"), JSON.stringify({ private: true, type: "module" }));
  symlinkSync(join(installed, "node_modules"), join(folder, "node_modules"), "junction");
  return folder;
}

export const tool = (folder, name, ...args) => run(join(folder, "node_modules/.bin", name), args, { cwd: folder });
