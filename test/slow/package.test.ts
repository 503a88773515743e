// Packs the package as for publishing, installs it in an empty folder as npm would, and runs it.

import { execFile } from "node:child_process";
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { basename, join, posix } from "node:path";
import { promisify } from "node:util";
import { transform } from "esbuild";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { addonVersion, nativePackages } from "../support/native-packages.ts";
import { needs, UNIX } from "../support/needs.ts";
import { fences, readPage } from "../support/page.ts";
import { launchFile } from "../support/program.ts";
import { call } from "../support/sandbox.ts";

const run = promisify(execFile);
const root = join(import.meta.dirname, "../..");
const onWindows = process.platform === "win32";

interface Packed {
  filename: string;
  unpackedSize: number;
  files: { path: string }[];
}

let folder: string;
let home: string;
let published: string[];
let size: number;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "merchant-sandbox-package-"));
  home = join(folder, "node_modules/merchant-sandbox");
  // Runs no scripts, because `prepare` would build dist/ again while other tests run programs from it.
  const printed = await npm("pack", "--json", "--ignore-scripts", "--pack-destination", folder);
  // npm 12 prints an object with the packages by name; older versions print a list.
  const [packed] = Object.values(JSON.parse(printed)) as [Packed];
  published = packed.files.map(({ path }) => path);
  size = packed.unpackedSize;
  mkdirSync(home, { recursive: true });
  await run("tar", ["-xzf", join(folder, packed.filename), "-C", home, "--strip-components=1"]);
  for (const from of nativePackages()) cpSync(from, join(folder, "node_modules", basename(from)), { recursive: true });
  writeFileSync(join(folder, "package.json"), JSON.stringify({ private: true, type: "module" }));
}, 300_000);

afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Runs npm through its script if possible, because Windows cannot start a `.cmd` without a shell. */
async function npm(...words: string[]): Promise<string> {
  const script = process.env.npm_execpath;
  const [file, before] = script === undefined ? ["npm", []] : [process.execPath, [script]];
  const { stdout } = await run(file, [...before, ...words], {
    cwd: root,
    shell: script === undefined && onWindows,
    maxBuffer: 16 * 1_048_576,
  });
  return stdout;
}

const node = (...words: string[]) => run(process.execPath, words, { cwd: folder });

/** The errors that the TypeScript compiler reports for these files in strict mode. */
const compile = async (cwd: string, ...words: string[]): Promise<string> => {
  const tsc = createRequire(import.meta.url).resolve("typescript/bin/tsc");
  const flags = [tsc, "--noEmit", "--strict", ...words];
  return (await run(process.execPath, flags, { cwd }).catch((error: { stdout: string }) => error)).stdout;
};

const text = (path: string) => readFileSync(join(home, path), "utf8");

interface Manifest {
  version: string;
  bin: Record<string, string>;
  dependencies: Record<string, string>;
}

const manifest = () => JSON.parse(text("package.json")) as Manifest;
const bin = () => join(home, manifest().bin["merchant-sandbox"] ?? "");

describe("the tarball", () => {
  it("contains only the bundles, types, fixtures, recipes, documentation and licences", () => {
    const others = published.filter((path) => !/^(dist|docs|fixtures|recipes|types)\//.test(path));
    expect(others.sort()).toEqual(["LICENSE", "README.md", "SECURITY.md", "llms.txt", "package.json"]);
    expect(published).not.toContain("dist/example-replies.json");
    expect(published).toEqual(
      expect.arrayContaining([
        "dist/bin.cjs",
        "dist/program.cjs",
        "dist/index.cjs",
        "dist/dashboard.js",
        "dist/browser/main.js",
        "dist/world.db",
        "dist/world.json",
        "dist/vitest.js",
        "dist/playwright.js",
        "dist/THIRD-PARTY-LICENSES.txt",
        "fixtures/merchants/lodge.json",
        "types/config.schema.json",
        "types/index.d.cts",
        "types/vitest.d.ts",
        "types/playwright.d.ts",
      ]),
    );
    expect(
      published.filter(
        (path) =>
          !/\.([cm]?js|d\.c?ts|txt|json|md|svg|webp|db)$|^LICENSE$|^recipes\/|^dist\/browser\/page\.(?:html|css)$/.test(
            path,
          ),
      ),
    ).toEqual([]);
  });

  it("contains every file that its pages link to, but of the pictures only those of the README", () => {
    const pages = published.filter((path) => /\.md$|^llms\.txt$/.test(path));
    const targets = pages.flatMap((page) => {
      const prose = text(page).replaceAll(/^```[\s\S]*?^```$/gm, "");
      const links = [...prose.matchAll(/\]\(([^)\s#]+)[^)]*\)|\b(?:src|srcset|href)="([^"#]+)/g)].map(
        ([, link, attribute]) => link ?? attribute ?? "",
      );
      return links
        .filter((link) => !/^[a-z]+:/.test(link))
        .map((link) => ({ page, target: posix.join(posix.dirname(page), link) }));
    });
    expect(targets.map(({ target }) => target)).toEqual(
      expect.arrayContaining(["docs/pictures/dashboard-120x36-dark.svg", "recipes/Dockerfile"]),
    );
    const isPublished = (target: string) => published.some((path) => path === target || path.startsWith(`${target}/`));
    const isLeftOut = (target: string) => /^docs\/pictures\/(?!dashboard-120x36-)/.test(target);
    expect(targets.filter(({ target }) => isLeftOut(target) === isPublished(target))).toEqual([]);
  });

  it("unpacks to at most 5.32 MB, and contains ws once", () => {
    expect(size).toBeLessThanOrEqual(5_320_000);
    const code = published.filter((path) => /\.c?js$/.test(path));
    expect(
      code.filter((path) => text(path).includes("WebSocket was closed before the connection was established")),
    ).toEqual(["dist/packages/ws.cjs"]);
  });

  it("depends only on better-sqlite3, in versions with a binary for each supported Node", () => {
    expect(manifest().dependencies).toEqual({ "better-sqlite3": "^12.11.1 || ^13.2.0" });
    expect(manifest()).not.toHaveProperty("scripts.install");
  });

  it("is built and tested with the better-sqlite3 that npm selects for this Node", () => {
    expect(Number.parseInt(addonVersion(), 10)).toBe(process.versions.node.startsWith("20.") ? 12 : 13);
  });

  it("has no peer dependencies, because npm 10 fails if vitest is one, even an optional one", () => {
    expect(manifest()).not.toHaveProperty("peerDependencies");
    // The entry in peerDependenciesMeta suffices for Yarn and pnpm to find the project's vitest.
    expect(manifest()).toHaveProperty("peerDependenciesMeta.vitest.optional", true);
  });

  it("contains no path of the build machine", () => {
    expect(published.filter((path) => text(path).includes(root))).toEqual([]);
  });

  it("contains the licence of every bundled package", () => {
    const code = published.filter((path) => /\.c?js$/.test(path)).map(text);
    const bundled = new Set(code.flatMap((source) => /^\/\/ Contains (.+)\.$/m.exec(source)?.[1]?.split(", ") ?? []));
    const licences = text("dist/THIRD-PARTY-LICENSES.txt");
    expect([...bundled]).toEqual(expect.arrayContaining(["ink", "undici", "ws"]));
    expect([...bundled].filter((name) => !licences.includes(`\n${name} `))).toEqual([]);
  });
});

describe("the command", () => {
  it.skipIf(onWindows)(`is an executable file${needs(!onWindows, UNIX)}`, async () => {
    // At least the owner may run the file. npm sets the other permissions by the umask.
    expect(statSync(bin()).mode & 0o100).toBe(0o100);
    const { stdout } = await run(bin(), ["--version"], { cwd: folder });
    expect(stdout).toBe(`${manifest().version}\n`);
  });

  it("starts on a free port, prints one line of JSON, responds and shuts down", async () => {
    const started = launchFile(bin(), ["start", "--memory", "--port", "0", "--json"], {}, folder);
    const ready = JSON.parse(await started.line(() => true)) as { event: string; version: string; url: string };
    expect(ready).toMatchObject({ event: "ready", version: manifest().version });

    const answer = await call(ready.url, "GET", "/v1/payments?limit=1");
    expect(answer.status).toBe(200);
    expect(answer.body).toMatchObject({ object: "list", data: [{ object: "payment" }], has_more: true });

    started.child.kill("SIGTERM");
    // Windows has no SIGTERM, so the process is terminated without a code.
    expect((await started.ended).code).toBe(onWindows ? null : 0);
  });

  it("prints one sentence on an unsupported Node, and has only syntax that such a Node can parse", async () => {
    const pretend =
      `Object.defineProperty(process, "versions", { value: { node: "18.20.8" } }); ` +
      `require(${JSON.stringify(bin())});`;
    const refused = await node("--input-type=commonjs", "--eval", pretend).catch(
      (error: { code: number; stderr: string }) => error,
    );
    expect(refused).toMatchObject({
      code: 7,
      stderr: "merchant-sandbox needs Node 20.19, or 22.14 or newer, and this is Node 18.20.8: install Node 24.\n",
    });
    const written = await transform(text("dist/bin.cjs"), { target: "esnext" });
    const lowered = await transform(text("dist/bin.cjs"), { target: "es2017" });
    expect(lowered.code).toBe(written.code);
  });
});

describe("the library", () => {
  it("can be imported and serves requests", async () => {
    const script = `
      import { createSandbox } from "merchant-sandbox";
      const sandbox = await createSandbox();
      const answer = await fetch(sandbox.baseUrl + "/merchants/me", {
        headers: { authorization: "Bearer sk_test_lodge" },
      });
      console.log(answer.status);
      await sandbox.close();
    `;
    const { stdout } = await node("--input-type=module", "--eval", script);
    expect(stdout).toBe("200\n");
  });

  // One run of the compiler checks every module that is compiled with these options, because a run takes seconds.
  it("compiles in strict mode without @types/node, as ESM and CommonJS, and with Vitest 5", async () => {
    const usage = [
      `import { type ClockAdvanceReply, connect, createSandbox, type Merchant, ownMerchant } from "merchant-sandbox";`,
      `import { type Sandbox, SandboxError } from "merchant-sandbox";`,
      `export async function first(): Promise<Merchant | undefined> {`,
      `  await using sandbox: Sandbox = await createSandbox({ clock: "2026-01-05T12:00:00Z", port: 0 });`,
      `  sandbox.onRequest(({ status }) => status.toFixed());`,
      `  const text: string = await sandbox.report({ format: "junit" });`,
      `  const { attempts }: ClockAdvanceReply = await sandbox.clock.advance({ by: text.length + "s" });`,
      `  const fixture = attempts[0]?.merchant ?? "lodge";`,
      "  await using merchant = await ownMerchant(connect(sandbox.url), { fixture });",
      `  const match = { body: { "/amount": { gte: 1 } } };`,
      `  await merchant.faults.add({ match, action: { type: "status", status: 500 } });`,
      `  // @ts-expect-error: an action that does not exist`,
      `  await sandbox.faults.add({ action: { type: "lost_respons" } });`,
      `  // @ts-expect-error: a duration is text`,
      `  await sandbox.clock.advance({ by: 24 });`,
      `  // @ts-expect-error: the id of the request is missing`,
      `  await sandbox.requests.get();`,
      `  return (await sandbox.merchants.list()).data[0];`,
      `}`,
      `export const refused = (error: unknown): boolean => error instanceof SandboxError;`,
      `// @ts-expect-error: an option that does not exist`,
      `export const wrong = () => createSandbox({ prot: 0 });`,
    ];
    writeFileSync(join(folder, "usage.ts"), usage.join("\n"));
    const required = [
      `import { createSandbox, type Sandbox } from "merchant-sandbox";`,
      `import sandboxes = require("merchant-sandbox");`,
      `export const both: Promise<Sandbox>[] = [createSandbox(), sandboxes.createSandbox()];`,
    ];
    writeFileSync(join(folder, "usage.cts"), required.join("\n"));
    const vitest = join(folder, "node_modules/vitest");
    mkdirSync(vitest);
    // In Vitest 5, the interface of the matchers has other type parameters than in Vitest 4.
    const types = [
      `declare global { namespace Chai { interface Assertion { not: Assertion } } }`,
      `export interface Matchers<R extends void | Promise<void> = void, T = unknown> {}`,
      `export interface Assertion<R extends void | Promise<void>, T> extends Chai.Assertion, Matchers<R, T> {}`,
      `export declare const expect: <T>(actual: T) => Assertion<void, T>;`,
      `export type TestAPI<Fixtures> = (name: string, run: (fixtures: Fixtures) => Promise<void>) => void;`,
    ];
    writeFileSync(join(vitest, "package.json"), `{"name": "vitest", "version": "5.0.0", "types": "index.d.ts"}`);
    writeFileSync(join(vitest, "index.d.ts"), types.join("\n"));
    const matching = [
      `import { expect, test } from "merchant-sandbox/vitest";`,
      `test("lists", async ({ merchant }) => {`,
      `  const held: Promise<void> = expect(merchant).toHaveRequested({ operation: "payments.list" });`,
      `  await held;`,
      `  // @ts-expect-error: an operation that does not exist`,
      `  await expect(merchant).toHaveRequested({ operation: "payment.list" });`,
      `});`,
    ];
    writeFileSync(join(folder, "matching.ts"), matching.join("\n"));
    const flags = ["--skipLibCheck", "false", "--skipDefaultLibCheck", "--target", "es2022", "--module", "nodenext"];
    expect(await compile(folder, ...flags, "usage.ts", "usage.cts", "matching.ts")).toBe("");
    rmSync(vitest, { recursive: true });
  });

  it("compiles in a CommonJS project whose module resolution ignores the field `exports`", async () => {
    const usage = [
      `import { createSandbox, type Sandbox } from "merchant-sandbox";`,
      `import type { SandboxFixtures } from "merchant-sandbox/vitest";`,
      `export const fixtures = async (merchant: SandboxFixtures["merchant"]): Promise<SandboxFixtures> => {`,
      `  const sandbox: Sandbox = await createSandbox({ port: 0 });`,
      `  // @ts-expect-error: an option that does not exist`,
      `  await createSandbox({ prot: 0 });`,
      `  return { sandbox, merchant };`,
      `};`,
    ];
    writeFileSync(join(folder, "usage.ts"), usage.join("\n"));
    const flags = ["--skipLibCheck", "--target", "es2022", "--module", "commonjs", "--moduleResolution", "node10"];
    expect(await compile(folder, ...flags, "usage.ts")).toBe("");
  });

  it("compiles in the sample shop, which uses Vitest; the examples of docs/library.md compile too", async () => {
    const shop = join(folder, "node_modules/sample-shop");
    cpSync(join(root, "test/sample-shop"), shop, { recursive: true });
    for (const name of ["vitest", "express", "@types"])
      symlinkSync(join(root, "node_modules", name), join(folder, "node_modules", name), "junction");
    const page = readPage("docs/library.md");
    const uses = ["express", "vitest", "supertest", "jest"];
    const examples = [fences(page, "ts").join("\n"), ...uses.flatMap((use) => fences(page, `ts ${use}`))];
    const files = examples.map((_, index) => `example-${index}.ts`);
    for (const [index, name] of files.entries()) writeFileSync(join(shop, name), `${examples[index]}\nexport {};\n`);
    // The types of supertest and Jest are not installed in this project.
    const globals = ["beforeAll", "afterAll", "test", "expect"].map((name) => `declare const ${name}: any;`);
    writeFileSync(join(shop, "untyped.d.ts"), ['declare module "supertest";', ...globals].join("\n"));
    const flags = ["--skipLibCheck", "--allowImportingTsExtensions", "--module", "nodenext", "--types", "node"];
    const language = ["--target", "es2023", "--lib", "es2023,esnext.disposable"];
    const shopFiles = ["src/shop.ts", "src/client.ts", "test/shop.test.ts"];
    expect(await compile(shop, ...flags, ...language, ...shopFiles, "untyped.d.ts", ...files)).toBe("");
  });

  it("leaves no files in the working folder", () => {
    expect(
      readdirSync(folder).filter(
        (name) => !/\.tgz$|^(node_modules|package\.json|matching\.ts|usage\.c?ts)$/.test(name),
      ),
    ).toEqual([]);
  });
});
