// Writes the generated pages and the generated client of the control API.
// `--check` writes nothing and fails if a file is stale.

import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { assumptionsPage, controlPage, exampleCalls, faultsPage, operationsPage, programPage, referencePage } from "../dist/documents.cjs";
import { createSandbox } from "../dist/index.cjs";

const root = join(dirname(fileURLToPath(import.meta.url)), "..");

/** A time at which no seeded record has expired. */
const CLOCK = "2026-01-05T09:00:00Z";

const pages = {
  "docs/reference.md": referencePage(await exampleReplies()),
  "docs/control.md": controlPage(),
  "docs/assumptions.md": assumptionsPage(),
  "docs/faults.md": faultsPage(),
  "src/client/control-plane.generated.ts": programPage(),
  "src/client/control-operations.generated.ts": operationsPage(),
};
const stale = Object.keys(pages).filter((name) => pages[name] !== written(name));

if (process.argv.includes("--check")) {
  if (stale.length > 0) {
    console.error(`Out of date: ${stale.join(", ")}. Run \`npm run docs\` and commit what it writes.`);
    process.exitCode = 1;
  }
} else {
  for (const name of stale) writeFileSync(join(root, name), pages[name]);
  console.log(stale.length > 0 ? `Wrote ${stale.join(", ")}.` : "The pages are as they should be.");
}

function written(name) {
  const file = join(root, name);
  return existsSync(file) ? readFileSync(file, "utf8") : undefined;
}

/** What each example call is answered, in a world of its own, so that no operation shows what another one did. */
async function exampleReplies() {
  const replies = {};
  for (const { id, after } of exampleCalls()) {
    const sandbox = await createSandbox({ clock: CLOCK });
    const send = async (name) => {
      replies[name] = await answer(
        sandbox.baseUrl,
        exampleCalls(replies).find((call) => call.id === name),
      );
    };
    if (after !== undefined) await send(after);
    await send(id);
    await sandbox.close();
  }
  return replies;
}

async function answer(baseUrl, { id, method, path, headers, body }) {
  const response = await fetch(baseUrl + path, { method, headers, body });
  const text = await response.text();
  if (!response.ok) throw new Error(`The example of ${id} does not succeed: ${response.status} ${text}`);
  return JSON.parse(text);
}
