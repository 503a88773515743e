// Imports third-party packages from the folder in which `npm run check:tools` installed them, because they are not
// dependencies of the project.

import { createRequire } from "node:module";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

const installed = process.env.TOOLS_FOLDER;
if (installed === undefined)
  throw new Error("These tests need third-party tools: run `npm run check:tools`, which installs them.");

export const toolPath = (path: string) => join(installed, "node_modules", path);

const { resolve } = createRequire(toolPath("any.js"));

// biome-ignore lint/suspicious/noExplicitAny: the types of the tools are not installed where types are checked.
export const importTool = async (name: string): Promise<any> => import(pathToFileURL(resolve(name)).href);
