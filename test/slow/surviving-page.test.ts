// docs/surviving.md: writes every file and runs every command in order, and compares the output.

import { type ChildProcess, execFile, spawn } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { expect, onTestFinished, test } from "vitest";
import type { RuleState } from "../../src/contracts/fault.ts";
import { folder } from "../support/program.ts";
import { control, freePort } from "../support/sandbox.ts";

const root = join(import.meta.dirname, "../..");
const page = readFileSync(join(root, "docs/surviving.md"), "utf8");

interface Block {
  language: string;
  text: string;
  /** Its section. */
  under: string;
}

const blocks: Block[] = page
  .split(/^## /m)
  .slice(1)
  .flatMap((section) => {
    const under = section.slice(0, section.indexOf("\n"));
    return [...section.matchAll(/^```(\w+)\n([\s\S]*?)\n```$/gm)].map(([, language = "", text = ""]) => ({ language, text, under }));
  });
const blockOf = (under: string, language: string, index = 0) =>
  blocks.filter((block) => block.under === under && block.language === language)[index]?.text ?? "";

/** An empty folder with the program as `npx` finds it, and a Node that runs TypeScript. */
async function sitDown() {
  const cwd = folder();
  const port = await freePort();
  const place = (text: string) => text.replaceAll("127.0.0.1:4747", `127.0.0.1:${port}`);
  const tools = join(cwd, "node_modules/.bin");
  mkdirSync(tools, { recursive: true });
  symlinkSync(root, join(cwd, "node_modules/merchant-sandbox"));
  writeFileSync(join(tools, "npx"), `#!/bin/sh\nshift\nexec env -u NODE_OPTIONS "${process.execPath}" "${root}/dist/bin.cjs" "$@"\n`, {
    mode: 0o755,
  });
  const env = {
    ...process.env,
    PATH: `${tools}:${process.env.PATH}`,
    MERCHANT_SANDBOX_PORT: String(port),
    MERCHANT_SANDBOX_URL: `http://127.0.0.1:${port}`,
    NODE_NO_WARNINGS: "1",
    ...((process.features as { typescript?: unknown }).typescript
      ? {}
      : { NODE_OPTIONS: `--import ${readsTypeScript(join(cwd, "node_modules"))}` }),
  };
  return {
    cwd,
    url: env.MERCHANT_SANDBOX_URL,
    save(name: string, text: string) {
      writeFileSync(join(cwd, name), place(text));
    },
    /** Runs a block in a shell; returns its output or how it failed. */
    shell: (text: string) =>
      new Promise<{ code: unknown; out: string; error: string }>((resolve) => {
        execFile("sh", ["-c", place(text)], { cwd, env }, (failure, out, error) => resolve({ code: failure?.code ?? 0, out, error }));
      }),
    begin(text: string): ChildProcess {
      const child = spawn("sh", ["-c", `exec ${place(text)}`], { cwd, env, stdio: "ignore" });
      onTestFinished(() => void child.kill("SIGKILL"));
      return child;
    },
  };
}

/** For older Node: a loader that strips types. */
function readsTypeScript(into: string): string {
  const esbuild = pathToFileURL(join(root, "node_modules/esbuild/lib/main.js")).href;
  writeFileSync(
    join(into, "hook.mjs"),
    `import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { transformSync } from "${esbuild}";
export async function load(url, context, next) {
  if (!url.endsWith(".ts")) return next(url, context);
  const { code } = transformSync(readFileSync(fileURLToPath(url), "utf8"), { loader: "ts", format: "esm" });
  return { format: "module", source: code, shortCircuit: true };
}
`,
  );
  const register = join(into, "register.mjs");
  writeFileSync(register, `import { register } from "node:module";\nregister(new URL("./hook.mjs", import.meta.url));\n`);
  return pathToFileURL(register).href;
}

async function ready(url: string): Promise<void> {
  for (let left = 1_200; left > 0; left--) {
    if ((await fetch(`${url}/_sandbox/health`).catch(() => undefined))?.ok) return;
    // The program starts in real time and prints nothing when it is ready.
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  throw new Error(`Nothing answers at ${url}.`);
}

const nameIn = (source: string) => /^\/\/ (\S+\.ts)\n/.exec(source)?.[1] ?? "";

/** The output on the page as a pattern: `…` matches anything on its line. */
const shown = (text: string) =>
  new RegExp(
    `^${text
      .split("…")
      .map((part) => part.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"))
      .join("[^\\n]+?")}$`,
  );
const said = (out: string) => out.replace(/[ \t]+$/gm, "").trimEnd();

test("the commands before the test and the job work in order", { timeout: 120_000 }, async () => {
  const desk = await sitDown();
  const [begin, ...rest] = blocks.filter(({ under }) => !["In a test", "In CI"].includes(under));
  desk.begin(begin?.text ?? "");
  await ready(desk.url);
  let spoken = "";
  let compared = 0;
  for (const { language, text, under } of rest) {
    if (language === "ts") {
      expect(nameIn(text)).toMatch(/^(client|order|verdicts)\.ts$/);
      desk.save(nameIn(text), text);
    } else if (language === "sh") {
      const { code, out, error } = await desk.shell(text);
      expect([under, code, error]).toEqual([under, 0, ""]);
      spoken = said(out);
    } else {
      expect([under, language]).toEqual([under, "text"]);
      expect(spoken, `${under}\n${text}`).toMatch(shown(text));
      compared++;
    }
  }
  expect(compared).toBe(6);
});

test("the rules added by hand equal those of the scenario command", { timeout: 120_000 }, async () => {
  const desk = await sitDown();
  desk.begin(blockOf("Start", "sh"));
  await ready(desk.url);
  const commands = ["Break it", "Break it", "Break it"].map((under, index) => blockOf(under, "sh", index));
  const rules = async () => {
    const { data } = await control(desk.url, "GET", "/faults");
    await control(desk.url, "DELETE", "/faults");
    return (data as RuleState[]).map(({ match, trigger, action }) => ({ match, trigger, action }));
  };
  for (const command of commands) await desk.shell(command.split("\n").find((line) => line.includes(" fault add ")) ?? "");
  const byCommand = await rules();
  await desk.shell(blockOf("With curl", "sh"));
  expect(byCommand).toHaveLength(3);
  expect(await rules()).toEqual(byCommand);
});

test("the test and the job pass with the fixed client, and fail with the broken one", { timeout: 120_000 }, async () => {
  const desk = await sitDown();
  for (const under of ["Write a client", "Fix it", "In a test"])
    for (const { text } of blocks.filter((block) => block.under === under && block.language === "ts")) desk.save(nameIn(text), text);
  await desk.shell(blockOf("Write a client", "sh"));
  desk.save("expected.json", blockOf("In CI", "json"));
  const inTest = blockOf("In a test", "sh");
  const inJob = blockOf("In CI", "sh");
  const tested = await desk.shell(inTest);
  expect([tested.code, tested.out]).toEqual([0, expect.stringContaining("pass 1")]);
  const job = await desk.shell(inJob);
  expect([job.code, job.error]).toEqual([0, ""]);
  expect(JSON.parse(readFileSync(join(desk.cwd, "verified.json"), "utf8")).verdict).toBe("pass");
  expect(readFileSync(join(desk.cwd, "report.xml"), "utf8")).toContain("effect.single");

  desk.save("client.ts", blockOf("Write a client", "ts"));
  expect((await desk.shell(inTest)).code).toBe(1);
  expect((await desk.shell(inJob)).code).toBe(22);
  expect(readFileSync(join(desk.cwd, "report.xml"), "utf8")).toContain("<failure");
});

test("has no broken link", () => {
  const links = [...page.matchAll(/\]\(([^)\s]+)\)/g)].map(([, link = ""]) => link);
  expect(links.length).toBeGreaterThan(3);
  for (const link of links) {
    const [file = "", anchor] = link.split("#");
    const path = join(root, "docs", file);
    expect([link, existsSync(path)]).toEqual([link, true]);
    const titles = [...readFileSync(path, "utf8").matchAll(/^## (.*)$/gm)].map(([, title = ""]) =>
      title.toLowerCase().replaceAll(" ", "-"),
    );
    if (anchor !== undefined) expect(titles).toContain(anchor);
  }
});
