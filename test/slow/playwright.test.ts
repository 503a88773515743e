// Runs browser tests with Playwright and Chromium. Each test has its own merchant, and all tests share one app process
// with one API key. BROWSER_TESTS and BROWSER_WORKERS set the number of tests and workers.

import { cpSync, mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { browserFile } from "../support/browser.ts";
import { folder, launch } from "../support/program.ts";
import { freePort } from "../support/sandbox.ts";

const root = join(import.meta.dirname, "../..");
const { BROWSER_TESTS = "4", BROWSER_WORKERS = "2" } = process.env;

/** Prints the statuses of the requests of the shop's own merchant, and how many merchants are left. */
const COUNT = `
const { MERCHANT_SANDBOX_URL: url } = process.env;
const requests = await (await fetch(url + "/_sandbox/requests?limit=100&merchant=mer_lodge")).json();
const merchants = await (await fetch(url + "/_sandbox/merchants")).json();
console.log("own", requests.data.map(({ status }) => status).join(), "left", merchants.data.length);`;

/** Makes a project with a copy of the package. With a link to the package, Playwright would be loaded twice. */
function project(): string {
  const home = folder();
  cpSync(join(root, "test/support/browser-shop"), home, { recursive: true });
  mkdirSync(join(home, "node_modules/@playwright"), { recursive: true });
  const packages = ["express", "playwright", "playwright-core", "@playwright/test", "better-sqlite3"];
  for (const name of packages) symlinkSync(join(root, "node_modules", name), join(home, "node_modules", name));
  const own = join(home, "node_modules/merchant-sandbox");
  for (const part of ["dist", "fixtures"]) cpSync(join(root, part), join(own, part), { recursive: true });
  cpSync(join(root, "package.json"), join(own, "package.json"));
  writeFileSync(join(home, "package.json"), '{ "type": "module" }');
  writeFileSync(join(home, "count.js"), COUNT);
  return home;
}

test("a browser test sees only its merchant through the shared app; a call without the header is rejected", {
  timeout: 900_000,
}, async () => {
  const [home, port] = [project(), String(await freePort())];
  const tests = `${process.execPath} node_modules/@playwright/test/cli.js test && ${process.execPath} count.js`;
  const words = ["exec", "--isolation", "strict", "--forward-to", `http://127.0.0.1:${port}/hooks`];
  const given = { CHROMIUM: browserFile ?? "", PORT: port, TESTS: BROWSER_TESTS, WORKERS: BROWSER_WORKERS };
  const { code, out, error } = await launch([...words, "--", "sh", "-c", tests], given, home).ended;
  const said = out.join("\n");
  expect([code, said.includes(`${Number(BROWSER_TESTS) + 1} passed`)], said + error).toEqual([0, true]);
  expect(said).toContain("own 403 left 4");
});

/** A suite in which one test passes, and one fails because no call acts as its merchant. */
const LINKED = `
import { expect, test } from "merchant-sandbox/playwright";
test("has a merchant", async ({ merchant }) => expect(merchant.id).toMatch(/^mer_/));
test("sees no event", async ({ merchant }) => expect(await merchant.events()).toHaveLength(1));`;

test("a package linked from its checkout uses the Playwright of the project", { timeout: 900_000 }, async () => {
  const home = folder();
  mkdirSync(join(home, "node_modules/@playwright"), { recursive: true });
  // Copies Playwright, because a link would lead to the checkout's own Playwright. The package itself is linked, as npm
  // links a package that is installed from a folder.
  for (const name of ["playwright", "@playwright/test"])
    cpSync(join(root, "node_modules", name), join(home, "node_modules", name), { recursive: true });
  symlinkSync(join(root, "node_modules/playwright-core"), join(home, "node_modules/playwright-core"));
  symlinkSync(root, join(home, "node_modules/merchant-sandbox"));
  writeFileSync(join(home, "package.json"), '{ "type": "module" }');
  writeFileSync(join(home, "linked.spec.js"), LINKED);
  const words = ["exec", "--", process.execPath, "node_modules/@playwright/test/cli.js", "test", "--reporter=line"];
  const { code, out, error } = await launch(words, {}, home).ended;
  const said = out.join("\n") + error;
  expect([code, said]).toEqual([1, expect.stringMatching(/1 failed[\s\S]*1 passed/)]);
  expect(said.match(/No call acted as mer_\w+, the merchant of this test\. Check that the app runs/g)).toHaveLength(1);

  const alone = ["exec", "--", "env", "-u", "MERCHANT_SANDBOX_URL", ...words.slice(2)];
  const { out: outAlone, error: errorAlone } = await launch(alone, {}, home).ended;
  expect(outAlone.join("\n") + errorAlone).toMatch(
    /No call acted as mer_\w+, the merchant of this test\. MERCHANT_SANDBOX_URL is not set, so the tests started /,
  );
});
