// Collects the licences of all bundled packages.

import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

/** The text of the licence file; `inputs` are the paths of all bundled files. */
export function licencesOf(root, inputs) {
  const folders = inputs.map((input) => /^(?:.*\/)?node_modules\/(?:@[^/]+\/)?[^/]+/.exec(input)?.[0]);
  const packages = [...new Set(folders.filter((folder) => folder !== undefined))].sort();
  const sections = packages.map((folder) => section(join(root, folder)));
  return `merchant-sandbox contains code of the packages below, under the licences that follow each.\n\n${sections.join("\n\n")}\n`;
}

function section(folder) {
  const { name, version, license } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
  const file = readdirSync(folder).find((entry) => /^licen[cs]e(\.|$)/i.test(entry));
  if (file === undefined && license === undefined) throw new Error(`${name} says nothing of its licence: it must not be bundled`);
  const text = file === undefined ? `Licence: ${license}` : readFileSync(join(folder, file), "utf8").replaceAll("\r\n", "\n").trim();
  return `${"=".repeat(80)}\n${name} ${version} (${license})\n${"=".repeat(80)}\n${text}`;
}
