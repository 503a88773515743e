// Runs each `npx merchant-sandbox` command of the pages in a project in which a checkout is installed. Also runs one
// command of each page in the checkout, and in a project in which the tarball is installed. In each of these folders,
// the real npx starts the sandbox; the other commands run the file that npx would run. Other tests check the output.

import { execFile } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, test } from "vitest";
import { isHosted, runHosted, wordsOf } from "../support/hosted-commands.ts";
import { nativePackages } from "../support/native-packages.ts";
import { readPage, root } from "../support/page.ts";
import { launchCommand, ownEnvironment } from "../support/program.ts";

const COMMAND = /npx merchant-sandbox\b/;

const pages = [
  "README.md",
  "llms.txt",
  "fixtures/skill.md",
  "recipes/shell/sandbox.sh",
  ...["docs", "fixtures/lessons"].flatMap((under) =>
    readdirSync(join(root, under))
      .filter((name) => name.endsWith(".md"))
      .map((name) => `${under}/${name}`),
  ),
];

/**
 * The commands of a page, from its code blocks and from code between backticks. `text` blocks show output, so they are
 * left out.
 */
function commandsOf(page: string): string[] {
  const text = readPage(page);
  const blocks = [...text.matchAll(/^```(\w*)\n([\s\S]*?)\n```$/gm)].flatMap(([, language, block = ""]) =>
    language === "text" ? [] : [block],
  );
  const lines = page.endsWith(".sh") ? text.split("\n") : blocks.join("\n").split("\n");
  const inText = [...text.replaceAll(/^```[\s\S]*?^```$/gm, "").matchAll(/`(npx merchant-sandbox[^`]*)`/g)];
  return [...lines, ...inText.map(([, command = ""]) => command.replaceAll("\n", " "))]
    .filter((line) => COMMAND.test(line))
    .map((line) => line.slice(line.search(COMMAND)).replace(/\s+(#|&$|&&$|> \S+).*$/, ""));
}

/** Removes the parts that belong to the shell or file around a command. */
const tidy = (command: string) => command.replace(/\)"$|`$|[\\,]+$|",$/, "").trim();

/** A call that replaces the test suite in a command such as `exec -- npm test`. */
const CALL = `-- "${process.execPath}" -e "require('http').get(process.env.MERCHANT_BASE_URL, (r) => r.resume())"`;

/** Replaces the words after ` -- `, which start the user's tests or app, with a call. */
const withCall = (command: string) => command.replace(/ -- .*$/, ` ${CALL}`);

/** Commands that run until they are stopped. All other commands end on their own. */
const RUNS_ON = /^npx merchant-sandbox($| (--(?!version)|attach|dev|learn|listen|receive|start(?!.*--detach)))/;

/** Commands for a detached sandbox, which the test runs at its end. */
const DETACHED = / (start --detach|stop$)/;

/** Commands with a placeholder for something that only the reader has. */
const UNNAMED = / …$| whd_…$| (endpoints|verdicts) <id>$/;

const commandsByPage = pages.map((page) =>
  commandsOf(page)
    .map((command) => withCall(tidy(command)))
    .filter((command) => !UNNAMED.test(command)),
);

const commands = [...new Set(commandsByPage.flat())];

/** From each page, the first command that ends on its own. */
const samples = new Set(
  commandsByPage.flatMap((all) => all.find((command) => !RUNS_ON.test(command) && !DETACHED.test(command)) ?? []),
);

/** Commands that listen at a port; the test gives each a free port. */
const LISTENS = /^npx merchant-sandbox($| (--(?!version)|dev|receive|start|learn))/;

/** The expected exit codes of commands that report on a client. In this test there is no client. */
const REPORTS: readonly [RegExp, readonly number[]][] = [
  [/ scenario score /, [0, 3, 4]],
  [/ audit /, [0, 1, 3, 4]],
  [/ verdicts --fail$/, [0, 3]],
  [/ verify /, [0, 3]],
  [/ compare /, [0, 3, 4]],
  [/ doctor$/, [0, 1]],
];

/** A busy machine takes long for more than a hundred processes. Failures show in exit codes, not in this timeout. */
const HOUR = 3_600_000;

let base: string;
let env: Record<string, string>;
let receiver: Server;

const npm = (cwd: string, ...words: string[]) => promisify(execFile)("npm", words, { cwd, env });

/** Makes a folder that links to the files of this checkout. */
function openCheckout(): void {
  const folder = join(base, "checkout");
  mkdirSync(folder);
  for (const name of readdirSync(root).filter((name) => !name.startsWith(".")))
    symlinkSync(join(root, name), join(folder, name));
}

/** Installs the packed package in a project. Its one dependency comes from the checkout, because npm is offline. */
async function installTarball(): Promise<void> {
  const { stdout } = await npm(root, "pack", "--ignore-scripts", "--pack-destination", base);
  const filename = stdout.trim();
  const cwd = join(base, "tarball");
  mkdirSync(cwd);
  const devDependencies = { "better-sqlite3": `file:${nativePackages()[0]}` };
  writeFileSync(join(cwd, "package.json"), JSON.stringify({ private: true, devDependencies }));
  await npm(cwd, "install", "--save-dev", "--ignore-scripts", "--no-audit", "--no-fund", join(base, filename));
}

beforeAll(async () => {
  base = mkdtempSync(join(tmpdir(), "merchant-sandbox-npx-"));
  const own = Object.entries(ownEnvironment()).filter(([name]) => !/^(npm_|NODE_ENV$|VITEST)/i.test(name));
  env = {
    ...Object.fromEntries(own),
    npm_config_cache: join(base, "cache"),
    npm_config_offline: "true",
    npm_config_loglevel: "error",
    GITHUB_ENV: join(base, "github-env"),
    GITHUB_OUTPUT: join(base, "github-output"),
    MERCHANT_WEBHOOK_SECRET: "whsec_0123456789abcdef",
  };
  openCheckout();
  mkdirSync(join(base, "project"));
  writeFileSync(join(base, "project/package.json"), '{ "private": true }\n');
  await npm(join(base, "project"), "install", "--save-dev", "--no-audit", "--no-fund", "../checkout");
  await installTarball();
  // The commands that count a receiver's effects read this file. Usually, the receiver writes it.
  for (const place of ["checkout", "project", "tarball"]) writeFileSync(join(base, place, "orders.log"), "");
  receiver = createServer((incoming, outgoing) => void incoming.resume().on("end", () => outgoing.end()));
  await new Promise<void>((resolve) => void receiver.listen(0, "127.0.0.1", resolve));
}, HOUR);

afterAll(() => {
  receiver.close();
  rmSync(base, { recursive: true, force: true });
});

/**
 * Runs commands in a folder in which npx finds this file. A command that does not end by itself is stopped after its
 * first line of output.
 */
function openPlace(cwd: string, file: string) {
  const program = join(cwd, file);
  // Runs no scripts: `prepare` ran when the project was installed, and npx would run it again in a checkout.
  const npxEnv = { ...env, npm_config_ignore_scripts: "true" };
  const npx = (words: string) => launchCommand("sh", ["-c", `exec npx merchant-sandbox ${words}`], npxEnv, cwd).ended;
  const run = async (command: string) => {
    const words = wordsOf(command, env);
    if (isHosted(words, {})) return runHosted({ program, words, cwd, variables: env });
    const { line, ended, child } = launchCommand(process.execPath, [program, ...words], env, cwd);
    // The MCP server exits when its standard input ends.
    child.stdin?.end();
    if (!RUNS_ON.test(command)) return ended;
    const code = await line(() => true).then(
      () => 0,
      async () => (await ended).code,
    );
    child.kill("SIGTERM");
    return { ...(await ended), code };
  };
  return { npx, run };
}

const INSTALLED = "node_modules/.bin/merchant-sandbox";

// All three folders run the same program. The project runs every command, because it lacks the checkout's files.
const everywhere = [...samples.add("npx merchant-sandbox --version")];
const places: readonly [place: string, file: string, commands: readonly string[]][] = [
  ["checkout", "dist/bin.cjs", everywhere],
  ["project", INSTALLED, commands],
  ["tarball", INSTALLED, everywhere],
];

/** Registers an endpoint, because an audit without --secret reads its secret. Resets remove the endpoint. */
async function registerEndpoint(url: string, port: number): Promise<void> {
  // Removes faults first: an outage that a page arms for some seconds would answer the next call with 503.
  await fetch(`${url}/_sandbox/faults`, { method: "DELETE" });
  const headers = { authorization: "Bearer sk_test_lodge", "content-type": "application/json" };
  const body = JSON.stringify({ url: `http://127.0.0.1:${port}/`, events: ["*"] });
  const response = await fetch(`${url}/v1/webhooks`, { method: "POST", headers, body });
  expect([response.status, await response.text()]).toEqual([201, expect.any(String)]);
}

/** Runs the commands one after another in one of the folders, and returns the commands that failed. */
async function failuresIn([place, file, ran]: (typeof places)[number]): Promise<unknown[]> {
  const cwd = join(base, place);
  const { npx, run } = openPlace(cwd, file);
  const { out } = await npx("start --detach --memory --port 0 --json");
  const { url } = JSON.parse(out.join("\n")) as { url: string };
  writeFileSync(join(cwd, "recording.har"), await (await fetch(`${url}/_sandbox/report?format=har`)).text());
  writeFileSync(join(cwd, "received.jsonl"), "");
  writeFileSync(join(cwd, "faults.json"), "[]");
  const { port } = receiver.address() as AddressInfo;
  const triggerEvent = async () =>
    /evt_\w+/.exec(String((await run("npx merchant-sandbox trigger payout.paid --json")).out))?.[0];
  const here = async (command: string) => {
    const said = command
      .replaceAll("http://127.0.0.1:4747", url)
      .replaceAll("localhost:3000", `127.0.0.1:${port}`)
      .replace("<id>", "4bf92f3577b34da6a3ce929d0e0e4736")
      .replace("evt_…", command.includes("evt_…") ? `${await triggerEvent()}` : "")
      .replace(" dev ", " dev --port 0 ");
    const isOnAnyPort = LISTENS.test(said) && !/--(port|detach)/.test(said);
    return isOnAnyPort ? said.replace(/(?= -- |$)/, " --port 0") : said.replace("4800", "0");
  };
  const failures = [];
  try {
    for (const command of ran.filter((one) => !DETACHED.test(one))) {
      if (command.includes(" audit ")) await registerEndpoint(url, port);
      const { code, error } = await run(await here(command));
      const expected = REPORTS.find(([pattern]) => pattern.test(command))?.[1] ?? [0];
      if (code === null || !expected.includes(code)) failures.push({ place, command, code, error });
    }
  } finally {
    const starts = ran.filter((one) => one.includes(" start --detach"));
    for (const command of ["npx merchant-sandbox stop", ...starts.flatMap((one) => [one, "npx merchant-sandbox stop"])])
      expect([command, (await run(command)).code]).toEqual([command, 0]);
  }
  return failures;
}

test("the commands of the pages succeed in a checkout, a project and from a tarball", { timeout: HOUR }, async () => {
  // Each folder has its own sandbox, so the folders are tested concurrently.
  const failures = await Promise.all(places.map(failuresIn));
  expect(failures.flat()).toEqual([]);
});

test("the pages contain more than 40 different commands", () => {
  expect(commands.length).toBeGreaterThan(40);
});
