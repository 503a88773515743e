// The code generators and their arguments, and programs that call a sandbox through two of the generated clients.

import { mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { run } from "../installed-tools.js";
import { tool } from "./work-folder.js";

const require = createRequire(import.meta.url);

/** The generators, each with its arguments. The programs below import index.ts of a generated client. */
export const generators = [
  { name: "openapi-typescript", args: (document, out) => ["openapi-typescript", document, "-o", `${out}/index.ts`] },
  {
    name: "@hey-api/openapi-ts",
    args: (document, out) => ["openapi-ts", "-i", document, "-o", out, "-c", "@hey-api/client-fetch"],
  },
  {
    name: "orval",
    args: (document, out) => ["orval", "--input", document, "--output", `${out}/index.ts`, "--client", "fetch"],
  },
  {
    name: "@kubb/cli",
    args: (document, out, folder) => ["kubb", "generate", "--config", kubbConfig(document, out, folder)],
  },
  {
    name: "swagger-typescript-api",
    args: (document, out) => ["swagger-typescript-api", "generate", "-p", document, "-o", out, "-n", "index.ts"],
  },
];

function kubbConfig(document, out, folder) {
  const file = `kubb-${out.replaceAll(/\W/g, "-")}.config.mjs`;
  const plugins = 'plugins: [pluginOas(), pluginTs(), pluginClient({ client: "fetch", bundle: true })]';
  const imports = ["client", "oas", "ts"].map(
    (name) => `import { plugin${name[0].toUpperCase()}${name.slice(1)} } from "@kubb/plugin-${name}";`,
  );
  const config =
    `{ root: ".", input: { path: ${JSON.stringify(document)} }, ` +
    `output: { path: ${JSON.stringify(out)} }, ${plugins} }`;
  writeFileSync(join(folder, file), `${imports.join("\n")}\nexport default ${config};\n`);
  return file;
}

const folderOf = (name, document) =>
  `${document.replace(".openapi.json", "").replace(".json", "")}/${name.replaceAll(/\W/g, "-")}`;

/** Generates a client. Returns the number of files in it. */
export async function generate(folder, { name, args }, document) {
  const out = `./${folderOf(name, document)}`;
  mkdirSync(join(folder, out), { recursive: true });
  await tool(folder, ...args(`./${document}`, out, folder));
  return readdirSync(join(folder, out), { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile())
    .length;
}

/** Programs that call the sandbox with a generated client, and print parts of the responses. */
const programs = {
  "openapi-typescript": (from, url, key) => `
    import createClient from "openapi-fetch";
    import type { paths } from "./${from}/index.ts";
    const client = createClient<paths>({
      baseUrl: ${JSON.stringify(url)},
      headers: { Authorization: "Bearer ${key}" },
    });
    const { data } = await client.GET("/payments", { params: { query: { limit: 1 } } });
    const { error } = await client.POST("/hospitality/bookings/{id}/decline", {
      params: { path: { id: "bkg_none" } },
      body: {},
    });
    console.log(data?.data[0]?.object, error?.code);`,
  "@hey-api/openapi-ts": (from, url, key) => `
    import { bookingsDecline, paymentsList } from "./${from}/index.ts";
    import { client } from "./${from}/client.gen.ts";
    client.setConfig({ baseUrl: ${JSON.stringify(url)}, auth: "${key}" });
    const { data } = await paymentsList({ query: { limit: 1 } });
    const { error } = await bookingsDecline({ path: { id: "bkg_none" }, body: {} });
    console.log(data?.data[0]?.object, error?.code);`,
};

const EXPECTED = "payment resource_not_found";

/** Writes the programs. Returns their names. */
export function writePrograms(folder, document, url, key) {
  return Object.entries(programs).map(([generator, source], index) => {
    writeFileSync(join(folder, `call-${index}.ts`), `${source(folderOf(generator, document), url, key)}\nexport {};\n`);
    return { generator, file: `call-${index}` };
  });
}

const COMPILER =
  "--strict --noEmit --skipLibCheck --allowImportingTsExtensions --target ES2022 --module ESNext --moduleResolution " +
  "bundler --lib ES2022,DOM,DOM.Iterable --types";

/** Compiles every generated client and every program in one strict run of the compiler. */
export async function compile(folder, documents, files) {
  const clients = documents.flatMap((document) =>
    generators.map(({ name }) => `./${folderOf(name, document)}/index.ts`),
  );
  await tool(folder, "tsc", ...COMPILER.split(" "), "node", ...clients, ...files.map((file) => `./${file}.ts`));
}

export async function callSandbox(folder, { generator, file }) {
  const esbuild = require("esbuild");
  const bundle = {
    absWorkingDir: folder,
    entryPoints: [`${file}.ts`],
    outfile: `${file}.mjs`,
    bundle: true,
    format: "esm",
    platform: "node",
  };
  await esbuild.build(bundle);
  const printed = (await run(process.execPath, [`${file}.mjs`], { cwd: folder })).trim();
  if (printed !== EXPECTED) throw new Error(`${generator}: the calls printed ${printed}, not ${EXPECTED}`);
  return "a typed list and a typed error response were received";
}
