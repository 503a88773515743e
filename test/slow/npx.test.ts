// The program under the real npx, which puts a shell between itself and the program.

import { execFile, spawn } from "node:child_process";
import { mkdirSync, readFileSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test, vi } from "vitest";
import { isAlive } from "../../src/cli/process/signals.ts";
import { folder, PROGRAM } from "../support/program.ts";
import { freePort } from "../support/sandbox.ts";

const root = join(import.meta.dirname, "../..");

/** A folder with the package installed. */
function installed(): string {
  const cwd = folder();
  mkdirSync(join(cwd, "node_modules/.bin"), { recursive: true });
  symlinkSync(root, join(cwd, "node_modules/merchant-sandbox"));
  symlinkSync(PROGRAM, join(cwd, "node_modules/.bin/merchant-sandbox"));
  return cwd;
}

const pidAt = async (url: string): Promise<number | undefined> =>
  fetch(`${url}/_sandbox`).then(
    async (reply) => ((await reply.json()) as { pid: number }).pid,
    () => undefined,
  );

/** The sandbox starts and ends in real time, without a message at the end. */
const SOON = { timeout: 30_000, interval: 50 };

test("SIGTERM to npx ends the sandbox", async () => {
  const port = await freePort();
  const npx = spawn("npx", ["merchant-sandbox", "--memory", "--port", String(port)], { cwd: installed(), stdio: "ignore" });
  const pid = await vi.waitUntil(() => pidAt(`http://127.0.0.1:${port}`), SOON);
  onTestFinished(() => void (isAlive(pid) && process.kill(pid, "SIGKILL")));
  npx.kill("SIGTERM");
  await vi.waitUntil(() => !isAlive(pid), SOON);
});

test("a sandbox that npx started with --detach stays until it is stopped", async () => {
  const cwd = installed();
  const npx = (...words: string[]) =>
    new Promise<string>((resolve, reject) =>
      execFile("npx", ["merchant-sandbox", ...words], { cwd }, (error, out) => (error ? reject(error) : resolve(out))),
    );
  const { url, pid } = JSON.parse(await npx("start", "--detach", "--memory", "--port", "0", "--json")) as { url: string; pid: number };
  onTestFinished(() => void (isAlive(pid) && process.kill(pid, "SIGKILL")));
  // Longer than the time between two looks at the parent.
  await new Promise((resolve) => setTimeout(resolve, 1_000));
  expect(await pidAt(url)).toBe(pid);
  await npx("stop");
  expect(isAlive(pid)).toBe(false);
});

test("the job of docs/surviving.md leaves no process behind", async () => {
  const [cwd, port] = [installed(), await freePort()];
  const page = readFileSync(join(root, "docs/surviving.md"), "utf8");
  const [, job = ""] = /```sh\n(set -e\n[\s\S]*?)```/.exec(page) ?? [];
  const start = job.slice(0, job.indexOf("\n\n")).replaceAll("127.0.0.1:4747", `127.0.0.1:${port}`);
  expect(start).toMatch(/npx merchant-sandbox .*&\ntrap /);
  const env = { ...process.env, MERCHANT_SANDBOX_PORT: String(port) };
  await new Promise((resolve) => execFile("sh", ["-c", start], { cwd, env }, resolve));
  expect(JSON.parse(readFileSync(join(cwd, "health.json"), "utf8"))).toMatchObject({ status: "ready" });
  await vi.waitUntil(async () => (await pidAt(`http://127.0.0.1:${port}`)) === undefined, SOON);
});
