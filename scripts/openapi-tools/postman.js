// Imports the document into Postman's format, and runs the collection with newman.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { tool } from "./work-folder.js";

/**
 * Examples become values, and optional parameters are left out. README.md says why the importer needs these settings.
 */
const SETTINGS = "parametersResolution=Example,enableOptionalParameters=false";

export async function postman(folder, document, url, key, operations) {
  await tool(folder, "openapi2postmanv2", "-s", document, "-o", "collection.json", "-O", SETTINGS);
  const variables = ["--env-var", `baseUrl=${url}`, "--env-var", `bearerToken=${key}`];
  await tool(
    folder,
    "newman",
    "run",
    "collection.json",
    ...variables,
    "--reporters",
    "json",
    "--reporter-json-export",
    "newman.json",
  );
  const { executions } = JSON.parse(readFileSync(join(folder, "newman.json"), "utf8")).run;
  const succeeded = executions.filter(({ response }) => response?.code < 300).length;
  if (succeeded < operations) throw new Error(`newman: ${succeeded} of ${executions.length} requests succeed`);
  return `${succeeded} of ${executions.length} requests succeed`;
}
