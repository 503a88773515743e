// Runs code generators, Postman's runner and a validating proxy on the OpenAPI documents, and writes docs/openapi-tools.md.
// The tools are installed at fixed versions into a temporary folder: together they are larger than all of our own packages.

import { execFile, spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { exampleCalls } from "../dist/documents.cjs";
import { createSandbox } from "../dist/index.cjs";

const root = join(dirname(fileURLToPath(import.meta.url)), "..");
const folder = mkdtempSync(join(tmpdir(), "merchant-sandbox-openapi-tools-"));
const require = createRequire(import.meta.url);

const versions = {
  "@hey-api/openapi-ts": "0.95.0",
  "@kubb/cli": "4.39.3",
  "@kubb/core": "4.39.3",
  "@kubb/plugin-client": "4.39.3",
  "@kubb/plugin-oas": "4.39.3",
  "@kubb/plugin-ts": "4.39.3",
  "@stoplight/prism-cli": "5.14.2",
  newman: "6.2.2",
  "openapi-fetch": "0.17.0",
  "openapi-to-postmanv2": "6.3.3",
  "openapi-typescript": "7.13.0",
  orval: "7.13.2",
  "swagger-typescript-api": "13.13.0",
  typescript: "5.9.3",
};

const documents = { service: "openapi.json", control: "control.openapi.json" };
const KEY = "sk_test_lodge";

/** Each generator with its arguments, and the file that a program imports. */
const generators = [
  { tool: "openapi-typescript", args: (document, out) => ["openapi-typescript", document, "-o", `${out}/index.ts`] },
  { tool: "@hey-api/openapi-ts", args: (document, out) => ["openapi-ts", "-i", document, "-o", out, "-c", "@hey-api/client-fetch"] },
  { tool: "orval", args: (document, out) => ["orval", "--input", document, "--output", `${out}/index.ts`, "--client", "fetch"] },
  { tool: "@kubb/cli", args: (document, out) => ["kubb", "generate", "--config", kubbConfig(document, out)] },
  {
    tool: "swagger-typescript-api",
    args: (document, out) => ["swagger-typescript-api", "generate", "-p", document, "-o", out, "-n", "index.ts"],
  },
];

function kubbConfig(document, out) {
  const file = `kubb-${out.replaceAll(/\W/g, "-")}.config.mjs`;
  const plugins = 'plugins: [pluginOas(), pluginTs(), pluginClient({ client: "fetch", bundle: true })]';
  const imports = ["client", "oas", "ts"].map(
    (name) => `import { plugin${name[0].toUpperCase()}${name.slice(1)} } from "@kubb/plugin-${name}";`,
  );
  const config = `{ root: ".", input: { path: ${JSON.stringify(document)} }, output: { path: ${JSON.stringify(out)} }, ${plugins} }`;
  writeFileSync(join(folder, file), `${imports.join("\n")}\nexport default ${config};\n`);
  return file;
}

function run(file, args, options = {}) {
  return new Promise((resolve, reject) => {
    execFile(file, args, { cwd: folder, maxBuffer: 2 ** 28, ...options }, (error, stdout, stderr) =>
      error ? reject(new Error(`${file} ${args.join(" ")} failed:\n${stdout.slice(-3_000)}\n${stderr.slice(-3_000)}`)) : resolve(stdout),
    );
  });
}

const tool = (name, ...args) => run(join(folder, "node_modules/.bin", name), args);

const COMPILER =
  "--strict --noEmit --skipLibCheck --allowImportingTsExtensions --target ES2022 --module ESNext --moduleResolution bundler --lib ES2022,DOM,DOM.Iterable --types";

const compile = (file) => tool("tsc", ...COMPILER.split(" "), "node", file);

const filesIn = (path) => readdirSync(path, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile()).length;

async function generate(name, { tool: generator, args }) {
  const out = `./${name}/${generator.replaceAll(/\W/g, "-")}`;
  mkdirSync(join(folder, out), { recursive: true });
  await tool(...args(`./${documents[name]}`, out));
  await compile(`${out}/index.ts`);
  const count = filesIn(join(folder, out));
  return `${count} ${count === 1 ? "file" : "files"}, strict`;
}

/** Programs that use a generated client: they compile strictly, and print what the sandbox answers. */
const programs = {
  "openapi-typescript": (url) => `
    import createClient from "openapi-fetch";
    import type { paths } from "./service/openapi-typescript/index.ts";
    const client = createClient<paths>({ baseUrl: ${JSON.stringify(url)}, headers: { Authorization: "Bearer ${KEY}" } });
    const { data } = await client.GET("/payments", { params: { query: { limit: 1 } } });
    const { error } = await client.POST("/hospitality/bookings/{id}/decline", { params: { path: { id: "bkg_none" } }, body: {} });
    console.log(data?.data[0]?.object, error?.code);`,
  "@hey-api/openapi-ts": (url) => `
    import { bookingsDecline, paymentsList } from "./service/-hey-api-openapi-ts/index.ts";
    import { client } from "./service/-hey-api-openapi-ts/client.gen.ts";
    client.setConfig({ baseUrl: ${JSON.stringify(url)}, auth: "${KEY}" });
    const { data } = await paymentsList({ query: { limit: 1 } });
    const { error } = await bookingsDecline({ path: { id: "bkg_none" }, body: {} });
    console.log(data?.data[0]?.object, error?.code);`,
};

const EXPECTED = "payment resource_not_found";

async function callWith(generator, url) {
  const name = `call-${generator.replaceAll(/\W/g, "-")}`;
  writeFileSync(join(folder, `${name}.ts`), `${programs[generator](url)}\nexport {};\n`);
  await compile(`./${name}.ts`);
  const esbuild = require("esbuild");
  await esbuild.build({
    absWorkingDir: folder,
    entryPoints: [`${name}.ts`],
    bundle: true,
    format: "esm",
    outfile: `${name}.mjs`,
    platform: "node",
  });
  const printed = (await run(process.execPath, [`${name}.mjs`])).trim();
  if (printed !== EXPECTED) throw new Error(`${generator}: the calls printed ${printed}, not ${EXPECTED}`);
  return "a list and a refusal, typed";
}

/** Imports the document with examples as values and without optional parameters, and runs the collection once. */
async function postman(url) {
  await tool(
    "openapi2postmanv2",
    "-s",
    documents.service,
    "-o",
    "collection.json",
    "-O",
    "parametersResolution=Example,enableOptionalParameters=false",
  );
  const variables = ["--env-var", `baseUrl=${url}`, "--env-var", `bearerToken=${KEY}`];
  await tool("newman", "run", "collection.json", ...variables, "--reporters", "json", "--reporter-json-export", "newman.json");
  const { executions } = require(join(folder, "newman.json")).run;
  const succeeded = executions.filter(({ response }) => response?.code < 300).length;
  if (succeeded < exampleCalls().length) throw new Error(`newman: ${succeeded} of ${executions.length} requests succeed`);
  return `${succeeded} of ${executions.length} requests succeed`;
}

/** Each operation's example, and what it refuses: no key, an unknown record, a body without fields, a limit of 0. */
function proxiedCalls() {
  return exampleCalls().flatMap(({ method, path, headers, body }) => {
    const { Authorization: _, ...others } = headers;
    const bare = path.split("?")[0];
    const unknown = bare.replaceAll(/\/[a-z]+_\w+/g, "/none_1");
    return [
      { method, path, headers, body },
      { method, path, headers: others, body },
      ...(unknown === bare ? [] : [{ method, path: unknown, headers, body }]),
      ...(body === undefined ? [] : [{ method, path, headers: { ...headers, "Idempotency-Key": "empty" }, body: "{}" }]),
      ...(path.includes("limit=") ? [{ method, path: `${bare}?limit=0`, headers, body }] : []),
    ];
  });
}

async function prism(url, port) {
  const args = ["proxy", documents.service, url, "--port", String(port), "--verboseLevel", "fatal"];
  const proxy = spawn(process.execPath, [join(folder, "node_modules/@stoplight/prism-cli/dist/index.js"), ...args], {
    cwd: folder,
    stdio: "ignore",
  });
  try {
    const base = `http://127.0.0.1:${port}`;
    // The proxy compiles the document before it listens.
    for (let tries = 0; tries < 240 && !(await fetch(base).catch(() => undefined)); tries++)
      await new Promise((resolve) => setTimeout(resolve, 250));
    const calls = proxiedCalls();
    const violations = [];
    for (const { method, path, headers, body } of calls) {
      const response = await fetch(base + path, { method, headers, body });
      await response.arrayBuffer();
      const found = JSON.parse(response.headers.get("sl-violations") ?? "[]");
      violations.push(
        ...found
          .filter(({ location }) => location[0] === "response")
          .map(({ location, message }) => `${method} ${path} ${location.join(".")}: ${message}`),
      );
    }
    if (violations.length > 0) throw new Error(`Prism: ${violations.length} violations:\n${violations.slice(0, 20).join("\n")}`);
    return `0 violations in the responses to ${calls.length} calls`;
  } finally {
    proxy.kill();
  }
}

async function timed(label, work) {
  const start = performance.now();
  const result = await work();
  console.log(`${label}: ${result} (${((performance.now() - start) / 1_000).toFixed(1)} s)`);
  return result;
}

async function withSandbox(work) {
  const sandbox = await createSandbox();
  try {
    return await work(sandbox.baseUrl);
  } finally {
    await sandbox.close();
  }
}

const row = (...cells) => `| ${cells.join(" | ")} |`;
const PAGE = (generated, used) => `<!-- Generated by \`npm run openapi:tools\`: do not edit. -->

# OpenAPI tools

The documents of the service and of the control plane are in the package, as \`merchant-sandbox/openapi.json\` and
\`merchant-sandbox/control.openapi.json\`, and a running sandbox serves them under \`/_sandbox/openapi.json\` and \`/_sandbox/control.openapi.json\`. For tools
that do not read OpenAPI 3.1, \`?version=3.0\` gives OpenAPI 3.0; \`?extensions=off\` leaves out the fields \`x-sandbox-*\`.

Operation ids have no dots: \`bookings.decline\` is \`bookingsDecline\`, and \`x-sandbox-operation\` gives the name that fault rules use.

## Code generators

Each generates from both documents, with its default options, and TypeScript compiles the result with \`--strict\`.

${[row("Generator", "Version", "Service", "Control plane"), row("---", "---", "---", "---"), ...generated].join("\n")}

## Calls to a running sandbox

${[row("Tool", "Version", "Result"), row("---", "---", "---"), ...used].join("\n")}

Postman imports the document with *Parameter generation* set to Example and *Enable optional parameters* off. Set \`bearerToken\` to \`${KEY}\`.
`;

try {
  writeFileSync(
    join(folder, "package.json"),
    JSON.stringify({ private: true, type: "module", dependencies: { ...versions, "@types/node": "20.19.43" } }),
  );
  await timed("install", async () => {
    await run("npm", ["install", "--no-audit", "--no-fund", "--prefer-offline"], { shell: process.platform === "win32" });
    return `${Object.keys(versions).length} tools`;
  });
  for (const file of Object.values(documents)) writeFileSync(join(folder, file), JSON.stringify(require(`../dist/${file}`)));
  const generated = [];
  for (const generator of generators) {
    const results = [];
    for (const name of Object.keys(documents)) results.push(await timed(`${generator.tool}, ${name}`, () => generate(name, generator)));
    generated.push(row(generator.tool, versions[generator.tool], ...results));
  }
  const used = [];
  for (const generator of Object.keys(programs))
    used.push(
      row(generator, versions[generator], await timed(`${generator}, calls`, () => withSandbox((url) => callWith(generator, url)))),
    );
  used.push(row("newman", versions.newman, await timed("newman", () => withSandbox(postman))));
  used.push(
    row(
      "Prism, as a validating proxy",
      versions["@stoplight/prism-cli"],
      await timed("Prism", () => withSandbox((url) => prism(url, 4_797))),
    ),
  );
  writeFileSync(join(root, "docs/openapi-tools.md"), PAGE(generated, used));
} finally {
  rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
}
