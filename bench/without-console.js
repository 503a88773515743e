// Two sandboxes from the same sources, built alike: whole, and without the stages of faults and the judge. What sets them apart is what these cost.

import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const root = fileURLToPath(new URL("..", import.meta.url));

/** Inside the package, so that what is not bundled is found. */
const fileOf = (name) => join(root, "node_modules/.cache/merchant-sandbox-bench", `${name}.mjs`);

export const WHOLE = fileOf("whole");
export const WITHOUT = fileOf("without");

/** In place of a module: the same shape, with nothing behind it. */
const NOTHING = {
  "src/http/fault.ts": `
    import { rateHeaders } from "./limit.ts";
    import { send } from "./reply.ts";
    const pass = () => undefined;
    export const faultStages = () => ({
      outage: pass, auth: pass, limit: pass, recall: pass, before: pass,
      around: (effect) => effect,
      send: (context, reply) => send(context, reply, rateHeaders(context)),
    });`,
  "src/judge/judge.ts": `
    const pass = () => undefined;
    export const createJudge = () => ({ rules: [], request: pass, fired: pass, attempt: pass, forget: pass, verdicts: () => [] });`,
};

const withNothing = {
  name: "with-nothing",
  setup({ onLoad }) {
    for (const [file, contents] of Object.entries(NOTHING))
      onLoad({ filter: new RegExp(`${file.replaceAll(".", "\\.")}$`) }, () => ({ contents, loader: "ts" }));
  },
};

const bundle = (outfile, plugins) =>
  build({
    absWorkingDir: root,
    entryPoints: ["src/sandbox.ts"],
    outfile,
    bundle: true,
    format: "esm",
    platform: "node",
    target: "node20.19",
    packages: "external",
    plugins,
    logLevel: "error",
  });

export const buildBoth = () => Promise.all([bundle(WHOLE, []), bundle(WITHOUT, [withNothing])]);
