// docs/surviving.md: writes every file and runs every command in order, and compares the output with the page.

import { readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { transformSync } from "esbuild";
import { expect, test } from "vitest";
import type { RuleState } from "../../src/contracts/fault.ts";
import { fastClock, openShell, printed, readPage, root } from "../support/page.ts";
import { launchCommand } from "../support/program.ts";
import { control, freePort } from "../support/sandbox.ts";

const page = readPage("docs/surviving.md");

interface Block {
  language: string;
  text: string;
  /** The section that contains the block. */
  under: string;
}

const blocks: Block[] = page
  .split(/^## /m)
  .slice(1)
  .flatMap((section) => {
    const under = section.slice(0, section.indexOf("\n"));
    return [...section.matchAll(/^```(\w+)\n([\s\S]*?)\n```$/gm)].map(([, language = "", text = ""]) => ({
      language,
      text,
      under,
    }));
  });
const blockOf = (under: string, language: string) =>
  blocks.find((block) => block.under === under && block.language === language)?.text ?? "";

const READS_TYPESCRIPT = Boolean((process.features as { typescript?: unknown }).typescript);

/** How many times faster time passes in the programs of the page. */
const SPEED = 4;

/** Makes an npm project in which `npx` finds the program and Node runs TypeScript. */
async function makeProject() {
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  // Lengthens the outage. The test ends it once the client has made enough calls, also on a slow machine.
  const place = (text: string) =>
    text.replaceAll("127.0.0.1:4747", `127.0.0.1:${port}`).replace(" --for 10s", " --for 1h");
  const { cwd, env, run } = openShell({ MERCHANT_SANDBOX_PORT: String(port), MERCHANT_SANDBOX_URL: url });
  symlinkSync(root, join(cwd, "node_modules/merchant-sandbox"));
  writeFileSync(join(cwd, "package.json"), "{}");
  const readers = READS_TYPESCRIPT ? [] : [readsTypeScript(join(cwd, "node_modules"))];
  Object.assign(env, { NODE_NO_WARNINGS: "1", ...fastClock(SPEED, ...readers) });
  return {
    cwd,
    url,
    save(name: string, text: string) {
      writeFileSync(join(cwd, name), place(text));
      if (!READS_TYPESCRIPT) compile(join(cwd, name), place(text));
    },
    shell: (text: string) => run(place(text)),
    begin: (text: string) =>
      launchCommand("sh", ["-c", `exec ${place(text)}`], env, cwd).line((line) => line.includes(" is ready at ")),
  };
}

/** For an older Node, writes a loader that runs the files of `compile` in place of the TypeScript programs. */
function readsTypeScript(into: string): string {
  writeFileSync(
    join(into, "hook.mjs"),
    `import { readFileSync } from "node:fs";
export async function load(url, context, next) {
  if (!url.endsWith(".ts")) return next(url, context);
  return { format: "module", source: readFileSync(new URL(url + ".js")), shortCircuit: true };
}
`,
  );
  const register = join(into, "register.mjs");
  writeFileSync(
    register,
    `import { register } from "node:module";
if (process.argv[1]?.endsWith(".ts")) register(new URL("./hook.mjs", import.meta.url));
`,
  );
  return pathToFileURL(register).href;
}

/** Strips the types in advance, because esbuild takes longer than a program of the page. */
const compile = (path: string, text: string) =>
  writeFileSync(`${path}.js`, transformSync(text, { loader: "ts", format: "esm" }).code);

const nameIn = (source: string) => /^\/\/ (\S+\.ts)\n/.exec(source)?.[1] ?? "";

const shown = (text: string) => new RegExp(`^${printed(text)}$`);
const said = (out: string) => out.replace(/[ \t]+$/gm, "").trimEnd();

async function endOutage(url: string): Promise<void> {
  const tries = async () => ((await control(url, "GET", "/faults")).data as RuleState[])[0]?.fired ?? 0;
  await expect.poll(tries, { timeout: 60_000 }).toBeGreaterThan(11);
  await control(url, "DELETE", "/faults");
}

test("the commands of the page, without those of its test and CI job, print the shown output", async () => {
  const project = await makeProject();
  const [begin, ...rest] = blocks.filter(({ under }) => !["In a test", "In CI"].includes(under));
  await project.begin(begin?.text ?? "");
  let spoken = "";
  let compared = 0;
  for (const { language, text, under } of rest) {
    if (language === "ts") {
      expect(nameIn(text)).toMatch(/^(client|order)\.ts$/);
      project.save(nameIn(text), text);
    } else if (language === "sh") {
      const running = project.shell(text);
      if (text.includes(" --for 10s")) await endOutage(project.url);
      const { code, out, error } = await running;
      expect([under, code, error]).toEqual([under, 0, ""]);
      spoken = said(out);
    } else {
      expect([under, language]).toEqual([under, "text"]);
      expect(spoken, `${under}\n${text}`).toMatch(shown(text));
      compared++;
    }
  }
  expect(compared).toBe(5);
});

test("the test and the CI job pass with the fixed client, and fail with the broken client", async () => {
  const project = await makeProject();
  for (const under of ["Write a client", "Fix it", "In a test"])
    for (const { text } of blocks.filter((block) => block.under === under && block.language === "ts"))
      project.save(nameIn(text), text);
  await project.shell(blockOf("Write a client", "sh"));
  const inTest = blockOf("In a test", "sh");
  const inJob = blockOf("In CI", "sh");
  const tested = await project.shell(inTest);
  expect([tested.code, tested.out]).toEqual([0, expect.stringContaining("pass 1")]);
  expect(await project.shell(inJob)).toMatchObject({ code: 0 });
  expect(readFileSync(join(project.cwd, "report.xml"), "utf8")).toContain("effect.single");

  project.save("client.ts", blockOf("Write a client", "ts"));
  expect((await project.shell(inTest)).code).toBe(1);
  expect((await project.shell(inJob)).code).toBe(1);
  expect(readFileSync(join(project.cwd, "report.xml"), "utf8")).toContain("<failure");
});
