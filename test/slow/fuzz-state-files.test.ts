// Fuzzes state files that a checkout brings: no command signals a process, deletes another file or connects beyond this machine because of one.

import { subscribe, unsubscribe } from "node:diagnostics_channel";
import { chmodSync, mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { Socket } from "node:net";
import { networkInterfaces } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { expect, onTestFinished, test, vi } from "vitest";
import { everyCommand } from "../../src/cli/commands/index.ts";
import { SandboxError } from "../../src/kernel/errors.ts";
import { changed, edit, edited, runs, someChanges } from "../support/fuzzing.ts";
import { INDEX } from "../support/live-rows.ts";
import { folder } from "../support/program.ts";
import { attempted, listen } from "../support/sandbox.ts";

const commands = await everyCommand();
const ownAddresses = Object.values(networkInterfaces()).flatMap((all = []) => all.map(({ address }) => address));

/** Alive, and no sandbox: the process that started the tests. */
const BYSTANDER = process.ppid;

/** A server that calls itself a sandbox of the bystander. Resolves with its port. */
async function impostor(): Promise<number> {
  const server = createServer((_, outgoing) => {
    outgoing.setHeader("content-type", "application/json");
    outgoing.end(JSON.stringify({ ...INDEX, pid: BYSTANDER }));
  });
  return listen(server);
}

/** The addresses and names to which this process connects from now on. */
function recordConnections(): string[] {
  const targets: string[] = [];
  const record = (message: unknown) => {
    const { socket } = message as { socket: Socket };
    socket.on("lookup", (_error, _address, _family, host) => targets.push(host));
    socket.on("connectionAttempt", (address) => targets.push(address));
  };
  subscribe("net.client.socket", record);
  onTestFinished(() => void unsubscribe("net.client.socket", record));
  return targets;
}

const hosts = fc.constantFrom(
  ...["127.0.0.1", "localhost", "[::1]", "2130706433", "0x7f.1", "[::ffff:127.0.0.1]", "0.0.0.0", "127.0.0.1.evil.invalid"],
  ...["192.0.2.1", "example.invalid", "sandbox.localhost", "127.0.0.1@192.0.2.1", "169.254.169.254", "[2001:db8::1]"],
);
const TOKENS = ["{", "}", '"', ",", "null", "1e999", "-", "\\u0000", '"__proto__":{},', '"pid":1,', '"log":"mine.txt",'];

const planted = fc.record({
  host: hosts,
  protocol: fc.constantFrom("http", "http", "http", "https", "file", "ws"),
  pid: fc.constantFrom(BYSTANDER, BYSTANDER, process.pid, 1, 0, -1, -BYSTANDER, 2 ** 31),
  name: fc.constantFrom(
    "detached-abcdef.json",
    "foreground-abcdef.json",
    "detached-.json",
    "detached-a b.json",
    "detached-__proto__.json",
    "detached-a.json",
  ),
  mode: fc.constantFrom(0o600, 0o600, 0o600, 0o644, 0o666, 0o400),
  isLink: fc.boolean(),
  edits: fc.array(edit, { maxLength: 2 }),
  changes: someChanges(TOKENS, 2, 3),
});

test("a planted state file has no process signalled, no other file deleted, and no other machine asked", async () => {
  const place = folder();
  const [cwd, elsewhere] = [join(place, ".merchant-sandbox"), join(place, "elsewhere")];
  const port = await impostor();
  const targets = recordConnections();
  const kill = vi.spyOn(process, "kill").mockImplementation(() => true);
  const write = [process.stdout, process.stderr].map((stream) => vi.spyOn(stream, "write").mockImplementation(() => true));
  vi.stubEnv("MERCHANT_SANDBOX_PORT", "1");
  onTestFinished(() => {
    for (const spy of [kill, ...write]) spy.mockRestore();
    vi.unstubAllEnvs();
  });
  let asked = 0;
  const property = fc.asyncProperty(planted, async ({ host, protocol, pid, name, mode, isLink, edits, changes }) => {
    attempted("State files of a checkout");
    for (const made of [cwd, elsewhere]) {
      rmSync(made, { recursive: true, force: true });
      mkdirSync(made);
    }
    const mine = [join(cwd, "mine.txt"), join(cwd, "data.db"), join(elsewhere, "mine.txt")];
    for (const file of mine) writeFileSync(file, "mine");
    const state = { url: `${protocol}://${host}:${port}`, pid, controlToken: "secret", log: "mine.txt" };
    const file = join(isLink ? elsewhere : cwd, name);
    writeFileSync(file, changed(Buffer.from(JSON.stringify(edited(state, edits)) ?? "null"), changes));
    chmodSync(file, mode);
    if (isLink) symlinkSync(file, join(cwd, name));
    const flags = ["--db", join(cwd, "data.db")];
    for (const [command, ...words] of [["stop", "--all"], ["stop"], ["status", "--json"]] as const)
      await commands[command]?.run([...words, ...flags]).catch((error: unknown) => expect(error).toBeInstanceOf(SandboxError));
    expect(kill.mock.calls.filter(([, signal]) => signal !== 0)).toEqual([]);
    expect(mine.map((one) => readFileSync(one, "utf8"))).toEqual(["mine", "mine", "mine"]);
    expect(readdirSync(elsewhere)).toEqual(isLink ? [name, "mine.txt"].toSorted() : ["mine.txt"]);
    asked += targets.length;
    expect(targets.splice(0).filter((target) => !["localhost", ...ownAddresses].includes(target))).toEqual([]);
  });
  await fc.assert(property, runs(60));
  expect(asked).toBeGreaterThan(0);
});
