// docs/languages.md: the test suites in recipes/ pass in each language whose tools are installed here, and each receiver of the pages passes the audit.

import { spawnSync } from "node:child_process";
import { cpSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { createServer } from "node:https";
import { connect } from "node:net";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { listen } from "../support/listen.ts";
import { fences, openShell, readPage, root } from "../support/page.ts";
import { folder, launchCommand, run, start } from "../support/program.ts";
import { call, control, freePort } from "../support/sandbox.ts";

const page = readPage("docs/languages.md");

/** The receivers of the pages, by the name in their first comment. */
const printed = new Map(
  [...page.matchAll(/^```\w+\n((?:<\?php\n)?(?:#|\/\/) (\S+\.\w+)\n[\s\S]*?)^```$/gm)].map(([, text = "", name = ""]) => [name, text]),
);
printed.set("receiver.mjs", `${fences(readPage("docs/webhooks.md"), "js")[0]}\n`);

const JUNIT = "/usr/share/java/junit-platform-console-standalone.jar:/usr/share/java/*";

interface Suite {
  /** The folder in recipes/. */
  folder: string;
  /** Succeeds where the tools of the language are installed. */
  probe: string;
  /** The command of the page, with the tools as they are installed here. */
  command: string;
  /** The tools print it when the three tests have passed. */
  passed: RegExp;
}

const suites: Suite[] = [
  {
    folder: "python",
    probe: 'python3 -c "import pytest"',
    command: "npx merchant-sandbox exec --fail-on verdicts -- python3 -m pytest",
    passed: /\b3 passed/,
  },
  {
    folder: "go",
    probe: "go version",
    command: "go mod init example.com/shop && npx merchant-sandbox exec --fail-on verdicts -- go test -v ./...",
    passed: /(?:--- PASS[\s\S]*){3}\nok/,
  },
  {
    folder: "java",
    probe: "javac -version && test -e /usr/share/java/junit-platform-console-standalone.jar",
    command: `javac -cp "${JUNIT}" -d out *.java && npx merchant-sandbox exec --fail-on verdicts -- java -cp "out:${JUNIT}" org.junit.platform.console.ConsoleLauncher --select-class SandboxTest`,
    passed: /3 tests successful/,
  },
  {
    folder: "ruby",
    probe: 'ruby -e \'require "minitest"; require "webrick"\'',
    command: "npx merchant-sandbox exec --fail-on verdicts -- ruby sandbox_test.rb",
    passed: /3 runs, .* 0 failures, 0 errors/,
  },
  {
    folder: "php",
    probe: "phpunit --version",
    command: "npx merchant-sandbox exec --fail-on verdicts -- phpunit SandboxTest.php",
    passed: /OK \(3 tests/,
  },
  {
    folder: "shell",
    probe: "curl --version && openssl version",
    command: "npx merchant-sandbox exec --fail-on verdicts -- sh sandbox.sh",
    passed: /3 passed/,
  },
];

test("the page links to each suite, and prints the receivers that lie beside them", () => {
  const isFolder = (name: string) => statSync(join(root, "recipes", name)).isDirectory();
  expect(readdirSync(join(root, "recipes")).filter(isFolder)).toEqual(suites.map((suite) => suite.folder).sort());
  for (const suite of suites) {
    expect(page).toContain(`](../recipes/${suite.folder}/`);
    const [receiver] = readdirSync(join(root, "recipes", suite.folder)).filter((name) => /^receiver/i.test(name));
    if (receiver !== undefined) expect(printed.get(receiver)).toBe(readPage(`recipes/${suite.folder}/${receiver}`));
  }
});

describe.each(suites)("$folder", ({ folder: name, probe, command, passed }) => {
  const isInstalled = spawnSync("sh", ["-c", probe]).status === 0;
  test.skipIf(!isInstalled)(`the suite passes (skipped without ${probe})`, { timeout: 180_000 }, async () => {
    const { cwd, run } = openShell();
    cpSync(join(root, "recipes", name), cwd, { recursive: true });
    const { code, out, error } = await run(command);
    expect([code, out + error]).toEqual([0, expect.stringMatching(passed)]);
  });
});

/** How to start each receiver of the pages; `exec`, so that a signal reaches it. */
const receivers = [
  { file: "receiver.mjs", probe: "node --version", command: "exec node receiver.mjs" },
  { file: "receiver.py", probe: "python3 --version", command: "exec python3 receiver.py" },
  { file: "receiver.go", probe: "go version", command: "go build -o receiver receiver.go && exec ./receiver" },
  { file: "Receiver.java", probe: "javac -version", command: "exec java Receiver.java" },
  { file: "receiver.rb", probe: "ruby -e 'require \"webrick\"'", command: "exec ruby receiver.rb" },
  { file: "receiver.php", probe: "php --version", command: "exec php -S localhost:3000 receiver.php" },
];

/** Resolves once something accepts connections at the port. */
async function listening(port: number): Promise<void> {
  for (;;) {
    const socket = connect(port, "localhost");
    const accepted = await new Promise<boolean>((resolve) => {
      socket.once("connect", () => resolve(true)).once("error", () => resolve(false));
    });
    socket.destroy();
    if (accepted) return;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

test("each receiver of the pages is audited here", () => {
  expect([...printed.keys()].sort()).toEqual(receivers.map(({ file }) => file).sort());
});

test.for(receivers)("$file passes the audit as printed", { timeout: 180_000 }, async ({ file, probe, command }, { skip }) => {
  skip(spawnSync("sh", ["-c", probe]).status !== 0, `without ${probe}`);
  const port = await freePort();
  const here = (text: string) => text.replace(/\b3000\b/, String(port));
  const cwd = folder();
  writeFileSync(join(cwd, file), here(printed.get(file) ?? ""));
  launchCommand("sh", ["-c", here(command)], { WEBHOOK_SECRET: "whsec_test" }, cwd);
  await listening(port);
  const { out } = await run(["audit", `http://localhost:${port}/`, "--secret", "whsec_test"]);
  expect(out.at(-1), out.join("\n")).toBe("pass: 12 of 12 probes passed, 0 failed.");
});

test.skipIf(spawnSync("openssl", ["version"]).status !== 0)(
  "a receiver with a certificate of its own gets its webhooks once Node knows the certificate",
  async () => {
    const cwd = folder();
    const [key, cert] = [join(cwd, "key.pem"), join(cwd, "cert.pem")];
    const names = ["-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost"];
    spawnSync("openssl", ["req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "1", "-keyout", key, "-out", cert, ...names]);
    const receiver = createServer({ key: readFileSync(key), cert: readFileSync(cert) }, (_, response) => response.writeHead(204).end());
    const address = `https://localhost:${await listen(receiver, "localhost")}/`;

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
