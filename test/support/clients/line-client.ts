// HTTP clients in other languages. A program reads one request a line from stdin, sends the request, and then prints a
// line.

import { execFile, execFileSync, spawn } from "node:child_process";
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import type { LibraryCall } from "./libraries.ts";

const program = (name: string) => join(import.meta.dirname, "programs", name);

/** Sends requests one after another through a program that stays alive. */
function openProgram(command: string, words: readonly string[]) {
  const child = spawn(command, words, { stdio: ["pipe", "pipe", "inherit"] });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  let last: Promise<unknown> = Promise.resolve();
  return {
    send(call: LibraryCall) {
      last = last.then(() => {
        child.stdin.write(`${JSON.stringify(call)}\n`);
        return lines.next();
      });
      return last;
    },
    async close() {
      child.stdin.end();
      await last;
    },
  };
}

/** Starts curl for each request. */
const openCurl = () => ({
  send: ({ method, url, headers, body }: LibraryCall) =>
    new Promise<void>((resolve) => {
      const given = Object.entries(headers).flatMap(([name, value]) => ["-H", `${name}: ${value}`]);
      const words = ["-s", "--retry", "3", "-X", method, ...given, ...(body ? ["-d", JSON.stringify(body)] : []), url];
      execFile("curl", words, () => resolve());
    }),
  close: async () => {},
});

/** The text that a command prints; undefined if the command is not installed or fails. */
function textOf(command: string, words: readonly string[]): string | undefined {
  try {
    return execFileSync(command, words, { encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] });
  } catch {
    return undefined;
  }
}

const versionIn = (text: string | undefined) => text?.match(/\d+\.\d+/)?.[0];

function buildGo(): string {
  const file = join(mkdtempSync(join(tmpdir(), "go-client-")), "client");
  execFileSync("go", ["build", "-o", file, program("client.go")], { env: { ...process.env, GO111MODULE: "off" } });
  return file;
}

let goProgram: string | undefined;

export const programs = [
  {
    name: "requests (Python)",
    version: () => versionIn(textOf("python3", ["-c", "import requests; print(requests.__version__)"])),
    open: () => openProgram("python3", [program("client.py")]),
  },
  { name: "curl --retry 3", version: () => versionIn(textOf("curl", ["--version"])), open: openCurl },
  {
    name: "net/http (Go)",
    version: () => versionIn(textOf("go", ["version"])),
    open() {
      goProgram ??= buildGo();
      return openProgram(goProgram, []);
    },
  },
  {
    name: "curl extension (PHP)",
    version: () => versionIn(textOf("php", ["-r", "curl_init(); echo PHP_VERSION;"])),
    open: () => openProgram("php", [program("client.php")]),
  },
];
