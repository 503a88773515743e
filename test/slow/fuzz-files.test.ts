// Fuzzes the files that a user writes or a checkout contains. The sandbox accepts each file, or rejects it with its
// name and a line, and does nothing else.

import { subscribe, unsubscribe } from "node:diagnostics_channel";
import { chmodSync, mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { Socket } from "node:net";
import { networkInterfaces } from "node:os";
import { basename, join } from "node:path";
import fc from "fast-check";
import { expect, onTestFinished, test, vi } from "vitest";
import { eventTypes, resources } from "../../src/areas/index.ts";
import { everyCommand } from "../../src/cli/commands/index.ts";
import { addRulesFromFile, createFaults, type Faults } from "../../src/faults/index.ts";
import { rules } from "../../src/judge/rules/index.ts";
import { createClock, parseTime } from "../../src/kernel/clock.ts";
import { SandboxError } from "../../src/kernel/errors.ts";
import { readLesson } from "../../src/lessons/lesson-files.ts";
import { createSandbox } from "../../src/sandbox/create.ts";
import { operations } from "../../src/sandbox/engine.ts";
import { packageFile } from "../../src/sandbox/package-files.ts";
import { readScenario } from "../../src/scenarios/scenario-files.ts";
import { readCheckedFixtures } from "../../src/store/world/fixtures.ts";
import { type Change, changed, type Edit, edit, edited, JSON_TOKENS, runs, someChanges } from "../support/fuzzing.ts";
import { INDEX } from "../support/live-rows.ts";
import { folder } from "../support/program.ts";
import { attempted, listen, NOON } from "../support/sandbox.ts";

const TOKENS = [...JSON_TOKENS, "//", "/*", "\0", "\xef\xbb\xbf", "<!--", "-->", "```", "## 9. ", "\n", "# "];

/** The files of a package folder by name. */
function filesOf(path: string): Record<string, string> {
  const names = readdirSync(packageFile(path)).filter((name) => /\.(json|md)$/.test(name));
  return Object.fromEntries(names.map((name) => [name, readFileSync(packageFile(`${path}/${name}`), "utf8")]));
}

interface Mutation {
  /** Index of the file, modulo the number of files. */
  file: number;
  edits: Edit[];
  changes: Change[];
}

const mutation: fc.Arbitrary<Mutation> = fc.record({
  file: fc.nat({ max: 30 }),
  edits: fc.array(edit, { maxLength: 3 }),
  changes: someChanges(TOKENS, 3, 2),
});

/** One of the files, with edits of its JSON, if it is JSON, and changes of its bytes. */
function corrupt(files: Record<string, string>, { file, edits, changes }: Mutation): [name: string, bytes: Buffer] {
  const names = Object.keys(files);
  const name = names[file % names.length] as string;
  const text = files[name] ?? "";
  const written = name.endsWith(".json") ? JSON.stringify(edited(JSON.parse(text), edits), null, 2) : text;
  return [name, changed(Buffer.from(written ?? "null"), changes)];
}

/** Reads a file, and returns whether it was accepted. An error must name the line. */
async function accepts(path: string, read: () => Promise<unknown>): Promise<boolean> {
  try {
    await read();
    return true;
  } catch (error) {
    expect(error, String((error as Error).stack)).toBeInstanceOf(SandboxError);
    const { message, exitCode } = error as SandboxError;
    expect([message, exitCode]).toEqual([expect.stringMatching(new RegExp(`${basename(path)}:[1-9]\\d*[ :]`)), 6]);
    expect(message.length).toBeLessThan(10_000);
    return false;
  }
}

async function start(options: Parameters<typeof createSandbox>[0]): Promise<void> {
  const sandbox = await createSandbox({ clock: NOON, ...options });
  const answer = await fetch(`${sandbox.url}/_sandbox`);
  expect(answer.status).toBe(200);
  await sandbox.close();
}

/** Calls `outcome` with random mutations. Accepted and rejected files must both occur. */
async function fuzz(sample: number, corpus: Mutation[], outcome: (drawn: Mutation) => Promise<boolean>): Promise<void> {
  const seen = { taken: 0, refused: 0 };
  await fc.assert(
    fc.asyncProperty(mutation, async (drawn) => {
      attempted("Malformed input");
      seen[(await outcome(drawn)) ? "taken" : "refused"]++;
    }),
    runs(sample, corpus),
  );
  expect(Math.min(seen.taken, seen.refused)).toBeGreaterThan(sample / 30);
}

function freshFaults(): Faults {
  const known = {
    operations,
    eventTypes,
    merchants: () => ["mer_lodge"],
    ownerOf: () => undefined,
    judgeRules: rules.map(({ id }) => id),
  };
  return createFaults({
    clock: createClock(parseTime(NOON)),
    seed: 1,
    known,
    keepHistory: () => {},
    loggedRuleIds: () => [],
  });
}

test("a mutated fixture is rejected with a line, or the sandbox starts with it", async () => {
  const files = filesOf("fixtures/merchants");
  const dir = folder();
  await fuzz(12, [], async (drawn) => {
    const [name, bytes] = corrupt(files, drawn);
    for (const [other, text] of Object.entries(files)) writeFileSync(join(dir, other), text);
    writeFileSync(join(dir, name), bytes);
    const taken = await accepts(`${dir}/[a-z]+.json`, () => readCheckedFixtures(dir, resources));
    if (taken) await start({ fixtures: dir });
    return taken;
  });
});

test("a mutated scenario is rejected with a line, or the sandbox starts with it", async () => {
  const files = filesOf("fixtures/scenarios");
  const path = join(folder(), "mutation.json");
  const grammar = { checkFault: freshFaults().rules.check, judgeRules: rules.map(({ id }) => id) };
  // Replaces a rule by null.
  const corpus: Mutation[] = [
    { file: 27, edits: [{ what: "replace", node: 1_524, value: null, name: "" }], changes: [] },
  ];
  await fuzz(40, corpus, async (drawn) => {
    writeFileSync(path, corrupt(files, drawn)[1]);
    const taken = await accepts(path, () => readScenario(path, grammar));
    if (taken) await start({ scenario: [path] });
    return taken;
  });
});

test("a mutated fault file is rejected with a line, or its rules are added", async () => {
  const files = Object.fromEntries(
    Object.entries(filesOf("fixtures/scenarios")).map(([name, text]) => [
      name,
      JSON.stringify({ faults: JSON.parse(text).faults }),
    ]),
  );
  const path = join(folder(), "faults.json");
  const { rules: registry } = freshFaults();
  await fuzz(100, [], async (drawn) => {
    writeFileSync(path, corrupt(files, drawn)[1]);
    registry.clear();
    return accepts(path, () => addRulesFromFile(path, registry.add, "badFixture"));
  });
});

test("a mutated lesson is loaded, or rejected with a line", async () => {
  const files = filesOf("fixtures/lessons");
  const dir = folder();
  await fuzz(100, [], async (drawn) => {
    const [name, bytes] = corrupt(files, drawn);
    const path = join(dir, name);
    writeFileSync(path, bytes);
    return accepts(path, () => readLesson(path, () => undefined));
  });
});

const commands = await everyCommand();
const ownAddresses = Object.values(networkInterfaces()).flatMap((all = []) => all.map(({ address }) => address));

/** A running process that is not a sandbox: the parent of the test process. */
const BYSTANDER = process.ppid;

/** Starts a server that claims to be a sandbox in the bystander's process. Resolves with its port. */
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
  ...[
    "127.0.0.1",
    "localhost",
    "[::1]",
    "2130706433",
    "0x7f.1",
    "[::ffff:127.0.0.1]",
    "0.0.0.0",
    "127.0.0.1.evil.invalid",
  ],
  ...["192.0.2.1", "example.invalid", "sandbox.localhost", "127.0.0.1@192.0.2.1", "169.254.169.254", "[2001:db8::1]"],
);
const STATE_TOKENS = [
  "{",
  "}",
  '"',
  ",",
  "null",
  "1e999",
  "-",
  "\\u0000",
  '"__proto__":{},',
  '"pid":1,',
  '"log":"mine.txt",',
];

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
  changes: someChanges(STATE_TOKENS, 2, 3),
});

test("no command signals a process, deletes a file or calls another host because of a planted state file", async () => {
  const place = folder();
  const [cwd, elsewhere] = [join(place, ".merchant-sandbox"), join(place, "elsewhere")];
  const port = await impostor();
  const targets = recordConnections();
  const kill = vi.spyOn(process, "kill").mockImplementation(() => true);
  const write = [process.stdout, process.stderr].map((stream) =>
    vi.spyOn(stream, "write").mockImplementation(() => true),
  );
  vi.stubEnv("MERCHANT_SANDBOX_PORT", "1");
  onTestFinished(() => {
    for (const spy of [kill, ...write]) spy.mockRestore();
    vi.unstubAllEnvs();
  });
  let connections = 0;
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
      await commands[command]
        ?.run([...words, ...flags])
        .catch((error: unknown) => expect(error).toBeInstanceOf(SandboxError));
    expect(kill.mock.calls.filter(([, signal]) => signal !== 0)).toEqual([]);
    expect(mine.map((one) => readFileSync(one, "utf8"))).toEqual(["mine", "mine", "mine"]);
    expect(readdirSync(elsewhere)).toEqual(isLink ? [name, "mine.txt"].toSorted() : ["mine.txt"]);
    connections += targets.length;
    expect(targets.splice(0).filter((target) => !["localhost", ...ownAddresses].includes(target))).toEqual([]);
  });
  await fc.assert(property, runs(60));
  expect(connections).toBeGreaterThan(0);
});
