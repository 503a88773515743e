// The test suites of docs/languages.md pass in each language whose tools are installed on this machine. Each receiver
// in recipes/ and docs/webhooks.md passes the audit.

import { spawnSync } from "node:child_process";
import { cpSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { createServer } from "node:https";
import { connect } from "node:net";
import { basename, join } from "node:path";
import { describe, expect, test } from "vitest";
import { effectProbes } from "../../src/audit/effect-probes.ts";
import { probes } from "../../src/audit/probes.ts";
import { selfSigned } from "../support/certificate.ts";
import { needs } from "../support/needs.ts";
import { fences, openShell, readPage, root } from "../support/page.ts";
import { folder, launchCommand, start } from "../support/program.ts";
import { call, control, freePort, listen, open, shareForBlock } from "../support/sandbox.ts";

const page = readPage("docs/languages.md");

const JUNIT = "/usr/share/java/junit-platform-console-standalone.jar:/usr/share/java/*";

/**
 * With these options the JVM compiles less, and collects garbage on one thread. A program that runs for some seconds
 * takes a third less CPU time.
 */
const SHORT_LIVED = { JAVA_TOOL_OPTIONS: "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC" };

interface Suite {
  /** The folder in recipes/. */
  folder: string;
  /** Exits with 0 if the tools of the language are installed. */
  probe: string;
  tools: string;
  /** The command that the page shows, with the paths of the tools on this machine. */
  command: string;
  /** The output of the tools after the three tests have passed. */
  passed: RegExp;
}

const suites: Suite[] = [
  {
    folder: "python",
    probe: 'python3 -c "import pytest"',
    tools: "python3 with pytest",
    command: "npx merchant-sandbox exec --fail-on verdicts -- python3 -m pytest -p merchant_sandbox",
    passed: /\b3 passed/,
  },
  {
    folder: "go",
    probe: "go version",
    tools: "go in PATH",
    command: "go mod init example.com/shop && npx merchant-sandbox exec --fail-on verdicts -- go test -v ./...",
    passed: /(?:--- PASS[\s\S]*){3}\nok/,
  },
  {
    folder: "java",
    probe: "test -e /usr/share/java/junit-platform-console-standalone.jar && javac -version",
    tools: "javac in PATH, and JUnit's console in /usr/share/java",
    command:
      `javac -cp "${JUNIT}" -d out *.java && npx merchant-sandbox exec --fail-on verdicts -- java -cp ` +
      `"out:${JUNIT}" org.junit.platform.console.ConsoleLauncher --select-class SandboxTest`,
    passed: /3 tests successful/,
  },
  {
    folder: "ruby",
    probe: 'ruby -e \'require "minitest"; require "webrick"\'',
    tools: "ruby with minitest and webrick",
    command: "npx merchant-sandbox exec --fail-on verdicts -- ruby sandbox_test.rb",
    passed: /3 runs, .* 0 failures, 0 errors/,
  },
  {
    folder: "php",
    probe: "phpunit --version",
    tools: "phpunit in PATH",
    command: "npx merchant-sandbox exec --fail-on verdicts -- phpunit SandboxTest.php",
    passed: /OK \(3 tests/,
  },
  {
    folder: "shell",
    probe: "curl --version && openssl version",
    tools: "curl and openssl in PATH",
    command: "npx merchant-sandbox exec --fail-on verdicts -- sh sandbox.sh",
    passed: /3 passed/,
  },
];

test("docs/languages.md links to each file of the suites", () => {
  const isFolder = (name: string) => statSync(join(root, "recipes", name)).isDirectory();
  expect(readdirSync(join(root, "recipes")).filter(isFolder)).toEqual(suites.map((suite) => suite.folder).sort());
  for (const { folder: name } of suites)
    for (const file of readdirSync(join(root, "recipes", name)))
      expect(page).toContain(`](../recipes/${name}/${file})`);
});

const succeeds = (probe: string) => spawnSync("sh", ["-c", probe]).status === 0;

// Suites and audits are concurrent, because they mostly wait.
describe.concurrent.each(suites)("the suite in $folder", ({ folder: name, probe, tools, command, passed }) => {
  const isInstalled = succeeds(probe);
  test.skipIf(!isInstalled)(`passes${needs(isInstalled, tools)}`, { timeout: 180_000 }, async () => {
    const { cwd, run } = openShell(SHORT_LIVED);
    cpSync(join(root, "recipes", name), cwd, { recursive: true });
    const { code, out, error } = await run(command);
    expect([code, out + error]).toEqual([0, expect.stringMatching(passed)]);
  });
});

/** The command that starts each receiver. `exec` makes signals reach the receiver instead of its shell. */
const receivers = [
  { file: "python/receiver.py", probe: "python3 --version", tools: "python3", command: "exec python3 receiver.py" },
  {
    file: "go/receiver.go",
    probe: "go version",
    tools: "go",
    command: "go build -o receiver receiver.go && exec ./receiver",
  },
  { file: "java/Receiver.java", probe: "javac -version", tools: "javac", command: "exec java Receiver.java" },
  {
    file: "ruby/receiver.rb",
    probe: "ruby -e 'require \"webrick\"'",
    tools: "ruby with webrick",
    command: "exec ruby receiver.rb",
  },
  {
    file: "php/receiver.php",
    probe: "php --version",
    tools: "php",
    command: "exec php -S localhost:3000 receiver.php",
  },
].map((receiver) => ({ ...receiver, source: readPage(`recipes/${receiver.file}`) }));
receivers.push({
  file: "receiver.mjs",
  probe: "node --version",
  tools: "node",
  command: "exec node receiver.mjs",
  source: fences(readPage("docs/webhooks.md"), "js")[0] ?? "",
});

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

test("the tests below audit each receiver of the recipes", () => {
  const all = readdirSync(join(root, "recipes"), { recursive: true, encoding: "utf8" }).filter((name) =>
    /receiver\./i.test(name),
  );
  expect(receivers.map(({ file }) => file)).toEqual(expect.arrayContaining(all));
});

const sandbox = shareForBlock({ clock: "real" });

describe.concurrent.each(receivers)("the receiver $file", ({ file, probe, tools, command, source }) => {
  const isInstalled = succeeds(probe);
  test.skipIf(!isInstalled)(`passes the audit${needs(isInstalled, tools)}`, { timeout: 180_000 }, async () => {
    const port = await freePort();
    const here = (text: string) => text.replace(/\b3000\b/, String(port));
    const cwd = folder();
    writeFileSync(join(cwd, basename(file)), here(source));
    // Each receiver prints the id of each event on which it acts. Its threads may print on the same line.
    const printing = `exec > printed.log 2>&1; ${here(command)}`;
    launchCommand("sh", ["-c", printing], { MERCHANT_WEBHOOK_SECRET: "whsec_test", ...SHORT_LIVED }, cwd);
    await listening(port);
    // An audit counts a thousand times. Reading the file in this process takes a fraction of the CPU time of a command.
    const effects = () => readFileSync(join(cwd, "printed.log"), "utf8").split("evt_").length - 1;
    const found = await sandbox().audit({ url: `http://localhost:${port}/`, secret: "whsec_test", effects });
    // A receiver may accept old events or reject them.
    const isDecided = ({ did }: (typeof found.probes)[number]) => !did.includes("whether it rejects old events");
    expect(found.probes.filter((probe) => isDecided(probe) && probe.verdict !== "pass")).toEqual([]);
    expect(found.probes).toHaveLength(probes.length + effectProbes.length);
  });
});

const hasOpenssl = spawnSync("openssl", ["version"]).status === 0;

test.skipIf(!hasOpenssl)(
  `a receiver with a self-signed certificate gets webhooks if Node trusts it${needs(hasOpenssl, "openssl")}`,
  async () => {
    const { file, ...options } = selfSigned();
    const receiver = createServer(options, (_, response) => response.writeHead(204).end());
    const address = `https://localhost:${await listen(receiver, "localhost")}/`;

    const resultAt = async (url: string) => {
      await call(url, "POST", "/v1/webhooks", { body: { url: address, events: ["customer.created"] } });
      await control(url, "POST", "/events", { type: "customer.created" });
      await control(url, "POST", "/drain", {});
      const { body } = await call(url, "GET", "/v1/webhook-deliveries?limit=1");
      return [body.data[0].responseStatus, body.data[0].errorCode];
    };
    expect(await resultAt((await open()).url)).toEqual([null, "tls"]);
    const knowing = await start(["--memory"], { NODE_EXTRA_CA_CERTS: file });
    expect(await resultAt(knowing.url)).toEqual([204, null]);
  },
);
