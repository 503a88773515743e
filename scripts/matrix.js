// Installs the packed package with each installer on each Node, runs a client in `exec`, compares the exit codes with
// the expected exit codes, and writes matrix.md. It is not part of `npm run check`, because it needs a registry,
// several minutes, and a POSIX shell. `npm run matrix -- 22.12.0 pnpm@12` prints only that part.

import { execFile } from "node:child_process";
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { installers, registry } from "./matrix/installers.js";
import { openRegistry, urlOf } from "./matrix/registry.js";
import { nodeOf, npmOf, pack, plain, run } from "./packing.js";

/**
 * The oldest and the newest supported version of Node, and an unsupported version between them (22.12). Each has the
 * major version of npm that ships with it.
 */
const NODES = [
  { node: "20.19.0", npm: "10" },
  { node: "22.12.0", npm: "10" },
  { node: "22.14.0", npm: "10" },
  { node: "24", npm: "12" },
  { node: "26", npm: "12" },
];

/** A client that runs under `exec`, and prints the status of its response. */
const CLIENT = `const { MERCHANT_BASE_URL, MERCHANT_API_KEY } = process.env;
fetch(MERCHANT_BASE_URL + "/payments", { headers: { authorization: "Bearer " + MERCHANT_API_KEY } })
  .then(({ status }) => console.log(status));
`;
/** The Node version to which the table in docs/troubleshooting.md applies. */
const OLD_NODE = "20.19.0";
const MOST_TIME = 600_000;

const root = join(dirname(fileURLToPath(import.meta.url)), "..");
const troubleshooting = readFileSync(join(root, "docs/troubleshooting.md"), "utf8");
const wanted = process.argv.slice(2);
const selected = (names) =>
  names.some((name) => wanted.includes(name)) ? names.filter((name) => wanted.includes(name)) : names;
const nodes = selected(NODES.map(({ node }) => node));

/** The folder with the headers of Node for node-gyp, if this machine cannot download them. */
const nodedir = run("npm", ["config", "get", "nodedir"]).trim();
const headers = nodedir === "undefined" ? {} : { npm_config_nodedir: nodedir };

const HEADING = "| Installer | Node | better-sqlite3 | Exit code | Output |\n|---|---|---|---|---|";
const work = mkdtempSync(join(tmpdir(), "merchant-sandbox-matrix-"));
try {
  const tarball = join(work, pack(root, work));
  const server = await openRegistry(tarball, JSON.parse(readFileSync(join(root, "package.json"), "utf8")), registry);
  const packed = { tarball, url: urlOf(server) };
  const rows = { newest: [], pinned: [] };
  console.log(HEADING);
  for (const name of selected(Object.keys(installers)))
    for (const row of NODES.filter(({ node }) => nodes.includes(node))) {
      const { beside = row.node, recipe } = installers[name];
      if (beside === row.node) rows.newest.push(await tryInstaller(name, row, packed));
      if (recipe !== undefined && row.node === OLD_NODE)
        rows.pinned.push(await tryInstaller(name, row, packed, filesOf(recipe)));
    }
  server.close();
  if (wanted.length === 0) writeFileSync(join(root, "scripts/matrix.md"), PAGE(rows));
} finally {
  rmSync(work, { recursive: true, force: true });
}

async function tryInstaller(name, row, { tarball, url }, recipe) {
  const installer = installers[name];
  const program = installer.program(row);
  const home = homeOf(row);
  const cwd = mkdtempSync(join(work, "project-"));
  const files = { "package.json": manifest([]), "client.cjs": CLIENT, ...installer.files, ...recipe };
  for (const [file, text] of Object.entries(files)) writeFileSync(join(cwd, file), text);

  // The node-gyp that Bun uses starts `bun`.
  const bin = join(cwd, "bin");
  mkdirSync(bin);
  symlinkSync(program, join(bin, name.split(/[@ ]/)[0]));
  const path = [join(home, "bin"), bin, plain.PATH].join(delimiter);
  const env = { ...plain, ...headers, ...installer.environment(join(cwd, "cache"), url), PATH: path };
  const execute = (...words) => runIn({ cwd, env }, program, words);
  const version = /\d+\.\d+\.\d+\S*/.exec((await execute("--version")).stdout)?.[0];
  const added = await execute(...installer.add(tarball));
  const ran = added.code === 0 ? await execute(...installer.run, "exec", "--", "node", "client.cjs") : added;

  const { code } = ran;
  const expected = recipe === undefined ? (installer.fails?.[row.node] ?? 0) : 0;
  const output =
    code === 0 ? /^\d{3}$/m.exec(ran.stdout)?.[0] : sentenceIn(ran.stderr + ran.stdout).replaceAll("|", "\\|");
  if (code !== expected || (code === 0 && output !== "200")) {
    console.error(`${ran.stdout}${ran.stderr}`);
    process.exitCode = 1;
  }
  const exit = code === expected ? code : `${code}, expected ${expected}`;
  const node = installer.beside === undefined ? run(join(home, "bin/node"), ["--version"]).trim() : "none";
  const cells = [`${name.split("@")[0]} ${version}`, node, sqliteIn(cwd), exit, output];
  rmSync(cwd, { recursive: true, force: true });
  console.log(`| ${cells.join(" | ")} |`);
  return `| ${cells.join(" | ")} |`;
}

function runIn(options, program, words) {
  return new Promise((resolve) => {
    const child = execFile(
      program,
      words,
      { ...options, timeout: MOST_TIME, maxBuffer: 2 ** 26 },
      (error, stdout, stderr) => resolve({ code: error ? (error.code ?? error.signal) : 0, stdout, stderr }),
    );
    child.stdin.end();
  });
}

/** A folder with Node and npm, laid out as Node's installer does it, because Yarn 1 uses npm's node-gyp. */
function homeOf({ node, npm }) {
  const home = join(work, `node-${node}`);
  if (existsSync(home)) return home;
  mkdirSync(join(home, "bin"), { recursive: true });
  mkdirSync(join(home, "lib/node_modules"), { recursive: true });
  copyFileSync(nodeOf(node), join(home, "bin/node"));
  symlinkSync(dirname(dirname(npmOf(npm))), join(home, "lib/node_modules/npm"));
  for (const name of ["npm", "npx"]) symlinkSync(`../lib/node_modules/npm/bin/${name}-cli.js`, join(home, "bin", name));
  return home;
}

function manifest(lines) {
  return `{ ${['"name": "project"', '"private": true', ...lines].join(", ")} }\n`;
}

/** The file that this row of the table in docs/troubleshooting.md tells users to write. */
function filesOf(row) {
  const [, , file, lines] = troubleshooting
    .split("\n")
    .find((line) => line.startsWith(`| ${row} |`))
    .split("|")
    .map((cell) => [...cell.matchAll(/`([^`]+)`/g)].map(([, text]) => text));
  return { [file[0]]: file[0] === "package.json" ? manifest(lines) : `${lines.join("\n")}\n` };
}

/** The line with the error of the program or of the installer. */
function sentenceIn(text) {
  return (
    /^merchant-sandbox: .*$/m.exec(text)?.[0] ?? /^.*\berror\b.*$/im.exec(text)?.[0] ?? text.trim().split("\n").at(-1)
  );
}

/** The version of better-sqlite3 in the installer's lock file. */
function sqliteIn(folder) {
  const lock = readdirSync(folder).find((file) => /lock/.test(file) && file !== "node_modules");
  const text = lock === undefined ? "" : readFileSync(join(folder, lock), "utf8");
  return /better-sqlite3(?:@|@[^\n]*\n\s*version:? "?|":\s*\{\s*"version": ")(\d[\d.]*)/.exec(text)?.[1] ?? "none";
}

function PAGE({ newest, pinned }) {
  return `<!-- Generated by \`npm run matrix\`: do not edit. -->

# Installers

Each installer adds the packed package to an empty folder, and \`merchant-sandbox exec\` runs a client there that lists
payments. The output is the status of its request, or the error. Where the Node is "none", Bun or Deno runs the program
itself, beside a Node that would refuse it.

${[HEADING, ...newest].join("\n")}

## With better-sqlite3 pinned

The same on Node 20, with the lines of [Troubleshooting](../docs/troubleshooting.md#the-sandbox-does-not-start).

${[HEADING, ...pinned].join("\n")}
`;
}
