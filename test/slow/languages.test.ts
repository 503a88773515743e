// docs/languages.md: its test suites pass in each language whose tools are installed here, and its receiver with an own certificate gets its webhooks.

import { spawnSync } from "node:child_process";
import { once } from "node:events";
import { readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { openShell, readPage } from "../support/page.ts";
import { folder, start } from "../support/program.ts";
import { call, control } from "../support/sandbox.ts";

const page = readPage("docs/languages.md");

/** The files of the page, by the name in their first comment. */
const files = new Map(
  [...page.matchAll(/^```\w+\n((?:<\?php\n)?(?:#|\/\/) (\S+\.\w+)\n[\s\S]*?)^```$/gm)].map(([, text = "", name = ""]) => [name, text]),
);

const JUNIT = "/usr/share/java/junit-platform-console-standalone.jar:/usr/share/java/*";

interface Suite {
  language: string;
  files: string[];
  /** Succeeds where the tools of the language are installed. */
  probe: string;
  /** The command of the page, with the tools as they are installed here. */
  command: string;
  /** The tools print it when the three tests have passed. */
  passed: RegExp;
}

const suites: Suite[] = [
  {
    language: "Python",
    files: ["conftest.py", "test_sandbox.py"],
    probe: 'python3 -c "import pytest"',
    command: "npx merchant-sandbox exec -- python3 -m pytest",
    passed: /\b3 passed/,
  },
  {
    language: "Go",
    files: ["sandbox_test.go"],
    probe: "go version",
    command: "go mod init example.com/shop && go test -v ./...",
    passed: /(?:--- PASS[\s\S]*){3}\nok/,
  },
  {
    language: "Java",
    files: ["SandboxTest.java"],
    probe: "javac -version && test -e /usr/share/java/junit-platform-console-standalone.jar",
    command: `javac -cp "${JUNIT}" -d out SandboxTest.java && npx merchant-sandbox exec -- java -cp "out:${JUNIT}" org.junit.platform.console.ConsoleLauncher --select-class SandboxTest`,
    passed: /3 tests successful/,
  },
  {
    language: "Ruby",
    files: ["sandbox_test.rb"],
    probe: "ruby -e 'require \"minitest\"'",
    command: "npx merchant-sandbox exec -- ruby sandbox_test.rb",
    passed: /3 runs, .* 0 failures, 0 errors/,
  },
  {
    language: "PHP",
    files: ["SandboxTest.php"],
    probe: "phpunit --version",
    command: "npx merchant-sandbox exec -- phpunit SandboxTest.php",
    passed: /OK \(3 tests/,
  },
  { language: "shell", files: ["sandbox.sh"], probe: "curl --version && openssl version", command: "sh sandbox.sh", passed: /3 passed/ },
];

test("the page has no file that is not run here", () => {
  expect([...files.keys()].sort()).toEqual(suites.flatMap((suite) => suite.files).sort());
});

describe.each(suites)("$language", ({ files: names, probe, command, passed }) => {
  const isInstalled = spawnSync("sh", ["-c", probe]).status === 0;
  test.skipIf(!isInstalled)(`the suite of the page passes (skipped without ${probe})`, { timeout: 180_000 }, async () => {
    const { cwd, run } = openShell();
    for (const name of names) writeFileSync(join(cwd, name), files.get(name) ?? "");
    const { code, out, error } = await run(command);
    expect([code, out + error]).toEqual([0, expect.stringMatching(passed)]);
  });
});

test.skipIf(spawnSync("openssl", ["version"]).status !== 0)(
  "a receiver with a certificate of its own gets its webhooks once Node knows the certificate",
  async () => {
    const cwd = folder();
    const [key, cert] = [join(cwd, "key.pem"), join(cwd, "cert.pem")];
    const names = ["-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost"];
    spawnSync("openssl", ["req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "1", "-keyout", key, "-out", cert, ...names]);
    const receiver = createServer({ key: readFileSync(key), cert: readFileSync(cert) }, (_, response) => response.writeHead(204).end());
    onTestFinished(() => void receiver.close());
    await once(receiver.listen(0, "localhost"), "listening");
    const address = `https://localhost:${(receiver.address() as AddressInfo).port}/`;

    const resultWith = async (variables: Record<string, string>) => {
      const { url } = await start(["--memory"], variables);
      await call(url, "POST", "/v1/webhooks", { body: { url: address, events: ["customer.created"] } });
      await control(url, "POST", "/events", { type: "customer.created" });
      await control(url, "POST", "/drain", {});
      const { body } = await call(url, "GET", "/v1/webhook-deliveries?limit=1");
      return [body.data[0].responseStatus, body.data[0].errorCode];
    };
    expect(await resultWith({})).toEqual([null, "tls"]);
    expect(await resultWith({ NODE_EXTRA_CA_CERTS: cert })).toEqual([204, null]);
  },
);
