// `doctor`: checks this machine for problems that prevent a sandbox from working, and prints how to fix them.

import { accessSync, constants, existsSync, statSync } from "node:fs";
import { createServer } from "node:net";
import { dirname } from "node:path";
import { exitCodes } from "../../kernel/errors.ts";
import { completeOptions } from "../../sandbox/options.ts";
import { findAddonProblem } from "../../store/sqlite/native-addon.ts";
import { command } from "../command.ts";
import { print } from "../output/print.ts";
import { portOwner } from "../process/port-owner.ts";
import { describeSandboxAt } from "../remote/probe.ts";
import { folderOf } from "../remote/state-files.ts";

export const doctor = command({
  summary: "check this machine for problems (exit code 1 if there are any)",
  usage: "doctor",
  sandboxOptions: true,
  flags: { json: { description: "print one JSON object per line" } },
  async run({ options, flags }) {
    const { port, host, db, memory } = completeOptions(options);
    const results = [
      checkNode(),
      await checkPort(port, host),
      ...(memory ? [] : [checkFolder(db)]),
      checkProxy(process.env),
    ];
    for (const result of results) show(result, flags.json !== undefined);
    return results.some(({ state }) => state === "fail") ? exitCodes.runtime : exitCodes.ok;
  },
});

function show(result: DoctorCheck, asJson: boolean): void {
  print(asJson ? JSON.stringify(result) : `${result.state.padEnd(6)}${result.message}`);
  if (!asJson && result.remedy !== undefined) print(`      ${result.remedy}`);
}

export interface DoctorCheck {
  check: string;
  state: "ok" | "warn" | "fail";
  message: string;
  /** How to fix the problem; absent if there is none. */
  remedy?: string;
}

const ok = (check: string, message: string): DoctorCheck => ({ check, state: "ok", message });
const warn = (check: string, message: string, remedy: string): DoctorCheck => ({
  check,
  state: "warn",
  message,
  remedy,
});
const fail = (check: string, message: string, remedy: string): DoctorCheck => ({
  check,
  state: "fail",
  message,
  remedy,
});

/** npm hides the output of install scripts, so a first run seems to hang. */
const NODE_20_BUILD =
  "On Node 20, npm downloads or compiles better-sqlite3: " +
  "npx --foreground-scripts merchant-sandbox shows the build. Node 22.14 or later needs none.";

/** bin.cjs refuses a Node that is too old, so only better-sqlite3 can fail here. */
function checkNode(): DoctorCheck {
  const { node } = process.versions;
  const problem = findAddonProblem();
  if (problem) return fail("node", problem.message, `${problem.remedy[0]?.toUpperCase()}${problem.remedy.slice(1)}.`);
  return ok("node", `better-sqlite3 loads in Node ${node}${node.startsWith("20.") ? `. ${NODE_20_BUILD}` : ""}`);
}

async function checkPort(port: number, host = "127.0.0.1"): Promise<DoctorCheck> {
  if (port === 0) return ok("port", "any free port");
  const code = await listenError(port, host);
  if (code === undefined) return ok("port", `port ${port} is free`);
  if (code !== "EADDRINUSE")
    return fail("port", `port ${port} of ${host} cannot be opened: ${code}`, "Choose another with --port <n>.");
  const message = `port ${port} is used by ${(await portOwner(port)) ?? "another program"}`;
  if (await describeSandboxAt(`http://127.0.0.1:${port}`, undefined))
    return warn("port", message, "Use that sandbox, stop it, or choose another port with --port <n>.");
  return fail("port", message, "Stop it, or choose another port with --port <n> or --port 0.");
}

function listenError(port: number, host: string): Promise<string | undefined> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once("error", (error: Error & { code?: string }) => resolve(error.code ?? error.message));
    server.listen(port, host, () => server.close(() => resolve(undefined)));
  });
}

/** Checks the database's folder, or its nearest existing parent. */
function checkFolder(db: string | undefined): DoctorCheck {
  const folder = nearest(folderOf(db));
  const remedy = "Choose another file with --db <file>, or keep all data in memory with --memory.";
  try {
    if (!statSync(folder).isDirectory()) return fail("folder", `${folder} is not a folder`, remedy);
    accessSync(folder, constants.W_OK | constants.X_OK);
    return ok("folder", `${folder} is writable`);
  } catch (error) {
    return fail("folder", `${folder} is not writable: ${(error as Error).message}`, remedy);
  }
}

const nearest = (folder: string): string => (existsSync(folder) ? folder : nearest(dirname(folder)));

/** Many HTTP clients send requests to localhost through the proxy too, unless NO_PROXY excludes it. */
export function checkProxy(environment: NodeJS.ProcessEnv): DoctorCheck {
  const variable = (name: string) => environment[name] || environment[name.toLowerCase()];
  const proxies = ["HTTP_PROXY", "ALL_PROXY"].filter((name) => variable(name));
  const exempt = (variable("NO_PROXY") ?? "").split(/[\s,]+/);
  if (proxies.length === 0) return ok("proxy", "no proxy is set");
  const missing = ["localhost", "127.0.0.1"].filter((name) => !exempt.includes("*") && !exempt.includes(name));
  const set = `${proxies.join(" and ")} is set, and NO_PROXY`;
  if (missing.length === 0) return ok("proxy", `${set} excludes this machine`);
  return warn(
    "proxy",
    `${set} lacks ${missing.join(" and ")}: clients may send requests for the sandbox to the proxy`,
    "Set NO_PROXY=localhost,127.0.0.1,::1 (and no_proxy, which some clients read instead).",
  );
}
