// Webhook receivers in six languages, run as separate programs. Each is correct or has one of eight bugs.

import { type ChildProcess, execFileSync, spawn, spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { sleep } from "../clients/client.ts";
import { freePort } from "../sandbox.ts";

/** Each bug, with the text that describes it in the table. */
export const BUGS = {
  reserialised: "verifies the parsed and re-serialised body",
  secret: "verifies with another secret",
  unsigned: "does not check the signature",
  old: "accepts old events",
  twice: "acts on each delivery",
  lost: "answers 200 and loses every other event",
  error: "answers 500 after it has acted, and acts again",
  slow: "answers after 7 s",
} as const;

export type Bug = keyof typeof BUGS | "none";

export interface Language {
  name: string;
  /** A command that succeeds if the language is installed. */
  probe: string[];
  /** The command that runs the receiver. `built` is the folder for compiled files. */
  command(built: string): string[];
  build?(built: string): void;
}

const file = (name: string) => join(import.meta.dirname, name);

export const LANGUAGES: readonly Language[] = [
  { name: "Express", probe: ["node", "--version"], command: () => [process.execPath, file("receiver.js")] },
  { name: "Python", probe: ["python3", "--version"], command: () => ["python3", file("receiver.py")] },
  { name: "Ruby", probe: ["ruby", "-e", 'require "webrick"'], command: () => ["ruby", file("receiver.rb")] },
  {
    name: "Go",
    probe: ["go", "version"],
    build: (built) => void execFileSync("go", ["build", "-o", join(built, "receiver"), file("receiver.go")]),
    command: (built) => [join(built, "receiver")],
  },
  {
    name: "PHP",
    probe: ["php", "--version"],
    command: () => ["php", "-S", "127.0.0.1:$PORT", file("receiver.php")],
  },
  {
    name: "Java",
    probe: ["javac", "-version"],
    build: (built) => void execFileSync("javac", ["-d", built, file("Receiver.java")]),
    command: (built) => ["java", "-cp", built, "Receiver"],
  },
];

export const isInstalled = ({ probe: [command = "", ...words] }: Language) => spawnSync(command, words).status === 0;

export const SECRET = "whsec_0123456789abcdef0123456789abcdef";

export interface RunningReceiver extends AsyncDisposable {
  bug: Bug;
  url: string;
  /** How often the receiver has acted. */
  orders(): number;
  /** A command that prints how often the receiver has acted. */
  effects: string;
}

/** Compiles the receiver, if its language requires it, into a new folder. `dispose` removes the folder. */
export function buildReceiver({ build }: Language) {
  const built = mkdtempSync(join(tmpdir(), "merchant-sandbox-receiver-"));
  build?.(built);
  return { built, dispose: () => rmSync(built, { recursive: true, force: true }) };
}

/** Starts a receiver. Tries up to three ports, because another program may take a port before the receiver listens. */
export async function startReceiver(language: Language, bug: Bug, built: string): Promise<RunningReceiver> {
  for (let tries = 1; ; tries++) {
    const started = await tryToStart(language, bug, built).catch((error: Error) => error);
    if (!(started instanceof Error)) return started;
    if (tries === 3) throw started;
  }
}

async function tryToStart(language: Language, bug: Bug, built: string): Promise<RunningReceiver> {
  const port = await freePort();
  const folder = join(built, `${bug}-${port}`);
  const orders = join(folder, "orders");
  mkdirSync(folder);
  writeFileSync(orders, "");
  const [command = "", ...words] = language.command(built).map((word) => word.replace("$PORT", String(port)));
  const child = spawn(command, words, {
    stdio: "ignore",
    // Runs in its own process group. PHP's workers outlive their parent, so the whole group is killed.
    detached: true,
    env: { ...process.env, PORT: String(port), SECRET, BUG: bug, FOLDER: folder, PHP_CLI_SERVER_WORKERS: "8" },
  });
  await listening(port, child);
  return {
    bug,
    url: `http://127.0.0.1:${port}/`,
    orders: () => readFileSync(orders, "utf8").split("\n").length - 1,
    effects: `wc -l < '${orders}'`,
    async [Symbol.asyncDispose]() {
      const ended = new Promise((resolve) => child.once("close", resolve));
      process.kill(-(child.pid as number));
      await ended;
    },
  };
}

/** Resolves when a server listens at the port. Throws if the program exits first. */
async function listening(port: number, child: ChildProcess): Promise<void> {
  while (child.exitCode === null) {
    const isOpen = await new Promise<boolean>((resolve) => {
      const socket = connect(port, "127.0.0.1", () => resolve(true)).on("error", () => resolve(false));
      socket.once("connect", () => socket.destroy());
    });
    if (isOpen) return;
    await sleep(50);
  }
  throw new Error(`${child.spawnfile} ended with ${child.exitCode}.`);
}
