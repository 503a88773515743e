// Other API emulators with the same record and load, measured in the same run. They are installed when the part runs.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { nodeOf, run } from "../../scripts/packing.js";
import { giveCoreBack, holdCore } from "../cores.js";
import { openFolder } from "../folder.js";
import { cpuOf, FEW, figure, inRounds, inTurn, open, ratio, SECONDS, slice } from "../measure.js";
import { installOn, isHere } from "../other-node.js";
import { ours, programs, usual } from "../peer-programs.js";
import { cpuOfProcess, familyOf } from "../processes.js";
import { GET, POST } from "../sample-record.js";

/** The installed peers are kept for the next run. */
const INSTALLED = fileURLToPath(new URL("../../node_modules/.cache/merchant-sandbox-bench/peers", import.meta.url));
/** The timeout for a start, in milliseconds. The slowest peer needs a few seconds. */
const PATIENCE = 60_000;

const BARE = "bare node:http";

/** The requests, each with the server of the sandbox with which the peers are compared. */
const CALLS = [
  { what: "GET a record by id, file", call: "get", server: "file" },
  { what: "POST that makes a record, file", call: "post", server: "file" },
  { what: "POST that makes a record, memory", call: "post", server: "memory" },
];

/** The other Node version on which a peer, and then also the sandbox, must run; undefined if this Node is enough. */
const otherNode = ({ node = 0 }) => (isHere(node) ? undefined : node);
const ourName = (server, node) => (node === undefined ? server : `${server}, Node ${node}`);

const row = ({ what, call, server }, program) => ({
  what,
  against: program.name + (otherNode(program) === undefined ? "" : `, both on Node ${program.node}`),
  // No target if the sandbox writes to disk and the peer only to memory.
  target: call === "post" && server === "file" && !program.isDurable ? "" : "> 1",
  read(results) {
    const { name } = program;
    const reason = results.failed.get(name);
    if (reason) return { figure: `not measured: ${reason}` };
    const against = (one, other, field) => ratio(results, nameOf(call, one), nameOf(call, other), field);
    const [rate, cpu] = ["rate", "cpu"].map((field) => against(ourName(server, otherNode(program)), name, field));
    return {
      figure: `${figure(rate)} (the peer reaches ${against(name, BARE, "rate").toFixed(3)} of bare node:http)`,
      cpu: figure(cpu),
    };
  },
});

export const peers = {
  name: "peers",
  rows: programs.flatMap((program) => CALLS.map((one) => row(one, program))),
  async measure() {
    const folder = openFolder();
    /** The peers that could not be measured, with the reason. The other peers are still measured. */
    const failed = new Map();
    const nodes = nodesIn(folder);
    const results = await inRounds(
      () => openAll(nodes, failed),
      (servers, turns) => measured(servers, turns, failed),
      FEW,
    );
    folder.remove();
    return Object.assign(results, { failed });
  },
};

const nameOf = (call, name) => `${call} ${name}`;

/** Reads are measured first, because some peers get slower with each new record. */
async function measured(servers, turns, failed) {
  const results = new Map();
  for (const call of ["get", "post"]) {
    const cases = [...servers].map(([name, server]) => ({ name: nameOf(call, name), server, of: name }));
    for (const [name, slices] of await inTurn(cases, (one) => sliceOf(one, call, failed), turns))
      results.set(name, slices);
  }
  return results;
}

/**
 * Measures for three times as long as other parts, because the system counts a peer's CPU time in hundredths of a
 * second.
 */
async function sliceOf({ server, of }, call, failed) {
  const nothing = { rate: Number.NaN, cpu: Number.NaN };
  if (failed.has(of)) return nothing;
  try {
    return await slice(server, server.requests[call], { cpu: server.cpu ?? cpuOf, seconds: 3 * SECONDS });
  } catch (error) {
    failed.set(of, reasonOf(error));
    return nothing;
  }
}

async function openAll(nodes, failed) {
  const servers = new Map([[BARE, { ...(await open("bare")), requests: { get: GET, post: POST } }]]);
  for (const [node, other] of nodes)
    for (const name of ["file", "memory"]) {
      const server = other
        ? await open("variant", { words: [other.module, name], execPath: other.execPath })
        : await open(name);
      servers.set(ourName(name, node), { ...server, requests: ours });
    }
  const folder = openFolder();
  for (const program of programs.filter(({ name }) => !failed.has(name))) {
    try {
      servers.set(program.name, await openPeer(program, folder));
    } catch (error) {
      failed.set(program.name, reasonOf(error));
    }
  }
  return servers;
}

/** The other Node versions that peers need, each with merchant-sandbox installed. This Node runs the checkout. */
function nodesIn(folder) {
  const nodes = [...new Set(programs.map(otherNode))];
  return nodes.map((node) => [node, node === undefined ? undefined : installOn(node, folder.file(`node-${node}`))]);
}

async function openPeer(program, folder) {
  const server = await started(program, install(program), folder.file(program.name.replaceAll(/\W+/g, "-")));
  return { ...server, requests: (await program.greet?.(server.port)) ?? usual };
}

const reasonOf = (error) =>
  String(error.stderr || error.message)
    .trim()
    .split("\n")[0]
    .replaceAll("|", "/");

function install({ package: wanted, bin }) {
  const folder = join(INSTALLED, wanted.replaceAll(/[@/]+/g, "-"));
  const modules = join(folder, "node_modules");
  if (existsSync(join(modules, bin))) return modules;
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, "package.json"), JSON.stringify({ private: true }));
  const env = { npm_config_loglevel: "error" };
  run("npm", ["install", "--no-audit", "--no-fund", wanted], { cwd: folder, env, stdio: ["ignore", "pipe", "pipe"] });
  return modules;
}

async function started({ bin, words, files = {}, ...program }, modules, folder) {
  mkdirSync(folder);
  const [port, other] = await freePorts();
  for (const [name, contents] of Object.entries(files))
    writeFileSync(join(folder, name), JSON.stringify(contents(port)));
  const node = otherNode(program);
  const child = spawn(
    node === undefined ? process.execPath : nodeOf(node),
    [join(modules, bin), ...words(port, other)],
    {
      cwd: folder,
      stdio: ["ignore", "ignore", "pipe"],
    },
  );
  let said = "";
  child.stderr.on("data", (chunk) => {
    said = (said + chunk).slice(-4_000);
  });
  const ended = new Promise((resolve) => child.once("exit", resolve));
  const kill = () => child.kill("SIGKILL");
  process.once("exit", kill);
  const close = () => {
    kill();
    return ended;
  };
  if (await listens(child, port)) {
    const family = familyOf(child.pid);
    for (const pid of family) holdCore(pid);
    return { port, close: () => close().then(() => family.forEach(giveCoreBack)), cpu: () => cpuOfProcess(child.pid) };
  }
  await close();
  throw new Error(/^.*Error.*$/m.exec(said)?.[0] ?? `it did not listen within ${PATIENCE / 1_000} s`);
}

/** Two different free ports. */
async function freePorts() {
  const servers = [createServer(), createServer()];
  for (const server of servers) await once(server.listen(0, "127.0.0.1"), "listening");
  const ports = servers.map((server) => server.address().port);
  for (const server of servers) await once(server.close(), "close");
  return ports;
}

/** Whether a process responds at its port before it exits or the timeout passes. */
async function listens(child, port) {
  const until = performance.now() + PATIENCE;
  while (child.exitCode === null && performance.now() < until) {
    const answer = await fetch(`http://127.0.0.1:${port}/customers/cus_zoe`).catch(() => undefined);
    if (answer) return true;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  return false;
}
