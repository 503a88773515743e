// The tests create each problem that `doctor` finds, and check that the report names the problem and the fix.

import { spawnSync } from "node:child_process";
import { createServer } from "node:http";
import { describe, expect, test } from "vitest";
import { checkProxy, type DoctorCheck } from "../../src/cli/commands/doctor.ts";
import { plainUser } from "../support/plain-user.ts";
import { run, start } from "../support/program.ts";
import { listen } from "../support/sandbox.ts";

/** Empty proxy variables, so that the proxy variables of this machine do not apply. */
const PLAIN = { HTTP_PROXY: "", http_proxy: "", ALL_PROXY: "", all_proxy: "", NO_PROXY: "", no_proxy: "" };

async function examine(words: string[] = []) {
  const { code, out, error } = await run(["doctor", "--json", "--port", "0", ...words], PLAIN);
  expect(error).toBe("");
  const found = out.map((line) => JSON.parse(line) as DoctorCheck);
  return { code, found, of: (check: string) => found.find((one) => one.check === check) };
}

test("doctor prints a line for each check of a healthy machine", async () => {
  const { code, out, error } = await run(["doctor", "--port", "0"], PLAIN);
  expect([code, error]).toEqual([0, ""]);
  expect(out.slice(0, 2)).toEqual([
    expect.stringMatching(/^ok {4}better-sqlite3 loads in Node \d+\.\d+\.\d+/),
    "ok    any free port",
  ]);
  const { found } = await examine();
  expect(found.map(({ check }) => check)).toEqual(["node", "port", "folder", "proxy"]);
  expect((await examine(["--memory"])).found.map(({ check }) => check)).not.toContain("folder");
});

describe("doctor finds", () => {
  test("a port in use, and the process that uses it", async () => {
    const sandbox = await start(["--memory"]);
    const ours = await examine(["--port", String(sandbox.port)]);
    expect([ours.code, ours.of("port")]).toMatchObject([
      0,
      {
        state: "warn",
        message: expect.stringMatching(
          new RegExp(
            `^port ${sandbox.port} is used by merchant-sandbox \\S+, process ${sandbox.child.pid}, in memory$`,
          ),
        ),
      },
    ]);
    const port = await listen(createServer());
    const theirs = await examine(["--port", String(port)]);
    expect([theirs.code, theirs.of("port")]).toMatchObject([
      1,
      {
        state: "fail",
        message: expect.stringContaining(`port ${port} is used by process ${process.pid} (`),
        remedy: expect.stringContaining("--port 0"),
      },
    ]);
    const nowhere = await examine(["--port", "4747", "--host", "192.0.2.1", "--allowed-host", "x"]);
    expect(nowhere.of("port")).toMatchObject({ state: "fail", message: expect.stringContaining("EADDRNOTAVAIL") });
  });

  test("a database path below a file", async () => {
    const { code, of } = await examine(["--db", "/dev/null/deep/data.db"]);
    expect([code, of("folder")]).toMatchObject([
      1,
      { state: "fail", message: "/dev/null is not a folder", remedy: expect.stringContaining("--memory") },
    ]);
  });

  test("a folder of another user, which is not writable", ({ skip }) => {
    const user = plainUser();
    if (typeof user === "string") return skip(user);
    const [command, ...words] = user.command("doctor", "--json", "--port", "0", "--db", "/etc/data.db");
    const { stdout } = spawnSync(command, words, { encoding: "utf8", cwd: "/", env: { ...process.env, ...PLAIN } });
    const found = stdout
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line) as DoctorCheck);
    expect(found.find(({ check }) => check === "folder")).toMatchObject({
      state: "fail",
      message: expect.stringContaining("/etc is not writable: EACCES"),
    });
  });

  test.each([
    [{}, "ok", "no proxy is set"],
    [{ HTTP_PROXY: "http://proxy:3128" }, "warn", "NO_PROXY lacks localhost and 127.0.0.1"],
    [{ http_proxy: "http://proxy:3128", no_proxy: "localhost" }, "warn", "NO_PROXY lacks 127.0.0.1:"],
    [{ ALL_PROXY: "socks://proxy" }, "warn", "ALL_PROXY is set"],
    [{ HTTP_PROXY: "http://proxy:3128", NO_PROXY: "example.com, localhost,127.0.0.1" }, "ok", "excludes this machine"],
    [{ HTTP_PROXY: "http://proxy:3128", NO_PROXY: "*" }, "ok", "excludes this machine"],
  ])("that the state of the proxy variables %j is %s", (variables, state, message) => {
    expect(checkProxy(variables)).toMatchObject({ state, message: expect.stringContaining(message) });
  });
});
