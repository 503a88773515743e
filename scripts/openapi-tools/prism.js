// Sends the calls of the contract tests through Prism, a validating proxy. Behind Prism, a server returns the responses
// that the sandbox gave in the tests.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";
import { run } from "../installed-tools.js";

const TESTS = ["test/api/contract.test.ts", "test/api/shared-refusals.test.ts"];

/** The header with the index of the recorded call that a request repeats. */
const CALL = "x-recorded-call";

/** Runs the contract tests, and returns their calls of documented operations. */
export async function recordCalls(folder, root, document) {
  const file = join(folder, "calls.jsonl");
  const env = { ...process.env, RECORDED_CALLS: file };
  await run(process.execPath, [join(root, "node_modules/vitest/vitest.mjs"), "run", ...TESTS], { cwd: root, env });
  const { paths } = JSON.parse(readFileSync(join(folder, document), "utf8"));
  const routes = Object.entries(paths).flatMap(([path, operations]) => {
    const pattern = new RegExp(`^/v1${path.replaceAll(/\{\w+\}/g, "[^/]+")}$`);
    return Object.entries(operations).map(([method, operation]) => ({
      method: method.toUpperCase(),
      pattern,
      operation,
    }));
  });
  const calls = readFileSync(file, "utf8")
    .trim()
    .split("\n")
    .flatMap((line) => {
      const call = JSON.parse(line);
      const route = routes.find(
        ({ method, pattern }) => method === call.method && pattern.test(call.path.split("?")[0]),
      );
      return route ? [{ ...call, name: `${route.operation.operationId} ${call.response.status}` }] : [];
    });
  const documented = routes.flatMap(({ operation }) =>
    Object.keys(operation.responses).map((status) => `${operation.operationId} ${status}`),
  );
  const missing = documented.filter((name) => !calls.some((call) => call.name === name));
  if (missing.length > 0) throw new Error(`The tests cause no response for: ${missing.join(", ")}`);
  return { calls, documented: documented.length };
}

async function replay(calls) {
  const server = createServer((incoming, outgoing) => {
    const { status, headers, text } = calls[Number(incoming.headers[CALL])]?.response ?? {
      status: 204,
      headers: {},
      text: "",
    };
    const { "transfer-encoding": _, connection: __, ...kept } = headers;
    incoming.resume();
    incoming.on("end", () => outgoing.writeHead(status, kept).end(text));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return server;
}

export async function prism(folder, document, { calls, documented }, port) {
  const server = await replay(calls);
  const args = [
    "proxy",
    document,
    `http://127.0.0.1:${server.address().port}`,
    "--port",
    String(port),
    "--verboseLevel",
    "fatal",
  ];
  const program = join(folder, "node_modules/@stoplight/prism-cli/dist/index.js");
  const proxy = spawn(process.execPath, [program, ...args], { cwd: folder, stdio: "ignore" });
  try {
    const base = `http://127.0.0.1:${port}`;
    // The proxy compiles the document before it listens.
    for (let tries = 0; tries < 480 && !(await fetch(base).catch(() => undefined)); tries++)
      await new Promise((resolve) => setTimeout(resolve, 250));
    const violations = [];
    for (const [index, call] of calls.entries()) violations.push(...(await violationsOf(base, call, index)));
    if (violations.length > 0)
      throw new Error(`Prism: ${violations.length} violations:\n${violations.slice(0, 20).join("\n")}`);
    return (
      `0 violations in the ${calls.length} responses of the contract tests, ` +
      `which cover all ${documented} documented statuses`
    );
  } finally {
    proxy.kill();
    server.close();
    server.closeAllConnections();
  }
}

/**
 * The violations in the response. Violations in the request are ignored, because the tests also send requests that are
 * rejected.
 */
async function violationsOf(base, { name, method, path, body, response: recorded }, index) {
  const headers = { [CALL]: String(index), "content-type": "application/json" };
  const response = await fetch(base + path.slice("/v1".length), {
    method,
    headers,
    body: method === "GET" ? undefined : sentBody(body),
  });
  // If this is not the recorded response, the proxy itself has answered.
  if ((await response.text()) !== recorded.text)
    return [`${name}: the proxy answered ${response.status}, and did not pass the call on`];
  const found = JSON.parse(response.headers.get("sl-violations") ?? "[]");
  return found
    .filter(({ location }) => location[0] === "response")
    .map(({ location, message }) => `${name} ${location.join(".")}: ${message}`);
}

/**
 * The body to send. The proxy does not pass on a body that it cannot parse, and the recorded response does not depend
 * on the body.
 */
function sentBody(text = "") {
  try {
    return text.length < 10_000 && JSON.parse(text) ? text : "{}";
  } catch {
    return "{}";
  }
}
