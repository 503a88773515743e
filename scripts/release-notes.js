// Prints the changelog section of a tag. Rejects a tag that does not match package.json or has no section in the
// changelog.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("..", import.meta.url));

/** The changelog section of the tag's version, without its heading. */
export function releaseNotes(tag, { changelog, version }) {
  if (tag !== `v${version}`)
    throw new Error(`The tag is ${tag}, and package.json says ${version}: tag v${version}, or change the version.`);
  const section = changelog.split(/^## /m).find((text) => text.startsWith(`[${version}]`));
  const notes = section?.split("\n").slice(1).join("\n").trim();
  if (!notes)
    throw new Error(`CHANGELOG.md says nothing of ${version}: turn [Unreleased] into [${version}] with its date.`);
  return notes;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const changelog = readFileSync(join(root, "CHANGELOG.md"), "utf8");
  const { version } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
  try {
    process.stdout.write(`${releaseNotes(process.argv[2], { changelog, version })}\n`);
  } catch (error) {
    process.stderr.write(`${error.message}\n`);
    process.exitCode = 1;
  }
}
