// Writes the generated pages and the generated client of the control API.
// `--check` writes nothing and fails if a file is stale.

import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import {
  assumptionsPage,
  configSchemaPage,
  controlPage,
  eventsPage,
  exampleCalls,
  exampleRepliesPage,
  faultsPage,
  operationsPage,
  programPage,
  referencePage,
  serviceSchemaPage,
} from "../dist/documents.cjs";
import { createSandbox } from "../dist/index.cjs";
import { writeGenerated } from "./generated-files.js";

const root = join(dirname(fileURLToPath(import.meta.url)), "..");

/** A time at which no seeded record has expired. */
const CLOCK = "2026-01-05T09:00:00Z";

const replies = await exampleReplies();
const pages = {
  "docs/reference.md": referencePage(replies),
  "src/reference/example-replies.generated.ts": exampleRepliesPage(replies),
  "docs/control.md": controlPage(),
  "docs/assumptions.md": assumptionsPage(),
  "docs/faults.md": faultsPage(),
  "docs/events.md": eventsPage(),
  "config.schema.json": configSchemaPage(),
  "service.schema.json": serviceSchemaPage(),
  "src/client/control-api.generated.ts": programPage(),
  "src/client/control-operations.generated.ts": operationsPage(),
};
writeGenerated(root, pages, (stale) => `Out of date: ${stale}. Run \`npm run docs\` and commit what it writes.`);

/** The response to each example call. Each runs in a sandbox of its own, so that no example shows the effects of another. */
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
