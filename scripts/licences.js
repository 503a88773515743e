// Collects the licences of all bundled packages.

import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

/** The text of the file with all licences. `inputs` are the paths of all bundled files. */
export function licencesOf(root, inputs) {
  const folders = inputs.map((input) => /^(?:.*\/)?node_modules\/(?:@[^/]+\/)?[^/]+/.exec(input)?.[0]);
  const packages = [...new Set(folders.filter((folder) => folder !== undefined))].sort();
  const groups = new Map();
  for (const licence of packages.map((folder) => licenceIn(join(root, folder)))) {
    const terms = licence.terms.replaceAll(/[\s'"]+/g, " ");
    groups.set(terms, [...(groups.get(terms) ?? []), licence]);
  }
  const sections = [...groups.values()].map(sectionOf);
  return (
    "merchant-sandbox contains code of the packages below. Each list of packages is followed by its " +
    `licence.\n\n${sections.join("\n\n")}\n`
  );
}

/** Most licences differ only in the copyright notice, so terms that several packages share are printed once. */
function sectionOf(licences) {
  const line = "=".repeat(80);
  const packages = licences.map(({ title, notice }) => (notice === "" ? title : `${title}\n${notice}`));
  return `${line}\n${packages.join("\n\n")}\n${line}\n${licences[0].terms}`;
}

/**
 * Splits a licence into the copyright notice and the terms, which begin with the permission. A licence of any other
 * form counts as terms only.
 */
function licenceIn(folder) {
  const { name, version, license } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
  const file = readdirSync(folder).find((entry) => /^licen[cs]e([.-]|$)/i.test(entry));
  if (file === undefined && license === undefined)
    throw new Error(`${name} does not state its licence: it must not be bundled`);
  const text =
    file === undefined
      ? `Licence: ${license}`
      : readFileSync(join(folder, file), "utf8").replaceAll("\r\n", "\n").trim();
  const start = Math.max(0, text.search(/^(permission is hereby granted|permission to use|redistribution and use)/im));
  return { title: `${name} ${version} (${license})`, notice: text.slice(0, start).trim(), terms: text.slice(start) };
}
