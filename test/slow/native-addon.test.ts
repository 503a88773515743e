// If this Node cannot load better-sqlite3, or if the files of the package are missing, the built program and library
// report the reason in one sentence.

import { cpSync, mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, test } from "vitest";
import { folder, launchCommand, launchFile, PROGRAM } from "../support/program.ts";
import { open as openTerminal } from "../support/terminal.ts";

const CRASHES = `module.exports = class { constructor() { process.kill(process.pid, "SIGSEGV"); } };`;
const fails = (message: string) =>
  `module.exports = class { constructor() { throw new Error(${JSON.stringify(message)}); } };`;
const DOES_NOT_LOAD = fails("libfoo.so is missing\nmore");

/** A copy of the package with another better-sqlite3. A preloaded script makes Node report 22.12 and Node-API 9. */
function installation(version: string, source: string) {
  const home = folder();
  cpSync(dirname(PROGRAM), join(home, "dist"), { recursive: true });
  for (const name of ["fixtures", "package.json"])
    cpSync(join(dirname(PROGRAM), "..", name), join(home, name), { recursive: true });
  const addon = join(home, "node_modules/better-sqlite3");
  mkdirSync(addon, { recursive: true });
  writeFileSync(join(addon, "package.json"), JSON.stringify({ name: "better-sqlite3", version, main: "index.js" }));
  writeFileSync(join(addon, "index.js"), source);
  const pretend = join(home, "pretend.cjs");
  writeFileSync(
    pretend,
    `Object.defineProperty(process, "versions", { value: { ...process.versions, node: "22.12.0", napi: "9" } });`,
  );
  // The compiled code of this copy is not cached, because no other run could use it.
  const variables = { NODE_OPTIONS: `--require ${JSON.stringify(pretend)}`, NODE_DISABLE_COMPILE_CACHE: "1" };
  return {
    variables,
    program: join(home, "dist/bin.cjs"),
    run: (...words: string[]) => launchFile(join(home, "dist/bin.cjs"), words, variables).ended,
    evaluate: (script: string) => launchCommand(process.execPath, ["--eval", script], variables, home).ended,
  };
}

const REFUSAL =
  "better-sqlite3 13.2.0 needs Node-API 10, and Node 22.12.0 has Node-API 9: install Node 24, or 22.14 or newer, " +
  "or pin better-sqlite3 to ^12.11.1.";

describe("a better-sqlite3 that would crash this Node", () => {
  test.each([
    ["start in memory", ["start", "--memory", "--port", "0"]],
    ["start in the background", ["start", "--memory", "--port", "0", "--detach"]],
    ["exec", ["exec", "--", "node", "--version"]],
  ])("is reported in one sentence by %s", async (_, words) => {
    expect(await installation("13.2.0", CRASHES).run(...words)).toEqual({
      code: 7,
      signal: null,
      out: [],
      error: `merchant-sandbox: ${REFUSAL}\n`,
    });
  });

  test("is reported in one sentence by the dashboard, whose sandbox runs in a worker thread", async () => {
    const { program, variables } = installation("13.2.0", CRASHES);
    const terminal = openTerminal(process.execPath, [program, "start", "--memory", "--port", "0"], { variables });
    expect(await terminal.ended).toMatchObject({ code: 7 });
    expect(terminal.text().replaceAll("\n", "")).toContain("better-sqlite3 13.2.0 needs Node-API 10");
  });

  test("makes createSandbox() reject with a code", async () => {
    const print = "({ code, message }) => console.log(code, message)";
    const script = `require("./dist/index.cjs").createSandbox().catch(${print})`;
    const { code, out } = await installation("13.2.0", CRASHES).evaluate(script);
    expect([code, out]).toEqual([0, [`unsupported_node ${REFUSAL}`]]);
  });

  test("is reported by doctor, which continues with the other checks", async () => {
    const { code, out } = await installation("13.2.0", CRASHES).run("doctor", "--port", "0", "--memory");
    expect([code, out.slice(0, 3)]).toEqual([
      1,
      [
        "fail  better-sqlite3 13.2.0 needs Node-API 10, and Node 22.12.0 has Node-API 9",
        "      Install Node 24, or 22.14 or newer, or pin better-sqlite3 to ^12.11.1.",
        "ok    any free port",
      ],
    ]);
  });
});

describe("a better-sqlite3 without a binary for this Node", () => {
  const sentence = "better-sqlite3 does not load in Node 22.12.0: libfoo.so is missing";

  test("is reported before the sandbox is ready", async () => {
    expect(await installation("12.11.1", DOES_NOT_LOAD).run("start", "--memory", "--port", "0")).toMatchObject({
      code: 7,
      out: [],
      error:
        `merchant-sandbox: ${sentence}: install it again with install scripts allowed, or install Node 24, ` +
        "which needs no install script.\n",
    });
  });

  test("is reported with the command that compiles it again, if it was compiled for another Node", async () => {
    const otherNode =
      "The module 'x.node'\nwas compiled against a different Node.js version using\nNODE_MODULE_VERSION 115.";
    const { error } = await installation("12.11.1", fails(otherNode)).run("start", "--memory", "--port", "0");
    expect(error).toContain(
      "in Node 22.12.0: it was compiled for another Node version: run npm rebuild better-sqlite3.\n",
    );
  });

  test("is reported by doctor", async () => {
    const { code, out } = await installation("12.11.1", DOES_NOT_LOAD).run("doctor", "--port", "0", "--memory");
    expect([code, out.slice(0, 2)]).toEqual([
      1,
      [
        `fail  ${sentence}`,
        "      Install it again with install scripts allowed, or install Node 24, which needs no install script.",
      ],
    ]);
  });
});

test("code that a bundler took out of the package reports that its files are missing", async () => {
  const bundle = folder();
  cpSync(dirname(PROGRAM), bundle, { recursive: true });
  const variables = { NODE_PATH: join(dirname(PROGRAM), "../node_modules") };
  const script = `require("./index.cjs").createSandbox().catch(({ message }) => console.log(message))`;
  const { out } = await launchCommand(process.execPath, ["--eval", script], variables, bundle).ended;
  expect(out).toEqual(["merchant-sandbox was bundled without its files: let the bundler leave it external."]);
});
