// docs/ci.md and recipes/: runs their commands, with the program of this checkout instead of the published one.

import { execFile, spawn } from "node:child_process";
import { appendFileSync, cpSync, existsSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join, normalize } from "node:path";
import { promisify } from "node:util";
import { XMLValidator } from "fast-xml-parser";
import { describe, expect, test } from "vitest";
import { parse } from "yaml";
import { catalogue } from "../../src/areas/index.ts";
import { commands } from "../../src/cli/commands/index.ts";
import { exitCodes } from "../../src/kernel/errors.ts";
import { type OptionName, optionDefinitions, variableOf } from "../../src/sandbox/options.ts";
import { readGithubFile } from "../support/github-files.ts";
import { fences, openShell, type PageShell, readPage, root, section } from "../support/page.ts";
import { folder, launchCommand, launchFile, NOWHERE, PROGRAM, run } from "../support/program.ts";
import { call, freePort } from "../support/sandbox.ts";

const page = readPage("docs/ci.md");

/**
 * A separate port for the sandbox of a recipe, because commands print a note if another sandbox uses the default port.
 */
const ownPort = async () => ({ MERCHANT_SANDBOX_PORT: String(await freePort()) });
const here = (title: string) => section(page, title);
const fence = (text: string, language: string) => fences(text, language)[0] ?? "";

/** The warning of a run in which no call failed. */
const UNTESTED = expect.stringContaining("the client's retries were not tested");

/** A client project with a test. Its `npm ci` installs nothing. */
function project() {
  const shell = openShell();
  shell.addCommand("npm", `[ "$1" = ci ] && exit 0; [ "$1" = test ] && exec "${process.execPath}" test.mjs; exit 98`);
  // The test uses `http`, because a first `fetch` takes twice as long as starting the process.
  const source = `import { get } from "node:http";
    const { MERCHANT_BASE_URL: url, MERCHANT_API_KEY: key, WANTED = "200" } = process.env;
    get(url + "/payments", { headers: { authorization: "Bearer " + key } }, (answer) => {
      answer.resume();
      console.log("tested", answer.statusCode);
      process.exitCode = String(answer.statusCode) === WANTED ? 0 : 1;
    });`;
  writeFileSync(join(shell.cwd, "test.mjs"), source);
  return shell;
}

interface Step {
  uses?: string;
  run?: string;
  if?: string;
}

/** Runs the steps of a job as GitHub does: each in its own shell, with the environment files of earlier steps. */
async function job(steps: Step[], { cwd, run: runStep }: PageShell, given: Record<string, string> = {}) {
  const files = {
    GITHUB_ENV: join(cwd, "github-env"),
    GITHUB_OUTPUT: join(cwd, "github-output"),
    GITHUB_STEP_SUMMARY: join(cwd, "summary"),
  };
  for (const file of Object.values(files)) appendFileSync(file, "");
  const codes: number[] = [];
  for (const step of steps.filter(({ run }) => run !== undefined)) {
    if (codes.some((code) => code !== 0) && step.if !== "always()") continue;
    const variables = { ...given, ...files, ...readGithubFile(readFileSync(files.GITHUB_ENV, "utf8")) };
    codes.push((await runStep(step.run ?? "", variables)).code);
  }
  return { codes, summary: readFileSync(files.GITHUB_STEP_SUMMARY, "utf8") };
}

test("the one-line command of docs/ci.md works, and the README contains it", async () => {
  const line = fence(page.slice(0, page.indexOf("\n## ")), "sh");
  const at = project();
  expect(await at.run(line)).toEqual({ code: 0, out: "tested 200\n", error: UNTESTED });
  expect(XMLValidator.validate(readFileSync(join(at.cwd, "sandbox.xml"), "utf8"))).toBe(true);
  expect((await at.run(line, { WANTED: "500" })).code).toBe(1);
  expect(readPage("README.md")).toContain(`\n${line}\n`);
});

describe("docs/ci.md", () => {
  const conditions = [...here("exec").matchAll(/^\| `([\w=.,]+)` \| (\d) \|/gm)].map(([, name, code]) => ({
    name,
    code: Number(code),
  }));
  const allConditions =
    "verdicts,inconclusive,5xx,ignored,score,score=7,uncovered,uncovered=20,uncovered=payouts.list,payroll.created";

  test("lists every --fail-on condition, command and exit code", () => {
    expect(conditions.map(({ name }) => name).join(",")).toBe(allConditions);
    const { verdict, inconclusive } = exitCodes;
    expect(conditions.filter(({ name, code }) => code !== (name === "inconclusive" ? inconclusive : verdict))).toEqual(
      [],
    );
    const named = [...here("One sandbox for several steps").matchAll(/^\| `(\w+)/gm)].map(([, name]) => name ?? "");
    expect(named).toEqual(["start", "wait", "status", "env", "stop", "stop", "doctor"]);
    expect(named.filter((name) => !Object.hasOwn(commands, name))).toEqual([]);
  });

  test("names only conditions that exec accepts", async () => {
    const source = 'fetch(process.env.MERCHANT_BASE_URL + "/payments").then(() => process.exit(9))';
    const { code, error } = await run(["exec", "--fail-on", allConditions, "--", process.execPath, "-e", source]);
    expect([code, error]).toEqual([9, expect.stringContaining("payouts.list was never called")]);
  });

  test("its commands for several steps share one sandbox", async () => {
    const { code, out, error } = await project().run(
      fence(here("One sandbox for several steps"), "sh"),
      await ownPort(),
    );
    expect([code, error]).toEqual([0, ""]);
    expect(out).toMatch(/^merchant-sandbox \S+ is ready .*\nhttp\S+ is ready: .*\ntested 200\nStopped http\S+\.\n$/);
  });
});

test("llms.txt: its commands start a sandbox, call it and stop it", async () => {
  const { code, out, error } = await project().run(fence(readPage("llms.txt"), "sh"), await ownPort());
  expect([code, error]).toEqual([0, ""]);
  const [ready = "", answer = "", stopped] = out.split(/(?<=\})\n?(?=[{S])/);
  expect(JSON.parse(ready)).toMatchObject({ url: expect.stringMatching(/^http:/) });
  expect(JSON.parse(answer)).toMatchObject({ object: "list", data: [{ object: "payment" }] });
  expect(stopped).toMatch(/^Stopped http/);
});

describe("GitHub Actions", () => {
  const { jobs } = parse(fence(here("GitHub Actions"), "yaml")) as { jobs: Record<string, { steps: Step[] }> };
  const stepsOf = (name: string) => jobs[name]?.steps ?? [];

  test("uses the action versions of the project's own workflow", () => {
    const own = readPage(".github/workflows/ci.yml");
    const used = Object.values(jobs).flatMap(({ steps }) => steps.flatMap(({ uses }) => uses ?? []));
    expect(used.length).toBeGreaterThan(0);
    expect(used.filter((action) => !own.includes(`uses: ${action}\n`))).toEqual([]);
  });

  describe.each([
    ["200", 0],
    ["500", 1],
  ])("if the tests expect a %s and exit with %i", (WANTED, code) => {
    test("in the job one-line, the other steps pass, and the summary has the report", async () => {
      const { codes, summary } = await job(stepsOf("one-line"), project(), { WANTED });
      expect([codes, summary]).toEqual([
        [0, code, 0],
        expect.stringContaining(`| Operations called | 1 of ${catalogue.length} |`),
      ]);
    });

    test("in the job several-steps, later steps find the sandbox, and the last step stops it", async () => {
      const at = project();
      expect((await job(stepsOf("several-steps"), at, { ...(await ownPort()), WANTED })).codes).toEqual([
        0,
        0,
        0,
        code,
        0,
      ]);
      expect((await run(["status"], NOWHERE, at.cwd)).out[0]).toMatch(/^No sandbox is ready/);
    });
  });
});

test("GitLab: the script passes, and writes the report where GitLab expects it", async () => {
  const { test: job } = parse(fence(here("GitLab CI"), "yaml")) as {
    test: { script: string[]; artifacts: { reports: { junit: string } } };
  };
  const at = project();
  expect(await at.run(job.script.join("\n"))).toMatchObject({ code: 0, error: UNTESTED });
  expect(XMLValidator.validate(readFileSync(join(at.cwd, job.artifacts.reports.junit), "utf8"))).toBe(true);
});

interface Instruction {
  name: string;
  words: string;
}

const dockerfile: Instruction[] = readPage("recipes/Dockerfile")
  .replace(/^#.*\n/gm, "")
  .replace(/\\\n/g, " ")
  .split("\n")
  .filter((line) => line.trim() !== "")
  .map((line) => ({ name: line.split(" ", 1)[0] ?? "", words: line.slice(line.indexOf(" ") + 1).trim() }));
const lastStage = dockerfile.slice(dockerfile.findLastIndex(({ name }) => name === "FROM"));
const argumentOf = (name: string) => lastStage.findLast((instruction) => instruction.name === name)?.words ?? "";
const imageVariables = Object.fromEntries(
  lastStage
    .filter(({ name }) => name === "ENV")
    .flatMap(({ words }) => words.split(/\s+/).map((pair) => pair.split("=") as [string, string])),
);
const copies = (stage: Instruction[]) =>
  stage.filter(({ name }) => name === "COPY").map(({ words }) => words.split(" "));

/** A process with the variables and command of the image, on a free port. */
async function startImage(variables: Record<string, string>) {
  const port = await freePort();
  const db = join(folder(), "sandbox.db");
  const given = { ...imageVariables, MERCHANT_SANDBOX_DB: db, ...variables, MERCHANT_SANDBOX_PORT: String(port) };
  const [name, ...words] = JSON.parse(argumentOf("CMD")) as string[];
  expect(name).toBe("merchant-sandbox");
  const program = launchFile(PROGRAM, words, given);
  await program.line((line) => line.includes("is ready at"));
  return { ...program, url: `http://127.0.0.1:${port}`, port, given };
}

describe("the Dockerfile", () => {
  test("has valid instructions, two stages and an unprivileged user", () => {
    const known = ["FROM", "WORKDIR", "COPY", "RUN", "ENV", "USER", "VOLUME", "EXPOSE", "HEALTHCHECK", "CMD"];
    expect(dockerfile.filter(({ name }) => !known.includes(name))).toEqual([]);
    const stages = dockerfile.filter(({ name }) => name === "FROM").map(({ words }) => words);
    expect(stages).toEqual([
      expect.stringMatching(/^node:\d+-slim AS build$/),
      expect.stringMatching(/^node:\d+-slim$/),
    ]);
    expect([argumentOf("USER"), argumentOf("EXPOSE")]).toEqual(["node", String(optionDefinitions.port.default)]);
    const order = lastStage.map(({ name }) => name);
    expect(order.lastIndexOf("RUN")).toBeLessThan(order.indexOf("USER"));
    const options = (Object.keys(optionDefinitions) as OptionName[]).map(variableOf);
    expect(
      Object.keys(imageVariables).filter((name) => name.startsWith("MERCHANT_") && !options.includes(name)),
    ).toEqual([]);
  });

  test("copies files that .dockerignore includes, and runs files that it built", async () => {
    const build = folder();
    const stage = dockerfile.slice(0, dockerfile.length - lastStage.length);
    const ignored = readPage("recipes/Dockerfile.dockerignore").trim().split("\n");
    expect(ignored[0]).toBe("*");
    for (const words of copies(stage))
      for (const source of words.slice(0, -1)) {
        expect([source, existsSync(join(root, source)), ignored.includes(`!${source}`)]).toEqual([source, true, true]);
        cpSync(
          join(root, source),
          normalize(join(build, words.at(-1) ?? "", words.at(-1)?.endsWith("/") ? source : "")),
          {
            recursive: true,
          },
        );
      }
    symlinkSync(join(root, "node_modules"), join(build, "node_modules"));
    await promisify(execFile)(process.execPath, ["scripts/build.js"], { cwd: build });
    const image = folder();
    for (const words of copies(lastStage)) {
      expect(words[0]).toBe("--from=build");
      const name = words[1]?.replace("/build/", "") ?? "";
      expect([name, existsSync(join(build, name))]).toEqual([name, true]);
      symlinkSync(join(build, name), join(image, name));
    }
    symlinkSync(join(image, "dist/bin.cjs"), join(image, "merchant-sandbox"));
    const { stdout } = await promisify(execFile)(
      join(image, "merchant-sandbox"),
      ["exec", "--", "sh", "-c", "echo $MERCHANT_API_KEY"],
      {
        cwd: image,
      },
    );
    expect(stdout).toBe("sk_test_lodge\n");
  });

  test("its command accepts requests for the host `sandbox` only, and its health check works", async () => {
    const { url, port, given, child, ended } = await startImage({});
    const [, json = ""] = /CMD (\[.*\])$/.exec(argumentOf("HEALTHCHECK")) ?? [];
    const [name, ...words] = JSON.parse(json) as string[];
    expect(name).toBe("merchant-sandbox");
    expect(await run(words, given)).toMatchObject({ code: 0, error: "" });
    expect((await call(url, "GET", "/v1/payments", { headers: { host: `sandbox:${port}` } })).status).toBe(200);
    expect((await call(url, "GET", "/v1/payments", { headers: { host: `elsewhere:${port}` } })).status).toBe(403);
    child.kill("SIGTERM");
    expect(await ended).toMatchObject({ code: 0, signal: null });
    expect((await run(words, given)).code).toBe(1);
  });
});

test("Compose: the tests reach a healthy sandbox by its service name", async () => {
  interface Service {
    build?: { context: string; dockerfile: string };
    environment: Record<string, string>;
    depends_on?: Record<string, { condition: string }>;
    command?: string[];
    ports?: string[];
  }
  const { services } = parse(readPage("recipes/docker-compose.yml")) as {
    services: Record<"sandbox" | "tests", Service>;
  };
  const { sandbox, tests } = services;
  expect(existsSync(join(root, "recipes", sandbox.build?.context ?? "", sandbox.build?.dockerfile ?? ""))).toBe(true);
  expect(tests.depends_on).toEqual({ sandbox: { condition: "service_healthy" } });
  expect(sandbox.environment.MERCHANT_SANDBOX_ALLOW_WEBHOOK_HOST).toBe("tests");
  expect(sandbox.ports).toEqual([`127.0.0.1:${optionDefinitions.port.default}:${optionDefinitions.port.default}`]);
  expect(imageVariables.MERCHANT_SANDBOX_ALLOWED_HOST).toBe("sandbox");
  const { url } = await startImage(sandbox.environment);
  const here = (text: string) => text.replace("http://sandbox:4747", url);
  const variables = Object.fromEntries(Object.entries(tests.environment).map(([name, text]) => [name, here(text)]));
  const [, ...words] = tests.command ?? [];
  const child = spawn(process.execPath, words, { env: { ...process.env, ...variables } });
  expect(await new Promise((resolve) => child.once("close", resolve))).toBe(0);
  expect((await run(["clock"], { ...variables, MERCHANT_SANDBOX_URL: url })).code).toBe(0);
});

/** Runs a module with these values for its imports, so that no package needs to be installed. Returns its export. */
function evaluate<T>(source: string, names: string[], values: unknown[]): Promise<T> {
  const body = source.replace(/^import .*$/gm, "").replace(/^export (default|const sandbox =)/gm, "return");
  const AsyncFunction = Object.getPrototypeOf(async () => {}).constructor as new (
    ...words: string[]
  ) => (...values: unknown[]) => Promise<T>;
  return new AsyncFunction(...names, body)(...values);
}

test("Playwright: the configured server is ready at its URL, and stops on its shutdown signal", async () => {
  interface Server {
    command: string;
    url: string;
    env?: Record<string, string>;
    gracefulShutdown?: { signal: NodeJS.Signals };
  }
  const config = await evaluate<{ webServer: Server[] }>(
    fence(here("Playwright"), "js"),
    ["defineConfig"],
    [(given: unknown) => given],
  );
  const [sandbox, client] = config.webServer;
  const port = await freePort();
  const { cwd, env } = project();
  const variables = { ...env, MERCHANT_SANDBOX_PORT: String(port) };
  const { child, line, ended } = launchCommand("sh", ["-c", `exec ${sandbox?.command}`], variables, cwd);
  await line((text) => text.includes(" is ready at "));
  const local = (text = "") => text.replace("http://127.0.0.1:4747", `http://127.0.0.1:${port}`);
  expect((await fetch(local(sandbox?.url))).status).toBe(200);
  const merchants = local("http://127.0.0.1:4747/_sandbox/merchants");
  const { id } = (await (await fetch(merchants, { method: "POST" })).json()) as { id: string };
  const authorization = `Bearer ${client?.env?.MERCHANT_API_KEY}`;
  const headers = { authorization, baggage: `merchant-sandbox=${id}` };
  expect((await fetch(`${local(client?.env?.MERCHANT_BASE_URL)}/payments`, { headers })).status).toBe(200);
  child.kill(sandbox?.gracefulShutdown?.signal);
  expect((await ended).code).toBe(0);
});

test("Testcontainers: the wait strategy gets the expected response", async () => {
  const asked: Record<string, unknown[]> = {};
  /** An object that records each call of a method. The call returns such an object again. */
  const noting = (): unknown => new Proxy({}, { get: (_, name: string) => (name === "then" ? undefined : note(name)) });
  const note =
    (name: string) =>
    (...words: unknown[]) => {
      asked[name] = words;
      return noting();
    };
  const GenericContainer = new Proxy(class {}, {
    construct(_, [image]) {
      asked.image = [image];
      return noting() as object;
    },
  });
  await evaluate(fence(here("Testcontainers"), "js"), ["GenericContainer", "Wait"], [GenericContainer, noting()]);
  expect(page).toContain(`docker build -f recipes/Dockerfile -t ${asked.image?.[0]} .`);
  expect(asked.withExposedPorts).toEqual([{ container: 4747, host: 4747 }]);
  const { url } = await startImage(asked.withEnvironment?.[0] as Record<string, string>);
  const [path, port] = asked.forHttp as [string, number];
  const answer = await fetch(url + path, { headers: asked.withHeaders?.[0] as Record<string, string> });
  expect([port, answer.status]).toEqual([optionDefinitions.port.default, asked.forStatusCode?.[0]]);
});
