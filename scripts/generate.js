// Writes generated/, the client of the control API, from the declarations of the operations. The build and the type
// check run this script first.

import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { writeChanged } from "./generated-files.js";
import { loadSource } from "./load-source.js";

const root = join(dirname(fileURLToPath(import.meta.url)), "..");
const { controlClient } = await loadSource(root, "scripts/docs/control-client.ts");
writeChanged(root, controlClient());
